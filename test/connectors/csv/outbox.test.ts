import { execFileSync } from 'node:child_process';
import { mkdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { batchOf } from '../../../connectors/conformance/examples.ts';
import { csvFile, csvLines } from '../../../connectors/csv/cells.ts';
import { ATTENTION_COLUMNS, RESULT_COLUMNS } from '../../../connectors/csv/outbox.ts';
import { cleanCell } from '../../../connectors/csv/values.ts';
import { deliverySchema } from '../../../src/records/delivery.ts';
import { type DropFolder, dropFolder, openCsv } from './support.ts';

let folder: DropFolder;
beforeEach(async () => {
  folder = await dropFolder();
});
afterEach(() => folder.remove());

const signal = new AbortController().signal;

describe('a delivered batch', () => {
  it('a batch is one file with a line per delivery, plus the full records', async () => {
    await openCsv(folder).connector.deliver(batchOf(1, [1, 2]), signal);
    const text = await folder.read('outbox', 'eligibility-batch-1.csv');
    expect(text.startsWith('\ufeff')).toBe(true);
    const lines = parse(text, { bom: true, columns: true }) as Record<string, string>[];
    expect(Object.keys(lines[0] ?? {})).toEqual([...RESULT_COLUMNS]);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({
      appointment_id: 'A-1',
      appointment_at: '2026-11-24T09:30:00-06:00',
      patient_name: 'Zebulon Quillfeather-1',
      coverage: '1',
      is_active: 'yes',
      in_network: 'unknown',
      plan_name: 'PPO Plus',
      annual_maximum: '',
      member_id: 'MEMBER001',
      json_file: 'records/d-1-1.json',
      written_at: '2026-11-23T12:00:00-06:00',
    });
    const written = JSON.parse(await folder.read('outbox', 'records/d-1-1.json'));
    const [delivery] = batchOf(1, [1]).deliveries;
    const document = deliverySchema.parse(written);
    expect(document.record).toEqual(delivery?.record);
    expect(document).toMatchObject({
      schema: 'eligd.delivery/1',
      delivery_key: 'd-1-1',
      revision: 1,
      written_at: '2026-11-23T12:00:00-06:00',
      connector: 'suite',
      appointment: { id: 'A-1', starts_at: '2026-11-24T09:30:00-06:00', specialty: 'dental' },
      patient: { name: 'Zebulon Quillfeather-1' },
      coverage: { rank: 1, member_id: 'MEMBER001' },
      verdict: { standing: delivery?.verdict.standing },
    });
  });

  it('a double click keeps leading zeros', async () => {
    const batch = batchOf(1, [1]);
    const [delivery] = batch.deliveries;
    const { appointment } = delivery!;
    const coverage = { ...appointment.coverage, member_id: '00123', payor_id: '06126' };
    const deliveries = [{ ...delivery!, appointment: { ...appointment, coverage } }];
    await openCsv(folder).connector.deliver({ ...batch, deliveries }, signal);
    const text = await folder.read('outbox', 'eligibility-batch-1.csv');
    expect(text).toContain('"=""00123"""');
    expect(text).toContain('"=""06126"""');
    const document = JSON.parse(await folder.read('outbox', 'records/d-1-1.json'));
    expect(document.coverage).toMatchObject({ member_id: '00123', payor_id: '06126' });
  });

  it('the outbox has no temporary file, and only its owner can read it', async () => {
    await openCsv(folder).connector.deliver(batchOf(1, [1]), signal);
    expect(await folder.names('outbox')).toEqual(['eligibility-batch-1.csv', 'records']);
    expect((await stat(join(folder.path, 'outbox/eligibility-batch-1.csv'))).mode & 0o777).toBe(
      0o600,
    );
  });

  it('nothing is written outside the outbox, whatever its keys are', async () => {
    const batch = batchOf(1, [1, 2]);
    const [first, second] = batch.deliveries;
    const deliveries = [{ ...first!, key: '../../evil' }, second!];
    expect(await openCsv(folder).connector.deliver({ ...batch, deliveries }, signal)).toMatchObject(
      [
        { key: '../../evil', outcome: 'failed', is_permanent: true },
        { key: 'd-2-1', outcome: 'delivered' },
      ],
    );
    await expect(
      openCsv(folder).connector.deliver({ ...batch, id: '../x' }, signal),
    ).rejects.toThrow('ID');
  });

  it('a batch that cannot be written fails as a whole and names no patient', async () => {
    await mkdir(join(folder.path, 'outbox/records/d-2-1.json/full'), {
      recursive: true,
      mode: 0o700,
    });
    const delivering = openCsv(folder).connector.deliver(batchOf(1, [1, 2]), signal);
    await expect(delivering).rejects.toMatchObject({
      name: 'ConnectorError',
      failure: 'transient',
    });
    expect(await folder.names('outbox')).toEqual(['records']);
  });
});

const AS_OF = '2026-11-23T18:30:00.000Z';

describe('attention.csv', () => {
  const entry = {
    source_id: null,
    starts_at: null,
    patient_name: null,
    carrier: null,
    reason: 'file_rejected',
    what: 'A file was rejected.',
    next: '=HYPERLINK("x")',
    since: '2026-11-23T18:00:00.000Z',
  };

  it('attention.csv says when nothing waits, and as of when', async () => {
    await openCsv(folder).connector.publishAttention?.([], signal, AS_OF);
    expect(await folder.read('outbox', 'attention.csv')).toBe(
      `\ufeff${ATTENTION_COLUMNS.join(',')}\r\n,,,,nothing,Nothing needs you. heartbeat.txt says ` +
        'whether eligd is working.,,,,2026-11-23T12:30:00-06:00\r\n',
    );
  });

  it('attention.csv is not written again when nothing changed', async () => {
    const { connector } = openCsv(folder);
    const path = join(folder.path, 'outbox/attention.csv');
    await connector.publishAttention?.([entry], signal, AS_OF);
    await utimes(path, 1, 1);
    await connector.publishAttention?.([entry], signal, AS_OF);
    expect((await stat(path)).mtimeMs).toBe(1000);
    await connector.publishAttention?.([], signal, AS_OF);
    expect((await stat(path)).mtimeMs).not.toBe(1000);
  });

  it('a list of many pieces is not written again when nothing changed', async () => {
    const { connector } = openCsv(folder);
    const path = join(folder.path, 'outbox/attention.csv');
    const entries = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...entry, what: `File ${index}.` }));
    await connector.publishAttention?.(entries(600), signal, AS_OF);
    const lines = (await folder.read('outbox', 'attention.csv')).split('\r\n');
    expect(lines.map((line) => /File \d+\./.exec(line)?.[0])).toEqual([
      undefined,
      ...entries(600).map(({ what }) => what),
      undefined,
    ]);
    await utimes(path, 1, 1);
    await connector.publishAttention?.(entries(600), signal, AS_OF);
    expect((await stat(path)).mtimeMs).toBe(1000);
    for (const count of [599, 601]) {
      await connector.publishAttention?.(entries(count), signal, AS_OF);
      expect((await folder.read('outbox', 'attention.csv')).match(/File/g)).toHaveLength(count);
    }
  });

  it('a pipe with the name of the list is replaced', { timeout: 10_000 }, async () => {
    const path = join(folder.path, 'outbox/attention.csv');
    await mkdir(join(folder.path, 'outbox'), { recursive: true });
    execFileSync('mkfifo', [path]);
    await openCsv(folder).connector.publishAttention?.([entry], signal, AS_OF);
    expect((await stat(path)).isFile()).toBe(true);
  });

  it('attention.csv runs no formula', async () => {
    await openCsv(folder).connector.publishAttention?.([entry], signal, AS_OF);
    expect(await folder.read('outbox', 'attention.csv')).toContain(`"'=HYPERLINK(""x"")"`);
  });
});

