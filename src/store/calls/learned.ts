/** What earlier calls have taught about the coverages of a visit. */
import type { AppointmentInput } from '../../domain/appointment.ts';
import { type CoverageHistory, NO_HISTORY } from '../../domain/history.ts';
import { type Learned, NOTHING_LEARNED } from '../../domain/learned.ts';
import {
  type PlannedCoverage,
  type PlanningDecision,
  type PlanningFacts,
  planAppointment,
} from '../../domain/planning.ts';
import { instantOf, localDate } from '../../domain/time.ts';
import { payerKey, type Turnaround } from '../../domain/turnaround.ts';
import { knownTerms, planMark, planName } from '../../records/plan-terms.ts';
import {
  answersOfNeed,
  inPlanYear,
  type PatientAnswer,
  termsOfGroup,
} from '../answers/plan-terms.ts';
import type { Db, Tx } from '../engine/database.ts';
import { visitsOf } from './links.ts';
import { openTurnaround } from './turnarounds.ts';

type Visit = { patient_key: string; input: AppointmentInput };

/** Runs `planAppointment` with everything learned from earlier calls. */
export async function planLearned(
  tx: Db | Tx,
  visit: Visit,
  facts: PlanningFacts,
): Promise<PlanningDecision> {
  const decision = planAppointment(visit.patient_key, visit.input, facts);
  if (decision.kind !== 'ask' || decision.coverages.length === 0) return decision;
  const learned = await learnedOf(tx, visit, decision.coverages, facts);
  return learned === null
    ? decision
    : planAppointment(visit.patient_key, visit.input, facts, learned);
}

/** Returns what was learned; null: nothing. */
async function learnedOf(
  tx: Db | Tx,
  visit: Visit,
  coverages: readonly PlannedCoverage[],
  facts: PlanningFacts,
): Promise<Learned | null> {
  const histories = new Map<string, CoverageHistory>();
  const turnarounds = new Map<string, Turnaround>();
  for (const coverage of coverages) {
    const history = await historyOf(tx, visit, coverage, facts);
    if (history !== NO_HISTORY) histories.set(coverage.need_base, history);
    const payer = payerKey(coverage.draft);
    const known = await openTurnaround(tx, payer);
    if (payer !== null && known !== null) turnarounds.set(payer, known);
  }
  if (histories.size + turnarounds.size === 0) return null;
  return {
    history: (need_base) => histories.get(need_base) ?? NOTHING_LEARNED.history(need_base),
    turnaround: (draft) => turnarounds.get(payerKey(draft) ?? '') ?? null,
  };
}

async function historyOf(
  tx: Db | Tx,
  { patient_key, input }: Visit,
  { need_base, benefit_year, draft }: PlannedCoverage,
  { now, clinic: { time_zone }, policy }: PlanningFacts,
): Promise<CoverageHistory> {
  const answers = await answersOfNeed(tx, need_base, { time_zone });
  const starts_at = Date.parse(input.starts_at);
  const is_returning =
    answers.length > 0 ||
    (await visitsOf(tx, patient_key)).some((each) => each.starts_at < Math.min(starts_at, now));
  const day = localDate(now, time_zone);
  const within = { benefit_year, day, benefits_days: policy.benefits_days };
  const own = inPlanYear(
    answers.filter(({ inquiry }) => inquiry.benefit_year === benefit_year),
    within,
  );
  const group = inPlanYear(await termsOfGroup(tx, draft, { benefit_year, day }), within);
  const plan_name = answers.map(({ record }) => planName(record)).find((name) => name !== '') ?? '';
  const known = knownTerms(own, group, plan_name);
  if (!is_returning && known.benefits_on === null) return NO_HISTORY;
  const said = answers.find(({ record }) => record.plan?.is_active != null);
  const noon = (date: string | null) => (date === null ? null : instantOf(date, 12, time_zone));
  return {
    is_returning,
    eligibility_at: noon(said?.said_on ?? null),
    benefits_at: noon(known.benefits_on),
    known_codes: known.codes,
    plan_since: planSince(own),
  };
}

/**
 * Returns when the first call was sent that found the current plan; null: there was no other plan.
 */
function planSince(own: readonly PatientAnswer[]): number | null {
  const [newest] = own;
  const mark = newest === undefined ? null : planMark(newest.record);
  if (mark === null) return null;
  const changed = own.findIndex(({ record }) => {
    const other = planMark(record);
    return other !== null && other !== mark;
  });
  if (changed === -1) return null;
  const { inquiry } = own[changed - 1] ?? own[0] ?? {};
  return inquiry?.sent_at ?? inquiry?.created_at ?? null;
}
