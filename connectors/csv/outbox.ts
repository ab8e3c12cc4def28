/**
 * Writes eligd's output: `outbox/eligibility-<batch>.csv`, `outbox/claims-<batch>.csv`, the full
 * records under `outbox/records/`, `outbox/attention.csv`, and `outbox/heartbeat.txt`.
 */
import { join } from 'node:path';
import { wallClockText } from '../../src/domain/time.ts';
import { deliveryDocument } from '../../src/records/delivery.ts';
import { absenceSentences, RECORD_FIELDS } from '../../src/records/fields.ts';
import { summarizeClaim, summarizeEligibility } from '../../src/records/summary.ts';
import {
  collectText,
  deductibleLeftText,
  maximumLeftText,
  VERDICT_WORDS,
  verdictLines,
  whatToDo,
} from '../../src/records/verdict/text.ts';
import type {
  AttentionEntry,
  ClaimBatch,
  ClaimDelivery,
  Delivery,
  DeliveryBatch,
  DeliveryOutcome,
  Rows,
} from '../contract.ts';
import { ConnectorError } from '../contract.ts';
import { csvFile, csvPieces, type IdCell } from './cells.ts';
import {
  type Folder,
  folderError,
  makeDirectory,
  syncDirectory,
  writeAtomically,
} from './folder.ts';

/**
 * Columns of `eligibility-<batch>.csv`: the office's first, those only for programs last.
 * docs/csv.md describes them. Programs find columns by name, or read the JSON.
 */
export const RESULT_COLUMNS = [
  ...['appointment_at', 'patient_name', 'verdict', 'collect', 'what_to_do', 'deductible_left'],
  ...['maximum_left', 'carrier', 'why', 'is_active'],
  ...RECORD_FIELDS.map(([key]) => key).filter((key) => key !== 'active'),
  ...['primary_coverage', 'procedure_codes', 'procedure_classes', 'treatment_history'],
  ...['notes', 'not_known', 'call_summary', 'reference_number', 'representative', 'called_at'],
  ...['recordings', 'transcripts', 'questions', 'call_script', 'asked_at'],
  ...['dob', 'member_id', 'group_id', 'payor_id', 'coverage', 'location', 'specialty'],
  ...['patient_id', 'appointment_id', 'outcome', 'status', 'completeness', 'confidence'],
  ...['revision', 'inquiry_id', 'json_file', 'written_at', 'delivery_key'],
] as const;

type ResultLine = Record<(typeof RESULT_COLUMNS)[number], string>;

/** Columns of `claims-<batch>.csv`, in the same order of importance. */
export const CLAIM_RESULT_COLUMNS = [
  ...['date_of_service', 'patient_name', 'claim_status', 'said_status', 'processed_on'],
  ...['paid_on', 'billed_amount', 'carrier', 'procedure_codes', 'notes'],
  ...['claim_number', 'payer_claim_number', 'received_on', 'processed_up_to'],
  ...['turnaround', 'call_summary', 'reference_number', 'representative'],
  ...['called_at', 'recordings', 'transcripts', 'questions', 'asked_at', 'dob'],
  ...['member_id', 'group_id', 'payor_id', 'coverage', 'location', 'specialty'],
  ...['patient_id', 'claim_id', 'outcome', 'status', 'completeness', 'confidence'],
  ...['revision', 'inquiry_id', 'json_file', 'written_at', 'delivery_key'],
] as const;

type ClaimLine = Record<(typeof CLAIM_RESULT_COLUMNS)[number], string>;

export const ATTENTION_COLUMNS = [
  'appointment_id', 'appointment_at', 'patient_name', 'carrier', 'reason', 'what_happened',
  'what_to_do', 'since', 'claim_id', 'as_of',
] as const; // biome-ignore format: a list of words reads better in lines than in a column

const NOTHING_WAITS = 'Nothing needs you. heartbeat.txt says whether eligd is working.';
/** Columns whose leading zeros must survive a double-click. */
const ID_COLUMNS: ReadonlySet<string> = new Set([
  'appointment_id',
  'claim_id',
  'claim_number',
  'payer_claim_number',
  'patient_id',
  'payor_id',
  'member_id',
  'group_id',
  'reference_number',
]);

const cellOf = (column: string, value: string): string | IdCell =>
  ID_COLUMNS.has(column) ? { id: value } : value;

const RECORDS = 'records';
const FILES_AT_ONCE = 8;
/** Accepts a key that can be the name of a file. */
const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,149}$/;

/**
 * Writes a batch completely or not at all, and returns the outcomes: the CSV only names JSON files
 * that exist. The bytes depend only on the batch, so that writing it again, even after a crash in
 * the middle, leaves the same files (G4).
 */
