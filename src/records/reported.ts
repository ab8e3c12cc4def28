/**
 * What an answer shows of itself. A report of the service may be half of an answer (long ones are
 * split) or an old one that comes late, and nothing in it says so (docs/service.md "Events"); so
 * what it has to show is what neither of them would.
 */
import { asksFreely } from './asked.ts';
import { readCalls } from './calls.ts';
import { type NormalizeInput, normalizeEligibility } from './normalize.ts';
import { isObject, Remainder } from './reader.ts';

/**
 * Whether everything that was asked is answered: every part, and every code. A half of the answer
 * would lack something, and so does many a whole one; then this is false, and whoever asks the
 * service gets to know. Where a custom question or a call script was asked, nobody can say what
 * belongs to the answer.
 * @throws RangeError where the results are nested too deeply.
 */
export function isWholeByItself(
  input: NormalizeInput & { asked: { call_script_id: string | null } },
): boolean {
  const { inquiry, asked } = input;
  if (asksFreely(asked, asked.call_script_id)) return false;
  if (inquiry.creation_ts === '' || (inquiry.summary ?? '').trim() === '') return false;
  const { calls, completeness } = normalizeEligibility(input);
  return calls.length > 0 && completeness === 'complete';
}

/**
 * When the last call that an answer names was over, in epoch milliseconds; null when the answer
 * does not say.
 */
export function lastCallEndedAt(results: unknown): number | null {
  if (!isObject(results)) return null;
  const ends = readCalls(results.call_details, new Remainder()).map(({ ended_at }) => ended_at);
  if (ends.length === 0 || ends.includes(null)) return null;
  return Math.max(...ends.map((end) => Date.parse(end ?? '')));
}
