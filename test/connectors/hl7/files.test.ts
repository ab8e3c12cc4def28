/** Files of messages: what eligd reads, what it leaves, and where the files go. */
import { appendFile, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { appointment } from '../../../connectors/conformance/examples.ts';
import type { PullBatch } from '../../../connectors/contract.ts';
import { entryText } from '../../../src/domain/attention.ts';
import { realClock } from '../../../src/ops/env.ts';
import { newConnectorState } from '../../../src/stages/connector-state.ts';
import { messagesOf, pullStep } from '../../../src/stages/pull/index.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { temporaryStore } from '../../store/temporary.ts';
import { later, makeConnector } from './clinic-interface.ts';
import { siu } from './messages.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'eligd-hl7-'));
  later(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'inbox'));
});

const drop = (name: string, content: string | Buffer) =>
  writeFile(join(folder, 'inbox', name), content);
const names = async (part: string) => (await readdir(join(folder, part))).toSorted();
const signal = new AbortController().signal;

async function fileDrop(config: Record<string, unknown> = {}) {
  const said: string[] = [];
  const connector = makeConnector(
    { folder, stable_seconds: 0, write_back: 'none', ...config },
    (event, fields) => {
      said.push(`${event} ${JSON.stringify(fields)}`);
    },
  );
  const store = await temporaryStore();
  const env = { clock: realClock, random: Math.random, log: () => {} };
  const intake = { store, env, connector_id: 'interface', connector, onAccepted: () => {} };
  const messages = messagesOf(intake);
  return {
    connector,
    said,
    pull: async () => {
      const result = await pullStep({ ...intake, state: newConnectorState(), messages }, signal);
      await messages?.readAll();
      return result;
    },
    ids: async () =>
      (await store.db.selectFrom('appointments').select('source_id').orderBy('id').execute()).map(
        ({ source_id }) => source_id,
      ),
    names: async () =>
      (await store.db.selectFrom('appointments').select('content').orderBy('id').execute()).map(
        ({ content }) =>
          (JSON.parse(content) as { patient: { last_name: string } }).patient.last_name,
      ),
    starts: async () =>
      (await store.db.selectFrom('appointments').select('content').orderBy('id').execute()).map(
        ({ content }) => (JSON.parse(content) as { starts_at: string }).starts_at,
      ),
    story: async () =>
      (await store.db.selectFrom('audit').select('reason').orderBy('id').execute()).map(
        ({ reason }) => reason,
      ),
    attention: async () =>
      (await openAttention(store.db)).map((each) => entryText(each, { patients: true })),
  };
}

const visit = (number: number, last_name = 'Roe') => {
  const one = appointment(number);
  return siu({ ...one, patient: { ...one.patient, last_name } }, { with_insurance: false });
};