export async function writeBatch(
  folder: Folder,
  batch: DeliveryBatch,
  { time_zone, connector_id }: { time_zone: string; connector_id: string },
  signal: AbortSignal,
): Promise<DeliveryOutcome[]> {
  const written_at = wallClockText(batch.created_at, time_zone);
  return await writeAll(
    folder,
    batch,
    {
      prefix: 'eligibility',
      columns: RESULT_COLUMNS,
      documentOf: (delivery) => {
        const starts_at = wallClockText(delivery.appointment.starts_at, time_zone);
        return deliveryDocument({ ...delivery, written_at, connector: connector_id, starts_at });
      },
      cellsOf: (delivery) => resultCells(delivery, { written_at: batch.created_at, time_zone }),
    },
    signal,
  );
}

/** Returns the line of a delivery, in the order of RESULT_COLUMNS. */
export function resultCells(
  delivery: Delivery,
  { written_at, time_zone }: { written_at: string; time_zone: string },
): (string | IdCell)[] {
  const line = resultLine(delivery, written_at, time_zone);
  return RESULT_COLUMNS.map((column) => cellOf(column, line[column]));
}

/** Writes `claims-<batch>.csv` in the same way. */
export async function writeClaims(
  folder: Folder,
  batch: ClaimBatch,
  time_zone: string,
  signal: AbortSignal,
): Promise<DeliveryOutcome[]> {
  return await writeAll(
    folder,
    batch,
    {
      prefix: 'claims',
      columns: CLAIM_RESULT_COLUMNS,
      documentOf: ({ record }) => record,
      cellsOf: (delivery) => claimCells(delivery, { written_at: batch.created_at, time_zone }),
    },
    signal,
  );
}

/** Returns the line of a delivery about a claim, in the order of CLAIM_RESULT_COLUMNS. */
export function claimCells(
  delivery: ClaimDelivery,
  { written_at, time_zone }: { written_at: string; time_zone: string },
): (string | IdCell)[] {
  const line = claimLine(delivery, written_at, time_zone);
  return CLAIM_RESULT_COLUMNS.map((column) => cellOf(column, line[column]));
}

type Written = { key: string; record: unknown };

/** Defines the CSV and JSON files of a kind of batch. */
type FileKind<One> = {
  prefix: string;
  columns: readonly string[];
  documentOf: (delivery: One) => unknown;
  cellsOf: (delivery: One) => (string | IdCell)[];
};

async function writeAll<One extends Written>(
  folder: Folder,
  batch: { id: string; deliveries: readonly One[] },
  file: FileKind<One>,
  signal: AbortSignal,
): Promise<DeliveryOutcome[]> {
  if (!SAFE_NAME.test(batch.id)) {
    throw new ConnectorError('permanent', {
      what: 'The batch has an ID that cannot be a file name.',
      next: 'Report this as a bug in eligd.',
    });
  }
  const writable = batch.deliveries.filter(({ key }) => SAFE_NAME.test(key));
  try {
    const records = join(folder.outbox, RECORDS);
    await makeDirectory(records);
    const documents = writable.map((each) => ({ key: each.key, document: file.documentOf(each) }));
    if (await writeDocuments(records, documents, signal)) await syncDirectory(records);
    if (writable.length > 0) {
      await writeAtomically(
        folder.outbox,
        `${file.prefix}-${batch.id}.csv`,
        csvFile(file.columns, writable.map(file.cellsOf)),
      );
    }
  } catch (error) {
    signal.throwIfAborted();
    throw folderError(error);
  }
  return batch.deliveries.map(outcomeOf);
}

async function writeDocuments(
  directory: string,
  documents: readonly { key: string; document: unknown }[],
  signal: AbortSignal,
): Promise<boolean> {
  let has_written = false;
  for (let i = 0; i < documents.length; i += FILES_AT_ONCE) {
    signal.throwIfAborted();
    const written = await Promise.all(
      documents.slice(i, i + FILES_AT_ONCE).map(({ key, document }) => {
        const content = Buffer.from(`${JSON.stringify(document, null, 2)}\n`);
        return writeAtomically(directory, `${key}.json`, content, 'file only');
      }),
    );
    has_written ||= written.includes(true);
  }
  return has_written;
}

function outcomeOf({ key }: Written): DeliveryOutcome {
  if (SAFE_NAME.test(key)) return { key, outcome: 'delivered' };
  const told = {
    what: 'The delivery has a key that cannot be a file name.',
    next: 'Report this as a bug in eligd.',
  };
  return { key, outcome: 'failed', is_permanent: true, ...told };
}

