/**
 * A list that may be cut off proves nothing about inquiries that it does not show. While the list
 * of a specialty has no proven end, eligd queries by `external_id` before every first send (G1). A
 * call that a lost or restored database has forgotten then shows up and is used instead of a second
 * one.
 */
import { externalId } from '../../domain/needs.ts';
import type { Specialty } from '../../domain/specialty.ts';
import { type InquiryRow, inState, updateInquiry } from '../../store/calls/inquiries.ts';
import { appointmentsOf } from '../../store/calls/links.ts';
import { latestVisitsOf } from '../../store/calls/listed-calls.ts';
import type { SubmitDeps } from './deps.ts';
import { compare } from './reconcile.ts';
import { seenInquiry } from './seen.ts';
import { noteRead, noteUnread, UNREAD_RETRY_MS, type Wait, waitFor } from './unread-lists.ts';

/**
 * Queries the labels of each row and of its patient's visits, and saves the inquiries that the
 * service shows under them, for the check that precedes every call. Returns the rows that may be
 * sent now. A row waits when a query for it fails (G7); the later rows wait, too, when queries for
 * two rows fail one after another, or when the service rejects us.
 */
export async function checkLabels(
  deps: SubmitDeps,
  rows: readonly InquiryRow[],
  { external_id_template, signal }: { external_id_template: string; signal: AbortSignal },
): Promise<Set<number>> {
  const checked = new Set<number>();
  let has_failed = false;
  for (const [index, row] of rows.entries()) {
    if (signal.aborted) return checked;
    const wait = await checkRow(deps, row, external_id_template, signal);
    if (wait === null) {
      checked.add(row.id);
      has_failed = false;
      continue;
    }
    await putOff(deps, [row], wait.retry_at);
    if (wait.is_about_all || (wait.was_asked && has_failed)) {
      const soon = deps.env.clock.now() + UNREAD_RETRY_MS;
      await putOff(deps, rows.slice(index + 1), wait.is_about_all ? wait.retry_at : soon);
      return checked;
    }
    has_failed ||= wait.was_asked;
  }
  return checked;
}

/** `was_asked`: the query failed now; otherwise an earlier one did, and it is too soon to repeat. */
type Failed = Wait & { was_asked: boolean };

/** Queries the labels of one row. Returns null, or that one of them could not be queried. */
async function checkRow(
  deps: SubmitDeps,
  row: InquiryRow,
  external_id_template: string,
  signal: AbortSignal,
): Promise<Failed | null> {
  const { db } = deps.store;
  const own = await appointmentsOf(db, row.id);
  // No other visit has the label of a call about a claim.
  const is_claim = own.some(({ kind }) => kind === 'claim');
  const visits = [...own, ...(is_claim ? [] : await latestVisitsOf(db, row.patient_key))];
  const labels = new Set([
    row.external_id,
    ...visits.map(({ connector, source_id }) =>
      externalId(external_id_template, connector, source_id),
    ),
  ]);
  for (const label of labels) {
    const failed = await checkLabel(deps, row, label, signal);
    if (failed !== null) return failed;
  }
  return null;
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

/** Returns null, or that the query failed, and when to query again. */
async function checkLabel(
  deps: SubmitDeps,
  { specialty }: InquiryRow,
  external_id: string,
  signal: AbortSignal,
): Promise<Failed | null> {
  const { client, store, env, memory } = deps;
  const question = { specialty, label: external_id };
  const wait = waitFor(memory, question, env.clock.now());
  if (wait !== null) return { ...wait, was_asked: false };
  const listed = await client.list(specialty, { external_id }, { priority: 'send', signal });
  if (!listed.ok) return { ...(await noteUnread(deps, question, listed.failure)), was_asked: true };
  if (memory.failures.labels.get(specialty)?.size !== 0)
    await store.write((tx) => noteRead(tx, memory, question, env.clock.now()));
  const seen = listed.value.inquiries.map(seenInquiry);
  if (seen.length > 0) {
    // A reconciliation of these few inquiries: each unknown one belongs to a lost reply, is a
    // duplicate call, or is unclaimed. Only the whole list shows whether another installation uses
    // the account.
    const now = env.clock.now();
    await store.write((tx) => compare({ tx, deps, now }, { specialty, seen, last: null }));
  }
  return null;
}

/**
 * Queries the labels of calls that the office was told to ask about. A list that is cut off may
 * hide them for good, and the service may show them only later.
 */
export async function checkUndecidable(
  deps: SubmitDeps,
  specialty: Specialty,
  signal: AbortSignal,
): Promise<void> {
  const now = deps.env.clock.now();
  for (const row of await inState(deps.store.db, 'undecidable'))
    if (row.specialty === specialty && row.visit_at > now)
      if (signal.aborted || (await checkLabel(deps, row, row.external_id, signal))?.was_asked)
        return;
}