describe('a file', () => {
  test.each(['\r', '\n', '\r\n'])(
    'a file of many messages with lines that end with %j is read, however large',
    async (end) => {
      const numbers = Array.from({ length: 2000 }, (_, index) => index);
      await drop(
        'many.hl7',
        numbers.map((number) => `${visit(number).replaceAll('\r', end)}${end}`).join(''),
      );
      const { pull, ids } = await fileDrop();
      await pull();
      expect(await ids()).toEqual(numbers.map((number) => `A-${number}`));
      expect([await names('inbox'), await names('processing'), await names('processed')]).toEqual([
        [],
        [],
        ['many.hl7'],
      ]);
    },
  );

  test('each message of a file has its own character set', async () => {
    const [declared, german] = [visit(3, 'Müller'), visit(4, 'Jäger')];
    await drop(
      'mixed.hl7',
      Buffer.concat([
        Buffer.from(`\u{feff}${visit(1, 'Müller')}\r`),
        Buffer.from(`${visit(2, 'Weiß')}\r`, 'latin1'),
        Buffer.from(`${declared.replace('|P|2.5.1', '|P|2.5.1||||||8859/1')}\r`, 'latin1'),
        Buffer.from(german),
      ]),
    );
    const { pull, names: taken } = await fileDrop();
    await pull();
    expect(await taken()).toEqual(['Müller', 'Weiß', 'Müller', 'Jäger']);
  });

  test('a message that is too large is lost alone', async () => {
    const large = `${visit(2)}\rNTE|1||${'x'.repeat(20_000)}`;
    const long = `${visit(3)}${`\rNTE|1||${'x'.repeat(500)}`.repeat(40)}`;
    await drop('a.hl7', [visit(1), large, long, visit(4)].join('\n'));
    const { pull, ids, said } = await fileDrop({ max_message_megabytes: 0.01 });
    await pull();
    expect(await ids()).toEqual(['A-1', 'A-4']);
    expect(said).toContain(
      'hl7_message_refused {"connector":"interface","reason":"too large","messages":1}',
    );
  });

  test('a file that is written while it is read is read again', async () => {
    const last = visit(299);
    const whole = Array.from({ length: 299 }, (_, number) => `${visit(number)}\r`).join('');
    await drop('growing.hl7', whole + last.slice(0, -20));
    const { connector } = await fileDrop();
    const taken: PullBatch[] = [];
    const pull = async (meanwhile: () => Promise<void>) => {
      const accept = async (batch: PullBatch) => {
        await meanwhile();
        taken.push(batch);
      };
      await connector.pull?.({ cursor: null, isAccepted: async () => false, accept, signal });
    };
    let is_written = false;
    await pull(async () => {
      if (!is_written) {
        is_written = true;
        await appendFile(join(folder, 'processing/growing.hl7'), last.slice(-20));
      }
    });
    expect(await names('processing')).toEqual(['growing.hl7']);
    await pull(async () => {});
    expect(await names('processed')).toEqual(['growing.hl7']);
    const about_last = taken.filter(({ appointments }) => appointments[0]?.source_id === 'A-299');
    expect(about_last.map(({ appointments }) => appointments[0]?.procedure_codes)).toEqual([
      appointment(299).procedure_codes,
    ]);
  });

  test('a file without a message is rejected, and other file names are left alone', async () => {
    await drop('letter.hl7', 'Dear colleague');
    await drop('empty.hl7', '');
    for (const name of ['readme.txt', 'a.hl7.tmp', '.a.hl7', '~a.hl7']) await drop(name, visit(1));
    await mkdir(join(folder, 'inbox/folder.hl7'));
    await symlink(join(folder, 'inbox/readme.txt'), join(folder, 'inbox/link.hl7'));
    const { pull, ids, attention } = await fileDrop();
    await pull();
    expect(await ids()).toEqual([]);
    expect((await attention()).toSorted()).toEqual(
      ['empty.hl7', 'letter.hl7'].map(
        (name) =>
          `The whole file, MSH: missing, because the file has no message. It is in ${name}.`,
      ),
    );
    expect(await names('rejected')).toEqual(['empty.hl7', 'letter.hl7']);
    expect(await names('inbox')).toEqual([
      '.a.hl7',
      'a.hl7.tmp',
      'folder.hl7',
      'link.hl7',
      'readme.txt',
      '~a.hl7',
    ]);
  });

  test('a file with an earlier name gets another one', async () => {
    const { pull } = await fileDrop();
    for (const number of [1, 2]) {
      await drop('a.hl7', visit(number));
      await pull();
    }
    expect(await names('processed')).toEqual(['a-1.hl7', 'a.hl7']);
  });
});

describe('a batch', () => {
  const batch = (...lines: string[]) => ['FHS|^~\\&', 'BHS|^~\\&', ...lines].join('\r');

  test('a wrong or missing trailer count of a batch is reported', async () => {
    await drop('a.hl7', batch(visit(1), visit(2), 'BTS|3', 'FTS|1'));
    await drop('b.hl7', batch(visit(3)));
    const { pull, ids, attention } = await fileDrop();
    await pull();
    expect((await ids()).toSorted()).toEqual(['A-1', 'A-2', 'A-3']);
    expect((await attention()).toSorted()).toEqual([
      'The number of messages, BTS-1: 3, but 2 came. It is in a.hl7.',
      'The number of messages, BTS-1: missing; the end of the file may also be missing. It is in ' +
        'b.hl7.',
    ]);
  });

  test('a correct trailer, or one without a count, is not reported', async () => {
    await drop('a.hl7', batch(visit(1), visit(2), 'BTS|2', 'BHS|^~\\&', visit(3), 'BTS', 'FTS|2'));
    await drop('b.hl7', [visit(4), 'BTS|7'].join('\r'));
    const { pull, ids, attention } = await fileDrop();
    await pull();
    expect(await ids()).toHaveLength(4);
    expect(await attention()).toEqual([]);
  });

  test('a text that begins like a trailer does not end the batch', async () => {
    await drop(
      'a.hl7',
      visit(1).replace('\rRGS', '\rNTE|1||first line\nBTS and FHS were\nFTS said\rRGS'),
    );
    const { pull, ids, attention } = await fileDrop();
    await pull();
    expect([await ids(), await attention()]).toEqual([['A-1'], []]);
  });
});

