/** Decides who may be under the same plan: the same group, payer, and tax ID. */
import { lettersAndDigits } from './matching.ts';
import { type CalledPayer, payerKey } from './turnaround.ts';

/** Words that PMSs write for a patient without a group. */
const NO_GROUP = new Set(['NONE', 'NA', 'UNKNOWN', 'INDIVIDUAL', 'SELF', 'NOGROUP', 'TBD']);
/** Shorter numbers (`0`, `1`, `99`) are placeholders, not groups. */
const GROUP_LENGTH_MIN = 3;

/**
 * Returns the plan key of a request. Null: it names no payer or no group, so no other patient is
 * certain to be under the same plan. The key includes the tax ID, because a plan pays by network.
 */
export function planKey(draft: CalledPayer & { tax_id: string; group_id: string }): string | null {
  const payer = payerKey(draft);
  const group = lettersAndDigits(draft.group_id);
  const is_group = group.length >= GROUP_LENGTH_MIN && !/^0+$/.test(group) && !NO_GROUP.has(group);
  if (payer === null || !is_group || draft.claim !== undefined) return null;
  return [payer, lettersAndDigits(draft.tax_id), group].join('|');
}
