/** Counts the verdicts of the answers for the visits of the coming days. */
import { judgedVisit, NO_FEES } from '../domain/fees.ts';
import { addDays, instantOf, localDate } from '../domain/time.ts';
import type { Config } from '../ops/config.ts';
import { judge, type VerdictWord } from '../records/verdict.ts';
import type { Db } from '../store/engine/database.ts';
import { type ScheduledVisit, visitPages } from '../store/views/schedule.ts';

/** Visits by the verdict of their first coverage; `no_answer`: no answer yet. */
export type ComingVerdicts = Record<VerdictWord | 'no_answer', number>;

/** Today and the next seven days, like the front desk's schedule. */
const DAYS = 8;

/**
 * Counts the verdicts of the coming visits. Closed visits (canceled, self-pay) are left out. No
 * fees are loaded: a verdict does not depend on them, and an invalid fee schedule must not fail the
 * count.
 */
export async function comingVerdicts(db: Db, config: Config, now: number): Promise<ComingVerdicts> {
  const { time_zone } = config.clinic;
  const today = localDate(now, time_zone);
  const from = instantOf(today, 0, time_zone);
  const to = instantOf(addDays(today, DAYS), 0, time_zone);
  const found = { eligible: 0, not_eligible: 0, attention: 0, incomplete: 0, no_answer: 0 };
  for await (const page of visitPages(db, { from, to }, now))
    for (const visit of page) {
      const verdict = verdictWord(visit, time_zone);
      if (verdict !== null) found[verdict] += 1;
    }
  return found;
}

/** Returns null for a closed visit without an answer. */
function verdictWord(
  { input, answers: [first], closed_reason }: ScheduledVisit,
  time_zone: string,
): keyof ComingVerdicts | null {
  if (first === undefined) return closed_reason === null ? 'no_answer' : null;
  const visit = judgedVisit(input, first.coverage_rank, { time_zone, fees: NO_FEES });
  return judge(first.record, visit).standing;
}

const WORDS: readonly (readonly [keyof ComingVerdicts, one: string, more: string])[] = [
  ['not_eligible', 'NOT ELIGIBLE', 'NOT ELIGIBLE'],
  ['attention', 'needs attention', 'need attention'],
  ['incomplete', 'incomplete', 'incomplete'],
  ['eligible', 'eligible', 'eligible'],
  ['no_answer', 'without an answer yet', 'without an answer yet'],
];

/**
 * Returns `2 NOT ELIGIBLE, 3 need attention, 20 eligible, 4 without an answer yet`; worst first.
 */
export function comingWords(found: ComingVerdicts): string {
  const parts = WORDS.filter(([key]) => found[key] > 0).map(
    ([key, one, more]) => `${found[key]} ${found[key] === 1 ? one : more}`,
  );
  if (parts.length === 0) return 'no visits.';
  return `${parts.join(', ')}.`;
}
