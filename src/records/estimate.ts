/**
 * What a front desk wants to know about each scheduled procedure, worked out of an eligibility
 * record. Pure, and explained: every line names the facts of the record that it rests on, and says
 * "unknown" where one is missing (G8). It is an estimate of what was said on the telephone and
 * never a guarantee; whoever shows it shows the caution with it (`estimateSentences`).
 */
import type {
  Allowance,
  BenefitRule,
  EligibilityRecord,
  Money,
  Percent,
  ProcedureCodeBenefits,
} from './eligibility.ts';
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

/** `date`: the day of the visit that it is about, `YYYY-MM-DD`. */
export type ProcedureEstimate = { code: string; date: string; lines: EstimateLine[] };

export type EstimateLine = {
  topic: EstimateTopic;
  /** A short phrase; with `unknown` in it when a fact is missing. */
  says: string;
  is_known: boolean;
  /**
   * Where in the record the line comes from, with the values as they stand there; what is absent
   * there is null.
   */
  facts: Fact[];
};

export type Fact = { path: string; value: unknown };

/**
 * The day of the visit (`YYYY-MM-DD`, in the clinic's zone) and the codes that are scheduled for
 * it.
 */
export type PlannedVisit = { date: string; procedure_codes: readonly string[] };

/**
 * One estimate per scheduled code, in order; none when the call brought no answer. A code of which
 * nothing was said has lines that say "unknown".
 */
export function estimateVisit(record: EligibilityRecord, visit: PlannedVisit): ProcedureEstimate[] {
  if (record.status !== 'SUCCESS') return [];
  const is_dental = record.specialty === 'dental';
  const codes = new Set(
    visit.procedure_codes
      .map((code) => comparableCode(code, is_dental))
      .filter((code) => code !== ''),
  );
  return [...codes].map((code) => ({
    code,
    date: visit.date,
    lines: linesOf(record, code, visit.date),
  }));
}

/** `D1110: covered; plan pays 80%, patient 20%; …` in one line. */
export function estimateText({ code, lines }: ProcedureEstimate): string {
  return `${code}: ${lines.map(({ says }) => says).join('; ')}`;
}

/**
 * One text for each procedure, and the caution that belongs to them; nothing where there is no
 * estimate.
 */
export function estimateSentences(estimates: readonly ProcedureEstimate[]): string[] {
  return estimates.length === 0 ? [] : [...estimates.map(estimateText), ESTIMATE_CAUTION];
}

/** What the lines of one code look at. */
type Facts = {
  record: EligibilityRecord;
  code: string;
  /** What was said of the code; more than one when it was answered more than once. */
  entries: { path: string; entry: ProcedureCodeBenefits }[];
  /** Of what was said, that on which all entries agree. */
  rule: BenefitRule;
};

function factsOf(record: EligibilityRecord, code: string): Facts {
  const entries = (record.procedure_codes?.codes ?? []).flatMap((entry, index) =>
    entry.code === code ? [{ path: `procedure_codes.codes[${index}]`, entry }] : [],
  );
  const [first, ...others] = entries.map(({ entry }) => entry.benefits);
  const agreed = Object.entries(first ?? {}).filter(([name, value]) =>
    others.every(
      (other) => JSON.stringify(other[name as keyof BenefitRule]) === JSON.stringify(value),
    ),
  );
  return { record, code, entries, rule: Object.fromEntries(agreed) };
}

