/**
 * What a front desk wants to know about each scheduled procedure, worked out of an eligibility record. Pure, and explained: every
 * line names the facts of the record that it rests on, and says "unknown" where one is missing (G8). It is an estimate of what
 * was said on the telephone and never a guarantee; whoever shows it shows `ESTIMATE_CAUTION` with it.
 */
import type { Allowance, BenefitRule, EligibilityRecord, Money, Percent, ProcedureCodeBenefits } from './eligibility.ts';
import { readFrequency } from './frequency.ts';
import { comparableCode } from './values.ts';

export const ESTIMATE_CAUTION = 'An estimate from what the payer said, not a guarantee of payment.';

export const ESTIMATE_TOPICS = [
  'coverage',
  'share',
  'deductible',
  'maximum',
  'frequency',
  'prior_authorization',
  'waiting_period',
] as const;
export type EstimateTopic = (typeof ESTIMATE_TOPICS)[number];

export type ProcedureEstimate = { code: string; lines: EstimateLine[] };

export type EstimateLine = {
  topic: EstimateTopic;
  /** A short phrase; with `unknown` in it when a fact is missing. */
  says: string;
  is_known: boolean;
  /** Where in the record the line comes from, with the values as they stand there; what is absent there is null. */
  facts: Fact[];
};

export type Fact = { path: string; value: unknown };

/** The day of the visit (`YYYY-MM-DD`, in the clinic's zone) and the codes that are scheduled for it. */
export type PlannedVisit = { date: string; procedure_codes: readonly string[] };

/** One estimate per scheduled code, in order. A code of which nothing was said has lines that say "unknown". */
export function estimateVisit(record: EligibilityRecord, visit: PlannedVisit): ProcedureEstimate[] {
  const is_dental = record.specialty === 'dental';
  const codes = new Set(visit.procedure_codes.map((code) => comparableCode(code, is_dental)).filter((code) => code !== ''));
  return [...codes].map((code) => ({ code, lines: linesOf(record, code, visit.date) }));
}

/** `D1110: covered; plan pays 80%, patient 20%; …` in one line. */
export function estimateText({ code, lines }: ProcedureEstimate): string {
  return `${code}: ${lines.map(({ says }) => says).join('; ')}`;
}

/** What the lines of one code look at. */
type Facts = { record: EligibilityRecord; code: string; rule: BenefitRule; path: string; entry: ProcedureCodeBenefits | null };

function linesOf(record: EligibilityRecord, code: string, date: string): EstimateLine[] {
  const index = record.procedure_codes?.codes.findIndex((entry) => entry.code === code) ?? -1;
  const entry = record.procedure_codes?.codes[index] ?? null;
  const facts: Facts = { record, code, entry, rule: entry?.benefits ?? {}, path: `procedure_codes.codes[${Math.max(index, 0)}]` };
  const coverage = coverageLine(facts, date);
  // Of what the plan does not pay at all, there is nothing to share or to count.
  if (coverage.says.startsWith('not covered')) return [coverage];
  return [
    coverage,
    shareLine(facts),
    deductibleLine(facts),
    maximumLine(facts),
    frequencyLine(facts, date),
    authorizationLine(facts),
    ...(record.specialty === 'dental' ? [waitingLine(facts)] : []),
  ];
}

function line(topic: EstimateTopic, says: string, facts: Fact[]): EstimateLine {
  return { topic, says, is_known: !says.includes('unknown'), facts };
}

const fact = (path: string, value: unknown): Fact => ({ path, value: value ?? null });

function coverageLine({ record, rule, path }: Facts, date: string): EstimateLine {
  const { plan } = record;
  const active = fact('plan.is_active', plan?.is_active);
  const begins = fact('plan.effective_date', plan?.effective_date);
  const ends = fact('plan.termination_date', plan?.termination_date);
  if (plan?.is_active === false) return line('coverage', 'not covered: the plan is not active', [active]);
  if (plan?.termination_date != null && plan.termination_date < date) {
    return line('coverage', `not covered: the plan ends on ${plan.termination_date}`, [ends]);
  }
  if (plan?.effective_date != null && plan.effective_date > date) {
    return line('coverage', `not covered: the plan begins on ${plan.effective_date}`, [begins]);
  }
  const covered = fact(`${path}.benefits.is_covered`, rule.is_covered);
  if (rule.is_covered === false) return line('coverage', 'not covered', [covered]);
  const facts = [covered, active];
  if (rule.is_covered !== true) return line('coverage', 'coverage unknown', facts);
  return line('coverage', plan?.is_active === true ? 'covered' : 'covered, if the plan is active, which is unknown', facts);
}

function shareLine({ rule, path }: Facts): EstimateLine {
  const facts = [
    fact(`${path}.benefits.plan_pays_percent`, rule.plan_pays_percent),
    fact(`${path}.benefits.patient_pays_percent`, rule.patient_pays_percent),
    fact(`${path}.benefits.copay`, rule.copay),
    fact(`${path}.benefits.is_downgraded`, rule.is_downgraded),
  ];
  const plan = numberOf(rule.plan_pays_percent) ?? complement(numberOf(rule.patient_pays_percent));
  const copay = amountOf(rule.copay);
  // Beside a copay, a coinsurance of nothing is the absence of one, and not a plan that pays everything.
  const no_coinsurance = copay !== null && rule.patient_pays_percent === 0;
  const shares =
    plan === null ? wordsOf(rule) : no_coinsurance ? 'no coinsurance' : `plan pays ${plan}%, patient ${complement(plan)}%`;
  const parts = [
    ...(copay === null ? [] : [`copay ${copay}`]),
    ...(shares === null ? [] : [shares]),
    ...(rule.is_downgraded === true ? ['of a cheaper procedure (downgrade)'] : []),
  ];
  return line('share', shares === null && copay === null ? 'share unknown' : parts.join(', '), facts);
}

