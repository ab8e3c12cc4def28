/**
 * Decides when to request the checks of an answer's calls. The answer states when its calls ended,
 * and the checks state when they were made (docs/service.md "Transcript verification record").
 * eligd learns the usual delay, so that one request is normally enough.
 */
import { askAgainAt, DELAYS_KEPT, usuallyThereAt } from '../../../domain/verification-times.ts';
import { lastCallEndedAt } from '../../../records/reported.ts';
import { lastCheckedAt } from '../../../records/verification.ts';
import type { InquiryRow } from '../../../store/calls/inquiries.ts';
import {
  keepVerificationDelay,
  verificationDelays,
} from '../../../store/calls/verification-delays.ts';
import type { Tx } from '../../../store/engine/database.ts';
import type { CollectDeps } from '../deps.ts';

/** Returns the columns to set on an inquiry that was just answered. */
export async function firstVerify(
  tx: Tx,
  { settings }: Pick<CollectDeps, 'settings'>,
  results: unknown,
  now: number,
): Promise<{ verify_at: number; verify_until: number }> {
  const verify_until = now + settings.verify_for_ms;
  const ended_at = callEndedAt(results, now);
  const delays = await verificationDelays(tx);
  // Nothing is known, so the checks may have been ready for a long time.
  const likely_at =
    ended_at === null && delays.length === 0 ? now : usuallyThereAt(ended_at ?? now, delays);
  return { verify_at: Math.min(Math.max(now, likely_at), verify_until), verify_until };
}

/** Returns when to request the checks of an answer again; null: never. */
export function nextVerifyAt(row: InquiryRow, now: number): number | null {
  return askAgainAt(now, row.answered_at ?? now, row.verify_until ?? 0);
}

/**
 * Saves how long the checks took: by the times that the service states, otherwise by how long eligd
 * requested them without success.
 */
export async function learnDelay(
  tx: Tx,
  row: InquiryRow,
  { verifications, results }: { verifications: readonly unknown[]; results: unknown },
  now: number,
): Promise<void> {
  const answered_at = row.answered_at ?? now;
  const ended_at = callEndedAt(results, answered_at);
  const made_at = lastCheckedAt(verifications);
  const is_dated = ended_at !== null && made_at !== null && made_at >= ended_at && made_at <= now;
  const is_late = now > usuallyThereAt(answered_at, await verificationDelays(tx));
  if (is_dated) await keepVerificationDelay(tx, made_at - ended_at, DELAYS_KEPT, now);
  else if (is_late) await keepVerificationDelay(tx, now - answered_at, DELAYS_KEPT, now);
}

/**
 * Returns when the last call of an answer that arrived at `now` ended; null when the answer does
 * not say, or states a time in the future.
 */
export function callEndedAt(results: unknown, now: number): number | null {
  const ended_at = lastCallEndedAt(results);
  return ended_at === null || ended_at > now ? null : ended_at;
}
