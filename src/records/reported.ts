/**
 * Judges an answer in a webhook event. The event may contain half of an answer (long ones are
 * split) or an old answer that arrives late, and nothing marks it as such (docs/service.md
 * "Events"). So eligd accepts an answer only if it shows that it is complete and current.
 */
import { asksFreely } from './asked.ts';
import { readCalls } from './calls.ts';
import { type NormalizeInput, normalizeEligibility } from './normalize.ts';
import { isObject, Remainder } from './reader.ts';

/**
 * Returns whether everything that was asked is answered: every part, and every code. Half of an
 * answer would lack something. Many complete answers do, too; then this returns false, and eligd
 * polls for the answer. For a custom question or a call script, nobody can say what belongs to the
 * answer.
 * @throws RangeError when the results are nested too deeply.
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
 * Returns when the last call that an answer names ended, in epoch milliseconds; null when the
 * answer does not say.
 */
export function lastCallEndedAt(results: unknown): number | null {
  if (!isObject(results)) return null;
  const ends = readCalls(results.call_details, new Remainder()).map(({ ended_at }) => ended_at);
  if (ends.length === 0 || ends.includes(null)) return null;
  return Math.max(...ends.map((end) => Date.parse(end ?? '')));
}
