/** Who may be under the same plan: the same group, payer and tax ID. */
import { lettersAndDigits } from './matching.ts';
import { type CalledPayer, payerKey } from './turnaround.ts';

/** Words that PMSs write when a patient has no group. */
const NO_GROUP = new Set(['NONE', 'NA', 'UNKNOWN', 'INDIVIDUAL', 'SELF', 'NOGROUP', 'TBD']);
/** A shorter number is no group's own: `0`, `1`, `99`. */
const GROUP_LENGTH_MIN = 3;

/**
 * The group of a request. Null: it names no payer or no group, so that nobody else is under the
 * same plan for sure. The tax ID belongs to it, because a plan pays by network.
 */
export function planKey(draft: CalledPayer & { tax_id: string; group_id: string }): string | null {
  const payer = payerKey(draft);
  const group = lettersAndDigits(draft.group_id);
  const is_group = group.length >= GROUP_LENGTH_MIN && !/^0+$/.test(group) && !NO_GROUP.has(group);
  if (payer === null || !is_group || draft.claim !== undefined) return null;
  return [payer, lettersAndDigits(draft.tax_id), group].join('|');
}
