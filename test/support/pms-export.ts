import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { readCsv } from './csv-text.ts';
import type { Question } from './needs.ts';

export const SHAPES = ['opendental', 'semicolon', 'tab'] as const;
export type Shape = (typeof SHAPES)[number];

/** The output of test/fixtures/csv/make.mjs, read by its header without eligd's code. */
export type PmsRow = {
  appointment_id: string;
  day: string;
  is_cancelled: boolean;
  patient_id: string;
  names: string[];
  dob: string;
  npi: string;
  coverages: {
    rank: number;
    carrier: string;
    payor_id: string;
    member_id: string;
    group_id: string;
  }[];
};

const MAKE = join(import.meta.dirname, '../fixtures/csv/make.mjs');

/**
 * An export of a practice management system, as bytes. `from` is its first day; six of seven days
 * are busy.
 */
export function makeExport(options: {
  shape: Shape;
  count: number;
  from: string;
  seed?: number;
}): Buffer {
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return execFileSync(process.execPath, [MAKE, ...args]);
}

export function readExport(shape: Shape, bytes: Buffer): PmsRow[] {
  const rows = lines(shape, bytes).map(READERS[shape]);
  // The last line of an appointment counts.
  return [...new Map(rows.map((row) => [row.appointment_id, row])).values()];
}

function lines(shape: Shape, bytes: Buffer): Record<string, string>[] {
  if (shape === 'tab') return readCsv(bytes.toString('utf16le'), '\t');
  return shape === 'semicolon'
    ? readCsv(bytes.toString('latin1'), ';')
    : readCsv(bytes.toString('utf8'));
}

type Cells = Record<string, string>;

const READERS: Record<Shape, (cells: Cells) => PmsRow> = {
  opendental: (cells) => ({
    appointment_id: cells.AptNum ?? '',
    day: (cells.AptDateTime ?? '').slice(0, 10),
    is_cancelled: cells.AptStatus === 'Broken',
    patient_id: cells.PatNum ?? '',
    names: [cells.LName ?? '', cells.FName ?? ''],
    dob: cells.Birthdate ?? '',
    npi: cells.NationalProvID ?? '',
    coverages: [coverage(1, cells.CarrierName, cells.ElectID, cells.SubscriberID, cells.GroupNum)],
  }),
  semicolon: (cells) => ({
    appointment_id: cells['Appt ID'] ?? '',
    day: monthFirst(cells['Appt Date'] ?? ''),
    is_cancelled: cells['Appt Status'] === 'CANCELLED',
    patient_id: cells['Chart #'] ?? '',
    names: (cells.Patient ?? '').split(', '),
    dob: monthFirst(cells['Birth Date'] ?? ''),
    npi: cells['Provider NPI'] ?? '',
    coverages: [
      coverage(
        1,
        cells['Ins. Carrier'],
        cells['Payer ID'],
        cells['Subscriber ID'],
        cells['Group #'],
      ),
    ],
  }),
  tab: (cells) => ({
    appointment_id: cells.appointment_id ?? '',
    day: (cells.appointment_at ?? '').slice(0, 10),
    is_cancelled: cells.status === 'cancelled',
    patient_id: cells.patient_id ?? '',
    names: [cells.patient_name ?? ''],
    dob: cells.dob ?? '',
    npi: cells.rendering_npi ?? '',
    coverages: [
      coverage(1, cells.carrier, cells.payor_id, cells.member_id, cells.group_id),
      coverage(2, cells.carrier_2, cells.payor_id_2, cells.member_id_2, ''),
    ],
  }),
};

function coverage(rank: number, carrier = '', payor_id = '', member_id = '', group_id = '') {
  return { rank, carrier, payor_id, member_id, group_id };
}

function monthFirst(text: string): string {
  const [month = '', day = '', year = ''] = text.split('/');
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/** A payer ID says whom to phone; one of the names in make.mjs is not mapped. */
function isCallable({ carrier, payor_id }: { carrier: string; payor_id: string }): boolean {
  return payor_id !== '' || (carrier !== '' && !carrier.startsWith('Local 134'));
}

/**
 * The required outcome of a row, by the planning rules of docs/design.md and the faults of
 * make.mjs.
 */
export function judge(rows: readonly PmsRow[], today: string) {
  const cancelled: PmsRow[] = [];
  const past: PmsRow[] = [];
  const self_pay: PmsRow[] = [];
  const bad: PmsRow[] = [];
  const questions: Question[] = [];
  for (const row of rows) {
    const insured = row.coverages.filter(
      (each) => each.carrier + each.payor_id + each.member_id + each.group_id !== '',
    );
    const is_named = insured.every(isCallable);
    const is_readable = !row.dob.endsWith('-02-30') && row.npi !== '1234567890';
    if (row.is_cancelled) cancelled.push(row);
    else if (row.day < today) past.push(row);
    else if (insured.length === 0) self_pay.push(row);
    else if (!is_readable || !is_named || insured.some(({ member_id }) => member_id === ''))
      bad.push(row);
    if (row.is_cancelled || row.day < today || !is_readable) continue;
    for (const coverage of insured) {
      const { rank, carrier, payor_id, member_id } = coverage;
      if (member_id === '' || !isCallable(coverage)) continue;
      const { appointment_id, patient_id, dob } = row;
      questions.push({
        appointment_id,
        rank,
        patient_id,
        dob,
        payer: payor_id || carrier,
        member_id,
      });
    }
  }
  return { cancelled, past, self_pay, bad, questions };
}