function wordsOf({ plan_pays_percent, patient_pays_percent }: BenefitRule): string | null {
  const said = [plan_pays_percent, patient_pays_percent].find((share) => typeof share === 'object' && share !== null);
  return typeof said === 'object' && said !== null ? `share unknown (the payer said "${said.text}")` : null;
}

const numberOf = (share: Percent | null | undefined) => (typeof share === 'number' ? share : null);
const complement = (share: number | null) => (share === null ? null : Math.round((100 - share) * 1e6) / 1e6);

function amountOf(money: Money | null | undefined): string | null {
  return money != null && 'amount' in money ? money.amount : null;
}

/** Preventive care by its number; the classes of the payer are its own. */
const isPreventive = (code: string) => /^D1\d{3}$/.test(code);

function deductibleLine({ record, rule, code, path }: Facts): EstimateLine {
  const waived = fact(`${path}.benefits.is_deductible_waived`, rule.is_deductible_waived);
  if (rule.is_deductible_waived === true) return line('deductible', 'no deductible', [waived]);
  const clause = record.clauses?.deductible_applies_to_preventive;
  if (isPreventive(code) && clause === false) {
    return line('deductible', 'no deductible', [fact('clauses.deductible_applies_to_preventive', clause)]);
  }
  const { maximums } = record;
  const remaining = remainingOf('maximums.individual_deductible', maximums?.individual_deductible);
  if (remaining.amount === null) return line('deductible', 'deductible unknown', [waived, remaining.fact]);
  const says = isNothing(remaining.amount) ? 'deductible met' : `deductible remaining ${remaining.amount}`;
  const is_waiver_open = record.specialty !== 'dental' && rule.is_deductible_waived == null && !isNothing(remaining.amount);
  return line('deductible', is_waiver_open ? `${says}, whether it applies is unknown` : says, [waived, remaining.fact]);
}

function maximumLine(facts: Facts): EstimateLine {
  const { record, code } = facts;
  const { maximums, clauses } = record;
  if (record.specialty !== 'dental') {
    const out = remainingOf('maximums.individual_out_of_pocket_maximum', maximums?.individual_out_of_pocket_maximum);
    if (out.amount === null) return line('maximum', 'out-of-pocket maximum unknown', [out.fact]);
    return line('maximum', isNothing(out.amount) ? 'out-of-pocket maximum met' : `out of pocket remaining ${out.amount}`, [
      out.fact,
    ]);
  }
  if (/^D8\d{3}$/.test(code)) {
    const limit = fact('maximums.orthodontics_coverage_limit', maximums?.orthodontics_coverage_limit);
    const amount = amountOf(maximums?.orthodontics_coverage_limit);
    return line('maximum', `orthodontics maximum ${amount ?? 'unknown'}, what is left of it unknown`, [limit]);
  }
  const clause = clauses?.preventive_applies_to_maximum;
  if (isPreventive(code) && clause === false) {
    return line('maximum', 'does not count toward the maximum', [fact('clauses.preventive_applies_to_maximum', clause)]);
  }
  const left = remainingOf('maximums.coverage_limit', maximums?.coverage_limit);
  const says =
    left.amount === null ? 'maximum unknown' : isNothing(left.amount) ? 'maximum used up' : `maximum remaining ${left.amount}`;
  const pending = clauses?.has_pending_claims === true && left.amount !== null;
  return line('maximum', pending ? `${says} before pending claims` : says, [
    left.fact,
    ...(pending ? [fact('clauses.has_pending_claims', true)] : []),
  ]);
}

function remainingOf(path: string, allowance: Allowance | undefined): { amount: string | null; fact: Fact } {
  return { amount: amountOf(allowance?.remaining), fact: fact(`${path}.remaining`, allowance?.remaining) };
}

const isNothing = (amount: string) => /^0+\.0+$/.test(amount);

function frequencyLine({ rule, entry, path }: Facts, date: string): EstimateLine {
  const text = rule.frequency_limitations;
  const said = fact(`${path}.benefits.frequency_limitations`, text);
  if (text == null) return line('frequency', 'frequency unknown', [said]);
  if (readFrequency(text, false)?.kind === 'unlimited') return line('frequency', 'no frequency limit', [said]);
  const next = entry?.next_eligible;
  if (next === undefined) return line('frequency', `frequency "${text}", whether it is met unknown`, [said]);
  const facts = [said, fact(`${path}.next_eligible`, next)];
  if (next.standing === 'used_up') return line('frequency', 'frequency used up', facts);
  const waits = next.date !== null && next.date > date;
  return line('frequency', waits ? `frequency met: next eligible ${next.date}` : 'within the frequency', facts);
}

function authorizationLine({ rule, path }: Facts): EstimateLine {
  const facts = [
    fact(`${path}.benefits.is_prior_auth_required`, rule.is_prior_auth_required),
    fact(`${path}.benefits.prior_auth_info`, rule.prior_auth_info),
  ];
  if (rule.is_prior_auth_required == null) return line('prior_authorization', 'prior authorization unknown', facts);
  return line(
    'prior_authorization',
    rule.is_prior_auth_required ? 'prior authorization required' : 'no prior authorization',
    facts,
  );
}

function waitingLine({ record }: Facts): EstimateLine {
  const text = record.clauses?.waiting_periods;
  const facts = [fact('clauses.waiting_periods', text)];
  if (text == null) return line('waiting_period', 'waiting period unknown', facts);
  if (/^(?:none|no|no waiting periods?|no wait|waived)\.?$/i.test(text.trim()))
    return line('waiting_period', 'no waiting period', facts);
  return line('waiting_period', `waiting periods "${text}", whether they are over unknown`, facts);
}