function linesOf(record: EligibilityRecord, code: string, date: string): EstimateLine[] {
  const facts = factsOf(record, code);
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

/** What was said of the code under a name, as it stands in the record. */
function said({ code, entries }: Facts, ...names: (keyof BenefitRule)[]): Fact[] {
  if (entries.length === 0)
    return names.map((name) => fact(`procedure_codes.codes[${code}].benefits.${name}`, null));
  return entries.flatMap(({ path, entry }) =>
    names.map((name) => fact(`${path}.benefits.${name}`, entry.benefits[name])),
  );
}

function line(topic: EstimateTopic, says: string, facts: Fact[]): EstimateLine {
  return { topic, says, is_known: !says.includes('unknown'), facts };
}

const fact = (path: string, value: unknown): Fact => ({ path, value: value ?? null });

function coverageLine(facts: Facts, date: string): EstimateLine {
  const { rule } = facts;
  const { plan } = facts.record;
  const active = fact('plan.is_active', plan?.is_active);
  const begins = fact('plan.effective_date', plan?.effective_date);
  const ends = fact('plan.termination_date', plan?.termination_date);
  if (plan?.is_active === false)
    return line('coverage', 'not covered: the plan is not active', [active]);
  if (plan?.termination_date != null && plan.termination_date < date) {
    return line('coverage', `not covered: the plan ends on ${plan.termination_date}`, [ends]);
  }
  if (plan?.effective_date != null && plan.effective_date > date) {
    return line('coverage', `not covered: the plan begins on ${plan.effective_date}`, [begins]);
  }
  const covered = said(facts, 'is_covered');
  if (rule.is_covered === false) return line('coverage', 'not covered', covered);
  if (rule.is_covered !== true) return line('coverage', 'coverage unknown', [...covered, active]);
  const says = [
    'covered',
    ...ageWords(rule.age_limit),
    ...(plan?.is_active === true ? [] : ['if the plan is active, which is unknown']),
  ];
  return line('coverage', says.join(', '), [
    ...covered,
    active,
    ...(rule.age_limit == null ? [] : said(facts, 'age_limit')),
  ]);
}

function ageWords(limit: BenefitRule['age_limit']): string[] {
  if (limit == null) return [];
  return [typeof limit === 'number' ? `up to the age of ${limit}` : `age limit "${limit.text}"`];
}

function shareLine(facts: Facts): EstimateLine {
  const { rule } = facts;
  const [plan, patient] = [numberOf(rule.plan_pays_percent), numberOf(rule.patient_pays_percent)];
  const copay = amountOf(rule.copay);
  const shares = sharesOf(rule, plan, patient, copay !== null);
  const parts = [
    ...(copay === null ? [] : [`copay ${copay}`]),
    ...(shares === null ? [] : [shares]),
    ...(rule.is_downgraded === true ? ['of a cheaper procedure (downgrade)'] : []),
  ];
  return line(
    'share',
    shares === null && copay === null ? 'share unknown' : parts.join(', '),
    said(facts, 'plan_pays_percent', 'patient_pays_percent', 'copay', 'is_downgraded'),
  );
}

function sharesOf(
  rule: BenefitRule,
  plan: number | null,
  patient: number | null,
  has_copay: boolean,
): string | null {
  if (plan === null && patient === null) return wordsOf(rule);
  // Beside a copay, a coinsurance of nothing is the absence of one, and not a plan that pays
  // everything.
  if (has_copay && patient === 0) return 'no coinsurance';
  const rest = complement(patient);
  if (plan !== null && rest !== null && plan !== rest) {
    return `share unknown (the payer said that the plan pays ${plan}% and the patient ${patient}%)`;
  }
  const share = plan ?? rest;
  return `plan pays ${share}%, patient ${complement(share)}%`;
}

function wordsOf({ plan_pays_percent, patient_pays_percent }: BenefitRule): string | null {
  const said = [plan_pays_percent, patient_pays_percent].find(
    (share) => typeof share === 'object' && share !== null,
  );
  return typeof said === 'object' && said !== null
    ? `share unknown (the payer said "${said.text}")`
    : null;
}

const numberOf = (share: Percent | null | undefined) => (typeof share === 'number' ? share : null);
const complement = (share: number | null) =>
  share === null ? null : Math.round((100 - share) * 1e6) / 1e6;

function amountOf(money: Money | null | undefined): string | null {
  return money != null && 'amount' in money ? money.amount : null;
}

/** Preventive care by its number; the classes of the payer are its own. */
const isPreventive = (code: string) => /^D1\d{3}$/.test(code);
/**
 * Of diagnostic and preventive care plans make exceptions, so that what holds in general may not
 * hold for it.
 */
const isOftenExempt = (code: string) => /^D[01]\d{3}$/.test(code);

function deductibleLine(facts: Facts): EstimateLine {
  const { record, rule, code } = facts;
  const waived = said(facts, 'is_deductible_waived');
  if (rule.is_deductible_waived === true) return line('deductible', 'no deductible', waived);
  const clause = record.clauses?.deductible_applies_to_preventive;
  const of_clause = isPreventive(code)
    ? [fact('clauses.deductible_applies_to_preventive', clause)]
    : [];
  if (isPreventive(code) && clause === false) return line('deductible', 'no deductible', of_clause);
  const remaining = remainingOf(
    'maximums.individual_deductible',
    record.maximums?.individual_deductible,
  );
  const all = [...waived, ...of_clause, remaining.fact];
  if (remaining.amount === null) return line('deductible', 'deductible unknown', all);
  if (isNothing(remaining.amount)) return line('deductible', 'deductible met', all);
  const says = `deductible remaining ${remaining.amount}`;
  const applies =
    rule.is_deductible_waived === false ||
    (record.specialty === 'dental' &&
      (!isOftenExempt(code) || (isPreventive(code) && clause === true)));
  return line('deductible', applies ? says : `${says}, whether it applies is unknown`, all);
}

function maximumLine(facts: Facts): EstimateLine {
  const { record, code } = facts;
  const { maximums, clauses } = record;
  if (record.specialty !== 'dental') {
    const out = remainingOf(
      'maximums.individual_out_of_pocket_maximum',
      maximums?.individual_out_of_pocket_maximum,
    );
    if (out.amount === null) return line('maximum', 'out-of-pocket maximum unknown', [out.fact]);
    return line(
      'maximum',
      isNothing(out.amount) ? 'out-of-pocket maximum met' : `out of pocket remaining ${out.amount}`,
      [out.fact],
    );
  }
  if (/^D8\d{3}$/.test(code)) {
    const limit = fact(
      'maximums.orthodontics_coverage_limit',
      maximums?.orthodontics_coverage_limit,
    );
    const amount = amountOf(maximums?.orthodontics_coverage_limit);
    return line(
      'maximum',
      `orthodontics maximum ${amount ?? 'unknown'}, what is left of it unknown`,
      [limit],
    );
  }
  const clause = clauses?.preventive_applies_to_maximum;
  if (isPreventive(code) && clause === false) {
    return line('maximum', 'does not count toward the maximum', [
      fact('clauses.preventive_applies_to_maximum', clause),
    ]);
  }
  const left = remainingOf('maximums.coverage_limit', maximums?.coverage_limit);
  const is_exempt_open = isOftenExempt(code) && !(isPreventive(code) && clause === true);
  const used_up = is_exempt_open
    ? 'maximum used up, whether this counts toward it is unknown'
    : 'maximum used up';
  const says =
    left.amount === null
      ? 'maximum unknown'
      : isNothing(left.amount)
        ? used_up
        : `maximum remaining ${left.amount}`;
  const pending = clauses?.has_pending_claims === true && left.amount !== null;
  return line('maximum', pending ? `${says} before pending claims` : says, [
    left.fact,
    ...(pending ? [fact('clauses.has_pending_claims', true)] : []),
  ]);
}

function remainingOf(
  path: string,
  allowance: Allowance | undefined,
): { amount: string | null; fact: Fact } {
  return {
    amount: amountOf(allowance?.remaining),
    fact: fact(`${path}.remaining`, allowance?.remaining),
  };
}

const isNothing = (amount: string) => /^0+\.0+$/.test(amount);

function frequencyLine(facts: Facts, date: string): EstimateLine {
  const text = facts.rule.frequency_limitations;
  const words = said(facts, 'frequency_limitations');
  if (text == null) return line('frequency', 'frequency unknown', words);
  if (readFrequency(text, false)?.kind === 'unlimited')
    return line('frequency', 'no frequency limit', words);
  // The same text and history give the same date in each of them.
  const next = facts.entries[0]?.entry.next_eligible;
  if (next === undefined)
    return line('frequency', `frequency "${text}", whether it is met unknown`, words);
  const all = [
    ...words,
    ...facts.entries.map(({ path, entry }) => fact(`${path}.next_eligible`, entry.next_eligible)),
  ];
  if (next.standing === 'used_up') return line('frequency', 'frequency used up', all);
  const waits = next.date !== null && next.date > date;
  return line(
    'frequency',
    waits ? `frequency met: next eligible ${next.date}` : 'within the frequency',
    all,
  );
}

function authorizationLine(all: Facts): EstimateLine {
  const { rule } = all;
  const facts = said(all, 'is_prior_auth_required', 'prior_auth_info');
  if (rule.is_prior_auth_required == null)
    return line('prior_authorization', 'prior authorization unknown', facts);
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