function resultLine(delivery: Delivery, written_at: string, time_zone: string): ResultLine {
  const { appointment, record, verdict } = delivery;
  const {
    active,
    call_ended_at,
    procedure_codes,
    procedure_classes,
    treatments,
    notes,
    ...summary
  } = summarizeEligibility(record, verdict);
  return {
    ...summary,
    delivery_key: delivery.key,
    revision: String(delivery.revision),
    appointment_id: appointment.source_id,
    appointment_at: wallClockText(appointment.starts_at, time_zone),
    location: appointment.location ?? '',
    patient_id: appointment.patient.id ?? '',
    patient_name: `${appointment.patient.first_name} ${appointment.patient.last_name}`.trim(),
    dob: appointment.patient.birth_date ?? '',
    coverage: String(appointment.coverage_rank),
    carrier: appointment.coverage.carrier,
    payor_id: appointment.coverage.payor_id,
    member_id: appointment.coverage.member_id,
    group_id: appointment.coverage.group_id,
    is_active: active,
    procedure_codes: procedure_codes.map(({ code, line }) => `${code}: ${line}`).join(' | '),
    procedure_classes: procedure_classes.map(({ name, line }) => `${name}: ${line}`).join(' | '),
    treatment_history: treatments
      .map(({ date, line }) => (date === '' ? line : `${date} ${line}`))
      .join(' | '),
    not_known: absenceSentences(record).join(' '),
    specialty: record.specialty,
    asked_at: wallClockText(record.inquiry_created_at ?? 'unknown', time_zone),
    called_at: wallClockText(call_ended_at, time_zone),
    notes: [...delivery.notes, ...notes].join(' | '),
    inquiry_id: record.inquiry_id,
    json_file: `${RECORDS}/${delivery.key}.json`,
    written_at: wallClockText(written_at, time_zone),
    primary_coverage: String(delivery.coordination?.primary_rank ?? ''),
    verdict: VERDICT_WORDS[verdict.standing],
    collect: collectText(verdict),
    what_to_do: whatToDo(verdict).join(' '),
    why: verdictLines(verdict).join(' | '),
    deductible_left: deductibleLeftText(record, verdict),
    maximum_left: maximumLeftText(record, verdict),
  };
}

function claimLine(
  { key, claim, record, revision, notes }: ClaimDelivery,
  written_at: string,
  time_zone: string,
): ClaimLine {
  const {
    call_ended_at,
    codes,
    claim_number,
    notes: own_notes,
    ...summary
  } = summarizeClaim(record);
  return {
    ...summary,
    delivery_key: key,
    revision: String(revision),
    claim_id: claim.source_id,
    claim_number: claim.claim_number,
    date_of_service: claim.date_of_service ?? '',
    billed_amount: claim.billed_amount,
    location: claim.location ?? '',
    patient_id: claim.patient.id ?? '',
    patient_name: `${claim.patient.first_name} ${claim.patient.last_name}`.trim(),
    dob: claim.patient.birth_date ?? '',
    coverage: String(claim.coverage_rank),
    carrier: claim.coverage.carrier,
    payor_id: claim.coverage.payor_id,
    member_id: claim.coverage.member_id,
    group_id: claim.coverage.group_id,
    payer_claim_number: claim_number,
    procedure_codes: codes.map(({ code, line }) => `${code}: ${line}`).join(' | '),
    called_at: wallClockText(call_ended_at, time_zone),
    specialty: record.specialty,
    asked_at: wallClockText(record.inquiry_created_at ?? 'unknown', time_zone),
    notes: [...notes, ...own_notes].join(' | '),
    inquiry_id: record.inquiry_id,
    json_file: `${RECORDS}/${key}.json`,
    written_at: wallClockText(written_at, time_zone),
  };
}

/**
 * Writes the whole attention list in the given order, most urgent appointment first. An empty list
 * has one line that says so, with the time: a file that is weeks old must not look like good news.
 */
export async function writeAttention(
  folder: Folder,
  entries: Rows<AttentionEntry>,
  as_of: string,
  time_zone: string,
): Promise<void> {
  const as_of_here = wallClockText(as_of, time_zone);
  const lines = {
    async *[Symbol.asyncIterator]() {
      let is_empty = true;
      for await (const entry of entries) {
        is_empty = false;
        yield attentionLine(entry, as_of_here, time_zone);
      }
      if (is_empty) yield ['', '', '', '', 'nothing', NOTHING_WAITS, '', '', '', as_of_here];
    },
  };
  try {
    await writeAtomically(folder.outbox, 'attention.csv', csvPieces(ATTENTION_COLUMNS, lines));
  } catch (error) {
    throw folderError(error);
  }
}

function attentionLine(entry: AttentionEntry, as_of_here: string, time_zone: string): string[] {
  return [
    entry.source_id ?? '',
    wallClockText(entry.starts_at ?? '', time_zone),
    entry.patient_name ?? '',
    entry.carrier ?? '',
    entry.reason,
    entry.what,
    entry.next,
    wallClockText(entry.since, time_zone),
    entry.claim_id ?? '',
    as_of_here,
  ];
}

/** Writes when eligd last checked, and its health; called about once a minute. */
export async function writeHeartbeat(folder: Folder, text: string): Promise<void> {
  try {
    const content = Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`);
    await writeAtomically(folder.outbox, 'heartbeat.txt', content);
  } catch (error) {
    throw folderError(error);
  }
}

/** Replaces `schedule.html`, which people open in a browser from the drop folder. */
export async function writeSchedule(folder: Folder, html: Iterable<Uint8Array>): Promise<void> {
  try {
    await writeAtomically(folder.outbox, 'schedule.html', html);
  } catch (error) {
    throw folderError(error);
  }
}
