/** Calls too many: what was proven absent, made again, and showed up after all. */
import { CLOCKS_DIFFER_MS } from '../../domain/clock-watch.ts';
import { raiseAttention, resolveAttention } from '../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../store/bookkeeping/audit.ts';
import { type AbsentCall, absentCallsOf, isSameCall } from '../../store/calls/absent-calls.ts';
import { type InquiryRow, inquiriesByMatch, mayBeOf } from '../../store/calls/inquiries.ts';
import {
  extrasOf,
  type LedgerEntry,
  own,
  type SeenInquiry,
  unownedMatches,
} from '../../store/calls/ledger.ts';
import { appointmentsOf } from '../../store/calls/links.ts';
import type { Tx } from '../../store/engine/database.ts';
import type { SubmitContext, SubmitSettings } from './deps.ts';

/** The row has the call, which serves nothing: it is paid for, and a person should know. */
export async function takeForExtra(
  { tx, deps, now }: SubmitContext,
  row: InquiryRow,
  seen: SeenInquiry,
): Promise<void> {
  await own(tx, seen, { inquiry: row.id, specialty: row.specialty, role: 'extra' }, now);
  const { service_id } = seen;
  tx.after(() => deps.env.log('duplicate_call_found', { inquiry: row.id, service_id }));
  const [appointment] = await appointmentsOf(tx, row.id);
  await raiseAttention(
    tx,
    {
      connector: row.connector,
      appointment: appointment?.id ?? null,
      inquiry: row.id,
      subject: inquirySubject(row.id),
    },
    {
      reason: 'extra_call',
      what: `The service holds a second inquiry (${seen.service_id}) for the same question.`,
      next:
        'Ask the operator of the service not to charge for it, and raise ' +
        'service.settle_seconds if it happens again.',
    },
    now,
  );
}

/**
 * An inquiry's calls too many have come to serve as its next attempts: nobody has to ask for the
 * money back.
 */
export async function resolveExtra(tx: Tx, inquiry: number, now: number): Promise<void> {
  if ((await extrasOf(tx, [inquiry])).length === 0)
    await resolveAttention(tx, inquirySubject(inquiry), now, ['extra_call']);
}

/**
 * Once a row has a call that serves it, those of its absent calls that a list has shown since are
 * calls too many.
 */
export async function takeLateCalls(context: SubmitContext, row: InquiryRow): Promise<void> {
  for (const each of await lateCallsOf(context.tx, context.deps.settings, row))
    await takeForExtra(context, row, each);
}

/** The row's absent calls that a list has shown since, and that serve nothing. */
export async function lateCallsOf(
  tx: Tx,
  settings: SubmitSettings,
  row: InquiryRow,
): Promise<LedgerEntry[]> {
  const calls = await absentCallsOf(tx, row.id);
  const last_at = lastCallAt(row, calls);
  const late: LedgerEntry[] = [];
  for (const match_key of new Set(calls.map((call) => call.match_key))) {
    const same = (await unownedMatches(tx, row.specialty, match_key)).filter(
      (each) => isOlder(each, last_at, settings) && calls.some((call) => isSameCall(call, each)),
    );
    late.push(...(await withoutSought(tx, row, match_key, same)));
  }
  return late;
}

/**
 * Less those that the lost reply of another row may have been about: they are left for its lookup
 * (G1).
 */
export async function withoutSought<Seen extends SeenInquiry>(
  tx: Tx,
  row: InquiryRow,
  match_key: string,
  entries: readonly Seen[],
): Promise<Seen[]> {
  if (entries.length === 0) return [];
  const sought = (await inquiriesByMatch(tx, row.specialty, match_key)).filter(
    ({ id, state }) => id !== row.id && (state === 'sending' || state === 'uncertain'),
  );
  return entries.filter((entry) => !sought.some((other) => mayBeOf(other, entry)));
}

/**
 * When the last of a row's calls was made, by the service's clock: the one that was found may be an
 * earlier one.
 */
export function lastCallAt(
  { sent_at, sent_service_at }: InquiryRow,
  absent: readonly AbsentCall[],
  found_at: number | null = null,
): number | null {
  const times = [
    found_at,
    sent_service_at ?? sent_at,
    ...absent.map((call) => call.sent_at),
  ].filter((at) => at !== null);
  return times.length === 0 ? null : Math.max(...times);
}

/**
 * A call too many was made before the last one, or is the last one, whose request may arrive for as
 * long as it is looked for; what is younger is a later attempt, of which a restored database knows
 * nothing.
 */
export function isOlder(
  { created_at }: SeenInquiry,
  last_at: number | null,
  { timeout_ms, settle_ms }: Pick<SubmitSettings, 'timeout_ms' | 'settle_ms'>,
): boolean {
  return (
    created_at === null ||
    last_at === null ||
    created_at <= last_at + timeout_ms + 2 * settle_ms + CLOCKS_DIFFER_MS
  );
}
