/**
 * Queries by `external_id` before a call (G1). A list that may be cut off proves nothing about
 * inquiries that it does not show, and a call that was proven absent may be listed later. A call
 * that the query shows is used instead of a second one.
 */
import { externalId } from '../../domain/needs.ts';
import type { Specialty } from '../../domain/specialty.ts';
import type { ServiceFailure } from '../../service/api.ts';
import { absentLabels } from '../../store/calls/absent-calls.ts';
import { type InquiryRow, inState, updateInquiry } from '../../store/calls/inquiries.ts';
import { appointmentsOf } from '../../store/calls/links.ts';
import { latestVisitsOf } from '../../store/calls/listed-calls.ts';
import type { Db, Tx } from '../../store/engine/database.ts';
import type { SubmitContext, SubmitDeps } from './deps.ts';
import {
  labelFailures,
  labelsWaitUntil,
  logUnqueried,
  noteQueried,
  noteUnqueried,
} from './label-failures.ts';
import { type LabelResult, queryLabel } from './label-query.ts';
import { type CheckOptions, type LabelOptions, queryVisits } from './visit-labels.ts';

/** By row: its labels that were queried. */
export type CheckedLabels = ReadonlyMap<number, ReadonlySet<string>>;

/**
 * Returns the rows that need the query: while the list may be cut off, all; otherwise those whose
 * question an absent call has asked, also one of another record or of an earlier attempt. A checked
 * row needs it again if it has got a label meanwhile, for example that of another visit.
 */
export async function needLabelCheck(
  { tx, deps }: SubmitContext,
  rows: readonly InquiryRow[],
  options: LabelOptions,
  checked: CheckedLabels,
): Promise<readonly InquiryRow[]> {
  const { specialty } = options;
  const absent = hidesCalls(deps, specialty)
    ? null
    : await absentLabels(
        tx,
        specialty,
        rows.map(({ match_key }) => match_key),
      );
  const needing: InquiryRow[] = [];
  for (const row of rows) {
    if (absent?.has(row.match_key) === false) continue;
    const known = checked.get(row.id);
    const labels = known === undefined ? [] : [...(await labelsOf(tx, deps, row, options))];
    if (known === undefined || labels.some((label) => !known.has(label))) needing.push(row);
  }
  return needing;
}

function hidesCalls({ memory }: SubmitDeps, specialty: Specialty): boolean {
  return memory.reconciled.get(specialty)?.hides_calls === true;
}

/**
 * Queries the labels of each row, of these absent calls, and, while the list may be cut off, of the
 * patient's visits. Saves the inquiries that the service shows under them, for the check that
 * precedes every call. Returns the rows that may be sent now. A row waits when a query for it
 * fails; the others wait only when queries for two rows fail one after another, or when the service
 * rejects our login (G7). Null: submission is stopped.
 */
export async function checkLabels(
  deps: SubmitDeps,
  rows: readonly InquiryRow[],
  options: CheckOptions,
): Promise<CheckedLabels | null> {
  const checked = new Map<number, ReadonlySet<string>>();
  let are_all_shown = false;
  const known = labelFailures(deps.memory, options.specialty);
  const [first] = rows;
  if (first !== undefined && labelsWaitUntil(known, deps.env.clock.now()) === null) {
    const visits = await queryVisits(deps, first, options);
    if (visits === 'stopped') return null;
    are_all_shown = visits === 'all';
    if (visits !== null && visits !== 'all') {
      await putOff(deps, rows, visits.due_at);
      return checked;
    }
  }
  for (const [index, row] of rows.entries()) {
    const wait_until = labelsWaitUntil(known, deps.env.clock.now());
    if (wait_until !== null) {
      await putOff(deps, rows.slice(index), wait_until);
      break;
    }
    const labels = await labelsOf(deps.store.db, deps, row, options);
    const result: LabelResult = are_all_shown
      ? 'all'
      : await checkAll(deps, row, labels, options.signal);
    if (result === 'stopped') return null;
    if (options.signal.aborted) break;
    are_all_shown = result === 'all';
    if (result === null || result === 'all') {
      checked.set(row.id, labels);
      noteQueried(deps.memory, row);
    } else await putOff(deps, [row], await noteUnqueried(deps, row, result));
  }
  return checked;
}

/** Returns the labels under which the service may have a call for the row. */
async function labelsOf(
  db: Db | Tx,
  deps: SubmitDeps,
  row: InquiryRow,
  { external_id_template }: LabelOptions,
): Promise<Set<string>> {
  const { external_id, match_key, specialty } = row;
  const absent = await absentLabels(db, specialty, [match_key]);
  const visits = hidesCalls(deps, specialty) ? await visitsOfPatient(db, row) : [];
  return new Set([
    external_id,
    ...(absent.get(match_key) ?? []),
    ...visits.map(({ connector, source_id }) =>
      externalId(external_id_template, connector, source_id),
    ),
  ]);
}

/** Queries these labels of one row, until one query fails. */
async function checkAll(
  deps: SubmitDeps,
  row: InquiryRow,
  labels: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<LabelResult> {
  for (const label of labels) {
    const result = await queryLabel(deps, row.specialty, label, signal);
    if (result !== null) return result;
  }
  return null;
}

/** Returns the visits of the inquiry, and the patient's latest ones. */
async function visitsOfPatient(db: Db | Tx, { id, patient_key }: InquiryRow) {
  const own = await appointmentsOf(db, id);
  // No other visit has the label of a call about a claim.
  const is_claim = own.some(({ kind }) => kind === 'claim');
  return [...own, ...(is_claim ? [] : await latestVisitsOf(db, patient_key))];
}

/** Postpones the rows: they stay due, but eligd does not query the unavailable service at once. */
async function putOff(
  { store, env }: SubmitDeps,
  rows: readonly InquiryRow[],
  due_at: number,
): Promise<void> {
  const now = env.clock.now();
  await store.write(async (tx) => {
    for (const { id } of rows) await updateInquiry(tx, id, { due_at }, now);
  });
}

/**
 * Queries the labels of calls that the office was told to ask about. A list that is cut off may
 * hide them for good, and the service may show them only later. After two failures in a row, the
 * others wait for the next comparison. Each comparison starts with another call, so the same two
 * failing labels do not keep the others waiting.
 */
export async function checkUndecidable(
  deps: SubmitDeps,
  specialty: Specialty,
  signal: AbortSignal,
): Promise<void> {
  const { store, env } = deps;
  const now = env.clock.now();
  const rows = (await inState(store.db, 'undecidable')).filter(
    (row) => row.specialty === specialty && row.visit_at > now,
  );
  const first = Math.floor(env.random() * rows.length);
  let first_failure: ServiceFailure | null = null;
  let failures = 0;
  for (const row of [...rows.slice(first), ...rows.slice(0, first)]) {
    if (failures === 2) break;
    const result = await queryLabel(deps, specialty, row.external_id, signal);
    if (signal.aborted || result === 'stopped' || result === 'all') return;
    failures = result === null ? 0 : failures + 1;
    first_failure ??= result;
  }
  if (first_failure !== null) logUnqueried(deps, specialty, first_failure);
}