describe('a cell', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['+1 312', "'+1 312"],
    ['-', "'-"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "' =1"],
    ['two\r\nlines', 'two lines'],
    ['a,b', '"a,b"'],
    ['1500.00', '1500.00'],
  ])('a cell of %j is written as %j', (value, expected) => {
    const written = csvLines([[value]]).replace(/\r\n$/, '');
    expect(
      written.startsWith('"') && !expected.startsWith('"') ? written.slice(1, -1) : written,
    ).toBe(expected);
  });

  it('a cell never begins a formula, stays on its line, and reads back unchanged', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom(
            '=',
            '+',
            '-',
            '@',
            '\t',
            '\r',
            '\n',
            '"',
            ',',
            ';',
            ' ',
            'a',
            '1',
            '＝',
          ),
        }),
        (value) => {
          const [row] = parse(csvFile(['x', 'y'], [[value, 'end']]), { bom: true, from_line: 2 });
          expect(row).toHaveLength(2);
          expect(row?.[0]).not.toMatch(/^[=+\-@\t\r\n＝]/);
          if (/^[=+\-@]?[a1,;" ]*$/.test(value))
            expect(cleanCell(row?.[0] ?? '')).toBe(cleanCell(value));
        },
      ),
      { examples: [['=""'], ['\'="1"']] },
    );
  });
});
