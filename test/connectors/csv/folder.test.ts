import { appendFile, mkdir, rename, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appointment } from '../../../connectors/conformance/examples.ts';
import { makeSuiteEnv } from '../../../connectors/conformance/harness.ts';
import { ConnectorError } from '../../../connectors/contract.ts';
import { type DropFolder, dropFolder, exportOf, openCsv } from './support.ts';

let folder: DropFolder;
beforeEach(async () => {
  folder = await dropFolder();
});
afterEach(() => folder.remove());

const text = (...numbers: number[]) => exportOf(numbers.map(appointment));

/** A clock that runs an action while eligd waits for a file to be stable. */
function whileWaiting(act: () => Promise<void>) {
  const { env } = makeSuiteEnv();
  const waits: number[] = [];
  const sleep = async (duration_ms: number) => {
    waits.push(duration_ms);
    await act();
    await env.clock.sleep(duration_ms);
  };
  return { waits, env: { clock: { ...env.clock, sleep } } };
}

describe('a file', () => {
  it('a file is read when its size and time have not changed for stable_seconds', async () => {
    await folder.drop('a.csv', text(1));
    const { waits, env } = whileWaiting(async () => undefined);
    const opened = openCsv(folder, { stable_seconds: 7 }, env);
    await opened.pull();
    expect(waits).toEqual([7000]);
    expect(await folder.names('processed')).toEqual(['a.csv']);
    await opened.pull();
    expect(waits).toHaveLength(1);
  });

  it('a file that grows meanwhile waits for the next time', async () => {
    await folder.drop('a.csv', text(1));
    await folder.drop('b.csv', text(2));
    let row = 3;
    const { env } = whileWaiting(() =>
      appendFile(
        join(folder.path, 'inbox/a.csv'),
        `${exportOf([appointment(row++)]).split('\r\n')[1]}\r\n`,
      ),
    );
    const opened = openCsv(folder, {}, env);
    await opened.pull();
    expect([await folder.names('inbox'), await folder.names('processed')]).toEqual([
      ['a.csv'],
      ['b.csv'],
    ]);
  });

  it.each([
    'a.csv.tmp',
    'a.csv.part',
    '.a.csv',
    '~$a.csv',
    'a.csv.filepart',
    'a.csv.crdownload',
    'a.partial',
  ])('a file named %s is left alone as unfinished', async (name) => {
    await folder.drop(name, text(1));
    const opened = openCsv(folder);
    await opened.pull();
    expect(await folder.names('inbox')).toEqual([name]);
    expect(opened.said()).toBe('');
  });

  it('a file of another kind stays and is reported once', async () => {
    await folder.drop('photo.png', 'x');
    const opened = openCsv(folder);
    await opened.pull();
    await opened.pull();
    expect(await folder.names('inbox')).toEqual(['photo.png']);
    expect(
      opened
        .said()
        .split('\n')
        .map((said) => JSON.parse(said)[0]),
    ).toEqual(['csv_file_ignored']);
    expect(opened.said()).not.toContain('photo');
  });

  it('a file with the content of an earlier one is not read again', async () => {
    const opened = openCsv(folder);
    await folder.drop('a.csv', text(1));
    await opened.pull();
    await folder.drop('b.csv', text(1));
    await opened.pull();
    expect(opened.appointments).toHaveLength(1);
    expect(opened.batches[0]?.source.key).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(await folder.names('processed')).toEqual(['a.csv', 'b.csv']);
    expect(opened.said()).toContain('csv_file_repeated');
  });

  it('a file with earlier content is read again after the settings changed', async () => {
    await folder.drop('a.csv', text(1));
    const first = openCsv(folder);
    await first.pull();
    await folder.drop('a.csv', text(1));
    const second = openCsv(folder, { date_order: 'dmy' });
    for (const key of first.finished) second.finished.add(key);
    await second.pull();
    expect(second.appointments).toHaveLength(1);
  });

  it('a file with an earlier name gets a number, and so do its reasons', async () => {
    const opened = openCsv(folder);
    for (const number of [1, 2]) {
      await folder.drop('a.csv', `${text(number)}bad,row\r\n`);
      await opened.pull();
    }
    expect(await folder.names('processed')).toEqual([
      'a-2.csv',
      'a-2.csv.reasons.csv',
      'a.csv',
      'a.csv.reasons.csv',
    ]);
  });

  it('files and folders are private', async () => {
    await folder.drop('a.csv', `${text(1)}bad,row\r\n`);
    await openCsv(folder).pull();
    expect((await stat(join(folder.path, 'processed'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder.path, 'processed/a.csv.reasons.csv'))).mode & 0o777).toBe(0o600);
  });

  it('a link or a folder is not followed and blocks nothing', async () => {
    await folder.drop('a.csv', text(1));
    await writeFile(join(folder.parent, 'elsewhere.csv'), text(2));
    await symlink(join(folder.parent, 'elsewhere.csv'), join(folder.path, 'inbox/link.csv'));
    await mkdir(join(folder.path, 'inbox/dir.csv'));
    const opened = openCsv(folder);
    await opened.pull();
    expect(opened.appointments.map(({ source_id }) => source_id)).toEqual(['A-1']);
    expect(opened.said()).toContain('csv_file_unusable');
  });

  it('a file that vanishes while eligd waits is no error', async () => {
    await folder.drop('a.csv', text(1));
    const { env } = whileWaiting(() =>
      rename(join(folder.path, 'inbox/a.csv'), join(folder.parent, 'a.csv')),
    );
    const opened = openCsv(folder, {}, env);
    await opened.pull();
    expect(opened.batches).toEqual([]);
  });

  it('a very long file name is shortened', async () => {
    const name = `${'n'.repeat(250)}.csv`;
    await folder.drop(name, `${text(1)}bad,row\r\n`);
    await openCsv(folder).pull();
    expect(await folder.names('processed')).toHaveLength(2);
  });

  it('a file that changes while it is read returns to inbox/', async () => {
    await folder.drop('a.csv', exportOf(Array.from({ length: 1200 }, (_, i) => appointment(i))));
    const opened = openCsv(folder);
    let times = 0;
    opened.core.accept = async () => {
      times += 1;
      if (times === 1) await appendFile(join(folder.path, 'processing/a.csv'), text(5000));
    };
    await opened.pull();
    expect([await folder.names('inbox'), await folder.names('processed')]).toEqual([['a.csv'], []]);
    expect(opened.batches.some(({ source }) => source.is_last)).toBe(false);
    await opened.pull();
    expect(await folder.names('processed')).toContain('a.csv');
  });
});

