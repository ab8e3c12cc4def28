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
const MEMBER = HEADER.indexOf('member_id');
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

const cell = fc.record({ text: fc.constantFrom(...NOTES), way: fc.constantFrom(...WAYS) });
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

/** The rows that a strict reader sees after the header: the ID and the member ID of each record. */
function strictlySeen(bytes: Buffer): { id: string; member_id: string }[] {
  const text = decoded(bytes);
  const separator = SEPARATORS.find((each) => text.startsWith(`appointment_id${each}`)) ?? ',';
  return strictRecords(text, separator)
    .slice(1)
    .filter((cells) => cells.some((each) => each.trim() !== ''))
    .map((cells) => ({ id: cells[0]?.trim() ?? '', member_id: cells[MEMBER]?.trim() ?? '' }));
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
    const taken: { id: string; member_id: string }[] = [];
    const reported = new Set<string>();
    let is_file_rejected = false;
    const accept = async (batch: PullBatch) => {
      for (const { source_id, coverages } of batch.appointments)
        taken.push({ id: source_id, member_id: coverages[0]?.member_id ?? '' });
      for (const { position } of batch.rejected) reported.add(position);
      is_file_rejected ||= batch.source?.kept_as !== undefined;
      return { reply: null };
    };
    const { signal } = new AbortController();
    for (let pulls = 0; pulls < 2; pulls += 1)
      await connector.pull?.({ cursor: null, signal, accept, isAccepted: async () => false });
    for (const { id, member_id } of taken)
      must(
        seen.some((each) => each.id === id && each.member_id === member_id),
        `The appointment ${id} with ${member_id} is not in the file.`,
      );
    const lost = seen.filter(({ id }) => !taken.some((each) => each.id === id));
    must(
      is_file_rejected || lost.length <= reported.size,
      `${lost.length} rows are gone, and ${reported.size} are reported.`,
    );
    for (const part of ['processed', 'rejected', 'processing'])
      for (const name of existsSync(at(part)) ? readdirSync(at(part)) : [])
        rmSync(at(part, name), { recursive: true });
    const much = taken.length === seen.length ? 'all' : 'some';
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
