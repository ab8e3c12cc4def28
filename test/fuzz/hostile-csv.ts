/**
 * Files of someone who can type into a field that the PMS exports, and of programs that quote
 * badly: rows within cells, marks in all places, other separators and encodings. The connector
 * accepts no appointment that a strict reader of RFC 4180 does not see in the file, and loses no
 * row without an entry on the attention list (G2).
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { DIRECT_NETWORK } from '../../connectors/conformance/network.ts';
import type { ConnectorEnv, PullBatch } from '../../connectors/contract.ts';
import csv from '../../connectors/csv/index.ts';
import { cleanCell } from '../../connectors/csv/values.ts';
import { realClock } from '../../src/ops/env.ts';
import { strictRecords } from './strict-csv.ts';
import { must, type Target } from './target.ts';

const HEADER = [
  'appointment_id',
  'appointment_at',
  'patient_id',
  'patient_name',
  'dob',
  'carrier',
  'payor_id',
  'member_id',
  'note',
];
/** Cells that an appointment holds as they are written, and what the connector calls them. */
const COMPARED = ['appointment_id', 'patient_id', 'carrier', 'payor_id', 'member_id'] as const;
type Seen = Record<(typeof COMPARED)[number], string>;
const SEPARATORS = [',', ';', '\t'];
const LINE_ENDS = ['\n', '\r\n', '\r'];
const ENCODINGS = ['utf-8', 'utf-8 with mark', 'utf-16le', 'windows-1252'] as const;

/** `{s}`: the separator. Texts that a person may type, or a program may write. */
const NOTES = [
  '',
  'fine',
  'Müller',
  '5" pipe',
  '"',
  '""',
  'a "quoted" word',
  'x{s}y',
  '=1+1',
  ' ',
  '\n',
  'a\nb',
  '\nINJ-1{s}2031-01-07 10:00{s}P-9{s}Injected{s}1980-02-03{s}Delta{s}12345{s}W9{s}x\n',
  'a\nA2{s}2031-01-07 10:00{s}P-9{s}Injected{s}1980-02-03{s}Delta{s}12345{s}STOLEN{s}x',
  '"\nINJ-2{s}2031-01-07 10:00{s}P-9{s}Injected{s}1980-02-03{s}Delta{s}12345{s}W9{s}"',
  '"{s}"\nINJ-3{s}2031-01-07 10:00{s}P-9{s}"Injected"{s}1980-02-03{s}Delta{s}12345{s}W9{s}"x',
  '\r\nappointment_id{s}appointment_at\r\n',
  '{s}{s}{s}{s}{s}{s}{s}{s}{s}',
  '\u2028',
  "'",
];
/** Longer than a line may be, without and with line breaks. */
const LONG = 'x'.repeat(1_100_000);
const LONG_NOTES = [LONG, `"${LONG}`, `${LONG}\n${NOTES[14]}`, `a\nb${LONG}\nc`];

/** How a cell is written: by the RFC, as it is, or with a program's mistake. */
const WAYS = ['quoted', 'quoted', 'quoted', 'bare', 'unescaped', 'opened', 'padded'] as const;

type Cell = { text: string; way: (typeof WAYS)[number] };

function written({ text, way }: Cell, separator: string): string {
  const own = text.replaceAll('{s}', separator);
  switch (way) {
    case 'quoted':
      return `"${own.replaceAll('"', '""')}"`;
    case 'bare':
      return own;
    case 'unescaped':
      return `"${own}"`;
    case 'opened':
      return `"${own}`;
    default:
      return ` "${own.replaceAll('"', '""')}" `;
  }
}

function encoded(text: string, encoding: (typeof ENCODINGS)[number]): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text);
  if (encoding === 'utf-8 with mark') return Buffer.from(`\ufeff${text}`);
  if (encoding === 'utf-16le') return Buffer.from(`\ufeff${text}`, 'utf16le');
  return Buffer.from(text, 'latin1');
}

/** Independent of the connector's: by the byte order mark, else UTF-8 if valid, else Latin. */
function decoded(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.subarray(2).toString('utf16le');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

const note = fc.oneof(
  { weight: 80, arbitrary: fc.constantFrom(...NOTES) },
  { weight: 1, arbitrary: fc.constantFrom(...LONG_NOTES) },
);
const cell = fc.record({ text: note, way: fc.constantFrom(...WAYS) });
const usualCell = fc.constantFrom('quoted', 'bare').map((way): Cell => ({ text: '', way }));
const row = fc.record({
  note: cell,
  name: fc.oneof({ weight: 3, arbitrary: usualCell }, { weight: 1, arbitrary: cell }),
  carrier: fc.oneof({ weight: 6, arbitrary: usualCell }, { weight: 1, arbitrary: cell }),
  fewer: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) }),
});