test('after a restore, files that were read since the backup are read again', async () => {
  const { connector, pull, ids } = await fileDrop();
  await drop('a.hl7', visit(1));
  await pull();
  expect(await connector.readAgain?.(Date.now() + 60_000, signal)).toBe(0);
  expect(await connector.readAgain?.(Date.now() - 60_000, signal)).toBe(1);
  expect([await names('inbox'), await names('processed')]).toEqual([['a.hl7'], []]);
  await pull();
  expect([await ids(), await names('processed')]).toEqual([['A-1'], ['a.hl7']]);
});

test.each([
  ['framed', (text: string) => `\x0b${text}\r\x1c\r`],
  ['framed, with line ends between', (text: string) => `\x0b${text}\r\n\x1c\r\n`],
  ['framed without a CR at the end', (text: string) => `\x0b${text}\x1c`],
  ['framed without an end', (text: string) => `\x0b${text}`],
  ['framed behind what a log says', (text: string) => `\x0b${text}\x1c\r09:00 in: \x0b${text}\x1c`],
  ['framed, with blanks and zeros around', (text: string) => `\0 \x0b ${text}\r\x1c\r\0`],
])('messages that are %s, as an MLLP receiver saved them, are read', async (_, frame) => {
  const clinic = await fileDrop();
  await drop('saved.hl7', [visit(1), visit(2)].map(frame).join(''));
  await clinic.pull();
  expect(await clinic.ids()).toEqual(['A-1', 'A-2']);
  expect(await clinic.starts()).toEqual([1, 2].map((n) => appointment(n).starts_at));
  expect(await names('processed')).toEqual(['saved.hl7']);
  expect(await clinic.attention()).toEqual([]);
});

describe('a message that is older than the latest one about the visit', () => {
  const change = (written: string, starts: string, sender = 'PMS') =>
    [
      `MSH|^~\\&|${sender}|CLINIC|ELIGD||${written}||SIU^S14|C${written}${starts}${sender}|P|2.5.1`,
      'SCH||A-1',
      'PID|1||P-1^^^PMS^MR||Roe^Jane||19800101',
      `AIS|1||D0120|${starts}`,
    ].join('\r');
  const NEWER = change('20261120090000', '202611240900');
  const OLDER = change('20261118090000', '202611230900');

  async function startsAfter(messages: string[], config: Record<string, unknown> = {}) {
    const clinic = await fileDrop(config);
    for (const [index, message] of messages.entries()) {
      await drop(`${index}.hl7`, message);
      await clinic.pull();
    }
    return { starts_at: await clinic.starts(), story: await clinic.story() };
  }

  test('an older message is in the visit’s history and changes nothing', async () => {
    const { starts_at, story } = await startsAfter([NEWER, OLDER]);
    expect(starts_at).toEqual(['2026-11-24T15:00:00.000Z']);
    expect(story.at(-1)).toContain('came late');
    expect((await startsAfter([OLDER, NEWER])).starts_at).toEqual(['2026-11-24T15:00:00.000Z']);
  });

  test('an older message does not cancel the visit, even in one file with newer ones', async () => {
    const cancel = OLDER.replace('SIU^S14', 'SIU^S15').replace('AIS|1||D0120|202611230900', '');
    expect((await startsAfter([`${NEWER}\r${cancel}`])).starts_at).toEqual([
      '2026-11-24T15:00:00.000Z',
    ]);
  });

  test.each([
    ['another sender sent it', [NEWER, OLDER.replaceAll('PMS', 'OTHER')], {}],
    ['its sender’s clock is not trusted', [NEWER, OLDER], { trust_sender_clocks: false }],
    ['the clock of the newer one was ahead', [NEWER.replaceAll('20261120', '20991120'), OLDER], {}],
    [
      'MSH-7 of the newer one is only a day',
      [NEWER.replaceAll('20261120090000', '20261120'), OLDER],
      {},
    ],
  ])('an older message counts if %s', async (_, messages, config) => {
    expect((await startsAfter(messages, config)).starts_at).toEqual(['2026-11-23T15:00:00.000Z']);
  });
});