describe('files', () => {
  it('files are read oldest first, so that the latest export counts', async () => {
    for (const [name, age] of [
      ['a.csv', 10],
      ['b.csv', 30],
      ['c.csv', 20],
    ] as const) {
      await folder.drop(name, text(age));
      const time = Date.parse('2026-11-23T12:00:00Z') / 1000 - age;
      await utimes(join(folder.path, 'inbox', name), time, time);
    }
    const opened = openCsv(folder);
    await opened.pull();
    expect(opened.appointments.map(({ source_id }) => source_id)).toEqual(['A-30', 'A-20', 'A-10']);
  });

  it('files after one that is refused repeatedly are read (G7)', async () => {
    await folder.drop('a.csv', text(1));
    const opened = openCsv(folder);
    opened.core.accept = async ({ appointments }) => {
      if (appointments[0]?.source_id === 'A-1') throw new Error('refused');
    };
    for (let i = 0; i < 3; i += 1) await expect(opened.pull()).rejects.toThrow('refused');
    await folder.drop('b.csv', text(2));
    await expect(opened.pull()).rejects.toThrow('refused');
    expect(opened.appointments.map(({ source_id }) => source_id)).toEqual(['A-2']);
    expect(await folder.names('processing')).toEqual(['a.csv']);
  });

  it('files that a crash left in processing/ are read again, with their reasons', async () => {
    await folder.drop('a.csv', `${text(1)}bad,row\r\n`);
    const before = openCsv(folder);
    await before.pull();
    await rename(join(folder.path, 'processed/a.csv'), join(folder.path, 'processing/a.csv'));
    await rename(
      join(folder.path, 'processed/a.csv.reasons.csv'),
      join(folder.path, 'processing/.a.csv.reasons.csv.tmp'),
    );
    const after = openCsv(folder);
    for (const key of before.finished) after.finished.add(key);
    await after.pull();
    expect(after.batches.map(({ source }) => source.key)).toEqual(
      before.batches.map(({ source }) => source.key),
    );
    expect(await folder.names('processed')).toEqual(['a.csv', 'a.csv.reasons.csv']);
    expect(await folder.names('processing')).toEqual([]);
  });
});