const files = fc
  .record({
    rows: fc.array(row, { minLength: 1, maxLength: 8 }),
    separator: fc.constantFrom(...SEPARATORS),
    line_end: fc.constantFrom(...LINE_ENDS),
    encoding: fc.constantFrom(...ENCODINGS),
    ends: fc.boolean(),
  })
  .map(({ rows, separator, line_end, encoding, ends }) => {
    const lines = rows.map(({ note, name, carrier, fewer }, index) => {
      const cells = [
        `A${index + 1}`,
        '2031-01-07 10:00',
        `P-${index + 1}`,
        written({ ...name, text: name.text || `Doe ${index + 1}` }, separator),
        '1980-02-03',
        written({ ...carrier, text: carrier.text || 'Delta' }, separator),
        '12345',
        `W${index + 1}`,
        written(note, separator),
      ];
      return cells.slice(0, cells.length - fewer).join(separator);
    });
    const text = [HEADER.join(separator), ...lines].join(line_end) + (ends ? line_end : '');
    return encoded(text, encoding);
  });

/**
 * Returns what a strict reader sees after the header: the rows with as many cells as the header,
 * and the number of other lines with content. Null: it sees no header of ours.
 */
function strictlySeen(bytes: Buffer): { rows: Seen[]; others: number } | null {
  const text = decoded(bytes);
  const separator = SEPARATORS.find((each) => text.startsWith(`appointment_id${each}`)) ?? ',';
  const { records, broken } = strictRecords(text, separator);
  const [header, ...rest] = records;
  if (header?.join() !== HEADER.join() || !text.startsWith('appointment_id')) return null;
  const said = rest.filter((cells) => cells.some((each) => each.trim() !== ''));
  const whole = said.filter(
    (cells) =>
      cells.length >= HEADER.length &&
      cells.slice(HEADER.length).every((each) => each.trim() === ''),
  );
  const rows = whole.map(
    (cells) =>
      Object.fromEntries(
        COMPARED.map((name) => [name, cleanCell(cells[HEADER.indexOf(name)] ?? '')]),
      ) as Seen,
  );
  const odd = broken.filter((line) => line.trim() !== '').length;
  // The same line twice is one visit.
  const unique = [...new Map(rows.map((each) => [JSON.stringify(each), each])).values()];
  return { rows: unique, others: said.length - whole.length + odd };
}

/** The connector writes every kind of blank as one space. */
const spaced = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Takes each row that was taken out of those that were seen: no row makes two appointments. */
function rest(seen: readonly Seen[], taken: readonly Seen[]): Seen[] {
  const left = [...seen];
  for (const each of taken) {
    const at = left.findIndex((row) =>
      COMPARED.every((name) => spaced(row[name]) === spaced(each[name])),
    );
    must(at !== -1, `The appointment ${JSON.stringify(each)} is not in the file.`);
    left.splice(at, 1);
  }
  return left;
}

export async function hostileCsvTarget(): Promise<Target> {
  const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'eligd-hostile-'));
  const at = (...parts: string[]) => join(root, ...parts);
  const env: ConnectorEnv = {
    connector_id: 'hostile',
    time_zone: 'America/Chicago',
    resolvePath: (path) => path,
    network: DIRECT_NETWORK,
    readKeyFile: () => Promise.reject(new Error('There is no key.')),
    secret: (name) => ({ name, value: null }),
    journal: { read: async () => null, write: async () => {} },
    clock: realClock,
    random: Math.random,
    log: () => {},
  };
  const connector = csv.create(csv.config.parse({ folder: root, stable_seconds: 0 }), env);
  mkdirSync(at('inbox'), { recursive: true });

  const check = async (input: Buffer): Promise<string> => {
    const seen = strictlySeen(input);
    writeFileSync(at('inbox', 'hostile.csv'), input);
    const taken: Seen[] = [];
    const reported = new Set<string>();
    let is_file_rejected = false;
    const accept = async (batch: PullBatch) => {
      for (const { source_id, patient, coverages } of batch.appointments)
        taken.push({
          appointment_id: source_id,
          patient_id: patient.id ?? '',
          carrier: coverages[0]?.carrier ?? '',
          payor_id: coverages[0]?.payor_id ?? '',
          member_id: coverages[0]?.member_id ?? '',
        });
      for (const { position } of batch.rejected) reported.add(position);
      is_file_rejected ||= batch.source?.kept_as !== undefined;
    };
    const { signal } = new AbortController();
    for (let pulls = 0; pulls < 2; pulls += 1)
      await connector.pull?.({ cursor: null, signal, accept, isAccepted: async () => false });
    if (seen === null) must(is_file_rejected, 'A file without our header was read.');
    const lost = seen === null ? [] : rest(seen.rows, taken);
    must(
      is_file_rejected || seen === null || lost.length + seen.others <= reported.size,
      `${lost.length} rows and ${seen?.others} other lines are gone, ${reported.size} reported.`,
    );
    for (const part of ['processed', 'rejected', 'processing'])
      for (const name of existsSync(at(part)) ? readdirSync(at(part)) : [])
        rmSync(at(part, name), { recursive: true });
    const much = lost.length === 0 ? 'all' : 'some';
    return `${much} taken, ${Math.min(3, reported.size)} reported`;
  };
  return {
    name: 'hostile-csv',
    seeds: [`${HEADER.join(',')}\nA1,2031-01-07 10:00,P-1,Doe,1980-02-03,Delta,12345,W1,\n`],
    telling: NOTES.filter((text) => text !== ''),
    inputs: files,
    check,
    close: async () => rmSync(root, { recursive: true, force: true }),
  };
}
