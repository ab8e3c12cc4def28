/** The words of a verdict, and the facts behind a reason. */

/** The verdict about a scheduled procedure. */
export const STANDINGS = ['payable', 'not_payable', 'needs_authorization', 'unknown'] as const;
export type Standing = (typeof STANDINGS)[number];

/** The verdict about a visit, the worst first. */
export const VERDICTS = ['not_eligible', 'attention', 'incomplete', 'eligible'] as const;
export type VerdictWord = (typeof VERDICTS)[number];

export const REASON_CODES = [
  'plan_inactive',
  'plan_ended',
  'plan_not_begun',
  'plan_unknown',
  'not_covered',
  'not_answered',
  'not_asked',
  'conflicting',
  'age_limit',
  'frequency',
  'maximum_used_up',
  'prior_authorization',
  'out_of_network',
  'waiting_period',
  'downgrade',
  'no_answer',
  'referral_required',
  'not_primary',
  'said_earlier',
] as const;
export type ReasonCode = (typeof REASON_CODES)[number];

/** `path`: its path in the record; `value`: its value there, null when absent. */
export type Fact = { path: string; value: unknown };

/**
 * The effect of a reason on a procedure. `no`: the plan does not pay. `unknown`: it is uncertain.
 * `partly`: the plan does not pay for all of it. `authorization`: the plan pays after prior
 * authorization. `note`: the plan pays, but not as usual. `source`: no effect; it names the source
 * of other reasons.
 */
type Effect = 'no' | 'partly' | 'unknown' | 'authorization' | 'note' | 'source';

/** `text`: one or two sentences for the front desk. */
export type Reason = { code: ReasonCode; text: string; facts: Fact[] };
export type Weighed = Reason & { effect: Effect };

export const fact = (path: string, value: unknown): Fact => ({ path, value: value ?? null });

/** Formats `2027-01-01` as `01/01/2027`. */
export function americanDay(day: string): string {
  const [year = '', month = '', date = ''] = day.split('-');
  return `${month}/${date}/${year}`;
}

/** Formats `2026-11-23` as `11/23`. */
export const shortDay = (day: string) => americanDay(day).slice(0, 5);