describe('the drop folder', () => {
  it('the drop folder is not created if its parent is missing', async () => {
    const lost = { ...folder, path: join(folder.parent, 'not/there') };
    const { pull, connector } = openCsv(lost);
    await expect(pull()).rejects.toSatisfy(
      (error) =>
        error instanceof ConnectorError && error.failure === 'permanent' && error.next !== '',
    );
    expect(await connector.check(new AbortController().signal)).toMatchObject([{ ok: false }]);
  });

  it('check describes the waiting and the rejected files', async () => {
    await folder.drop('a.csv', 'nonsense');
    const { pull, connector } = openCsv(folder);
    await pull();
    await folder.drop('b.csv', text(1));
    await folder.drop('c.xlsx', 'x');
    const lines = await connector.check(new AbortController().signal);
    expect(lines.map(({ ok, what }) => `${ok} ${what.replace(/\d+ MB/, 'n MB')}`)).toEqual([
      'true eligd can read and write the drop folder.',
      'true n MB are free on the disk of the drop folder.',
      'true 1 file in inbox/.',
      'false 1 file in inbox/ with a different extension.',
      'false 1 file in rejected/.',
    ]);
    expect(lines.filter(({ ok }) => !ok).every(({ next }) => next !== undefined)).toBe(true);
  });
});

describe('any bytes', () => {
  it('any file ends in processed/ or rejected/, and crashes nothing', async () => {
    const table = fc.array(
      fc.constantFrom(
        'Appt ID',
        'Appt Date',
        ',',
        ';',
        '"',
        '\r\n',
        '\n',
        '1',
        '2026-11-24 09:00',
        '\ufeff',
        '\0',
        '=',
        'é',
        '\t',
      ),
      { maxLength: 60 },
    );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
      table.map((pieces) => Buffer.from(pieces.join(''))),
      table.map((pieces) => Buffer.from(`Appt ID,Appt Date\n${pieces.join('')}`)),
      table.map((pieces) => Buffer.from(pieces.join(''), 'utf16le')),
    );
    const opened = openCsv(folder, { stable_seconds: 0 });
    let files = 0;
    await fc.assert(
      fc.asyncProperty(bytes, async (content) => {
        await folder.drop(`f${files}.csv`, content);
        files += 1;
        await opened.pull();
        const left = [...(await folder.names('inbox')), ...(await folder.names('processing'))];
        expect(left).toEqual([]);
      }),
      { numRuns: 150 },
    );
    const moved = [
      ...(await folder.names('processed')),
      ...(await folder.names('rejected')),
    ].filter((name) => !name.endsWith('.reasons.csv'));
    expect(moved).toHaveLength(files);
  });

  it('every row of a table is accepted, or rejected with its position', async () => {
    const cell = fc
      .string({ unit: 'grapheme', maxLength: 12 })
      .filter((value) => !/[\r\n\0\ud800-\udfff]/.test(value));
    const row = fc.tuple(
      fc.constantFrom('1', '', '="7"', 'A-9'),
      fc.oneof(cell, fc.constantFrom('2026-11-24 09:00', '11/24/2026 2:30 PM', '1/1/1')),
      cell,
      cell,
    );
    const opened = openCsv(folder, { stable_seconds: 0 });
    let files = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 8 }), async (table) => {
        const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`;
        const lines = table.map((cells) => cells.map(quoted).join(',')).join('\r\n');
        opened.appointments.length = 0;
        opened.rejected.length = 0;
        files += 1;
        await folder.drop(
          `t${files}.csv`,
          `Appt ID,Appt Date,Patient,DOB\r\n${lines}\r\n,,file ${files},`,
        );
        await opened.pull();
        const data = table.filter((cells) => cells.some((value) => value.trim() !== '')).length + 1;
        // Rows with one ID are one appointment, so the test counts rows.
        const said = opened.said().split('\n').at(-1) ?? '';
        const rows = [...said.matchAll(/"(?:accepted|rejected)":(\d+)/g)];
        expect(rows.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(data);
        expect(opened.appointments.length).toBe(
          new Set(opened.appointments.map(({ source_id }) => source_id)).size,
        );
        expect(new Set(opened.rejected.map(({ position }) => position)).size).toBe(
          opened.rejected.length,
        );
      }),
      { numRuns: 100 },
    );
  });
});
