/** What one scheduled procedure comes to: every reason that the record gives, weighed. */

import { addDays, addMonths } from '../../domain/time.ts';
import { type AgeRule, ageAllows, ageOn, readAgeWords, upToAge } from '../ages.ts';
import type { BenefitRule, EligibilityRecord, ProcedureCodeBenefits } from '../eligibility.ts';
import { type History, type LimitUse, useOf } from '../frequency/history.ts';
import { type Frequency, readFrequency } from '../frequency/read.ts';
import { readWaitingPeriods } from '../frequency/waiting.ts';
import { centsOfMoney, maximumLeft } from './money.ts';
import { americanDay, type Fact, fact, shortDay, type Weighed } from './reasons.ts';

export type ProcedureFacts = {
  record: EligibilityRecord;
  code: string;
  /** What was said of the code; more than one when it was answered more than once. */
  entries: { path: string; entry: ProcedureCodeBenefits }[];
  /** The answers joined: where two contradict each other, `conflicts` names the field. */
  rule: BenefitRule;
  conflicts: (keyof BenefitRule)[];
  visit: { date: string; birth_date: string | null };
};

/** Fields in which two answers about one code may not differ. */
const DECIDING: readonly (keyof BenefitRule)[] = [
  'is_covered',
  'is_prior_auth_required',
  'plan_pays_percent',
  'patient_pays_percent',
  'copay',
  'is_deductible_waived',
  'frequency_limitations',
  'age_limit',
  'is_downgraded',
];

export function procedureFacts(
  record: EligibilityRecord,
  code: string,
  visit: ProcedureFacts['visit'],
): ProcedureFacts {
  const entries = (record.procedure_codes?.codes ?? []).flatMap((entry, index) =>
    entry.code === code ? [{ path: `procedure_codes.codes[${index}]`, entry }] : [],
  );
  const rules = entries.map(({ entry }) => entry.benefits);
  const joined: Record<string, unknown> = {};
  for (const rule of rules)
    for (const [name, value] of Object.entries(rule)) joined[name] ??= value;
  const conflicts = DECIDING.filter((name) => {
    const said = rules.map((rule) => rule[name]).filter((value) => value != null);
    return new Set(said.map((value) => JSON.stringify(value).toLowerCase())).size > 1;
  });
  return { record, code, entries, rule: joined as BenefitRule, conflicts, visit };
}

/** What was said of the code under these names, as it stands in the record. */
function said({ code, entries }: ProcedureFacts, ...names: (keyof BenefitRule)[]): Fact[] {
  if (entries.length === 0)
    return names.map((name) => fact(`procedure_codes.codes[${code}].benefits.${name}`, null));
  return entries.flatMap(({ path, entry }) =>
    names.map((name) => fact(`${path}.benefits.${name}`, entry.benefits[name])),
  );
}

/** Every reason of the procedure's own; none means that the plan pays for it. */
export function procedureReasons(facts: ProcedureFacts): Weighed[] {
  const { rule, conflicts } = facts;
  if (facts.entries.every(({ entry }) => !entry.answered)) return [silent(facts)];
  if (rule.is_covered === false && !conflicts.includes('is_covered')) return [notCovered(facts)];
  if (conflicts.length > 0) return [conflicting(facts)];
  return [
    ...coverageReasons(facts),
    ...ageReasons(facts),
    ...frequencyReasons(facts),
    ...waitingReasons(facts),
    ...maximumReasons(facts),
    ...authorizationReasons(facts),
    ...downgradeReasons(facts),
  ];
}

function silent(facts: ProcedureFacts): Weighed {
  const { code, entries, record } = facts;
  const is_asked = entries.some(({ entry }) => entry.asked) || wasAsked(record, code);
  return {
    code: is_asked ? 'not_answered' : 'not_asked',
    effect: 'unknown',
    text: is_asked
      ? `The payer was asked about ${code} and did not answer.`
      : `The payer was not asked about ${code}.`,
    facts: said(facts, 'is_covered'),
  };
}

function wasAsked({ asked }: EligibilityRecord, code: string): boolean {
  return asked.benefits_codes.some((one) => {
    const plain = one.trim().toUpperCase();
    return plain === code || `D${plain}` === code;
  });
}

function conflicting(facts: ProcedureFacts): Weighed {
  return {
    code: 'conflicting',
    effect: 'unknown',
    text: `The payer gave two answers about ${facts.code} that contradict each other.`,
    facts: said(facts, ...facts.conflicts),
  };
}

function notCovered(facts: ProcedureFacts): Weighed {
  const info = facts.rule.more_info;
  return {
    code: 'not_covered',
    effect: 'no',
    text: `Not covered.${info == null ? '' : ` The payer said: "${info}"`}`,
    facts: said(facts, 'is_covered', ...(info == null ? [] : (['more_info'] as const))),
  };
}

/** The patient's share in per cent; null when it was not said, or not as a number. */
export function patientPercent({ rule }: Pick<ProcedureFacts, 'rule'>): number | null {
  const [plan, patient] = [rule.plan_pays_percent, rule.patient_pays_percent];
  if (typeof plan === 'number') return roundPercent(100 - plan);
  return typeof patient === 'number' ? patient : null;
}

const roundPercent = (percent: number) => Math.round(percent * 1e6) / 1e6;

function coverageReasons(facts: ProcedureFacts): Weighed[] {
  const { rule, code } = facts;
  if (rule.is_covered !== true)
    return [
      {
        code: 'not_answered',
        effect: 'unknown',
        text: `The payer did not say whether ${code} is covered.`,
        facts: said(facts, 'is_covered'),
      },
    ];
  const shares = said(facts, 'plan_pays_percent', 'patient_pays_percent', 'copay');
  const [plan, patient] = [rule.plan_pays_percent, rule.patient_pays_percent];
  if (
    typeof plan === 'number' &&
    typeof patient === 'number' &&
    roundPercent(plan + patient) !== 100
  )
    return [
      {
        code: 'conflicting',
        effect: 'unknown',
        text: `The payer named ${plan}% for the plan and ${patient}% for the patient.`,
        facts: shares,
      },
    ];
  if (patientPercent(facts) !== null || centsOfMoney(rule.copay) !== null) return [];
  return [
    {
      code: 'not_answered',
      effect: 'unknown',
      text: `${code} is covered, but the payer did not say how much the plan pays.`,
      facts: shares,
    },
  ];
}

function ageReasons(facts: ProcedureFacts): Weighed[] {
  const { rule, visit } = facts;
  const limit = rule.age_limit;
  const frequency = frequencyOf(rule);
  const in_frequency = frequency === 'words' ? null : (frequency?.age ?? null);
  const rules: { rule: AgeRule | null; words: string; facts: Fact[] }[] = [];
  if (limit != null) {
    const read = typeof limit === 'number' ? upToAge(limit) : readAgeWords(limit.text);
    const words = typeof limit === 'number' ? `age limit ${limit}` : `age limit "${limit.text}"`;
    if (read !== 'none') rules.push({ rule: read, words, facts: said(facts, 'age_limit') });
  }
  if (in_frequency !== null) {
    const words = `"${rule.frequency_limitations}"`;
    rules.push({ rule: in_frequency, words, facts: said(facts, 'frequency_limitations') });
  }
  const age = visit.birth_date === null ? null : ageOn(visit.birth_date, visit.date);
  return rules.flatMap(({ rule: one, words, facts: rests_on }): Weighed[] => {
    const allowed = one === null || age === null ? 'open' : ageAllows(one, age);
    if (allowed === 'yes') return [];
    const text =
      allowed === 'no'
        ? `Not payable on ${shortDay(visit.date)}: ${words}; the patient is ${age} that day.`
        : `Ask the payer: ${words}; whether the patient is within it is unknown.`;
    return [
      { code: 'age_limit', effect: allowed === 'no' ? 'no' : 'unknown', text, facts: rests_on },
    ];
  });
}

/** The limit, read; `words` when it cannot be read, null when there is none. */
function frequencyOf(rule: BenefitRule): Frequency | 'words' | null {
  if (rule.frequency_limitations == null) return null;
  return readFrequency(rule.frequency_limitations) ?? 'words';
}

/** Where a limit in other words ("20 visits per calendar year") reads as one, it is one. */
function limitationsOf({ limitations }: BenefitRule): Frequency | null {
  const read = limitations == null ? null : readFrequency(limitations);
  return read === null || read.limits.length === 0 ? null : read;
}

export function historyOf({ treatment_history, unparsed }: EligibilityRecord): History | null {
  if (treatment_history?.answered !== true) return null;
  const is_whole = !unparsed.some(({ path }) => path.startsWith('results.treatment_history'));
  return { treatments: treatment_history.treatments, is_whole };
}

function frequencyReasons(facts: ProcedureFacts): Weighed[] {
  const { rule } = facts;
  const reasons: Weighed[] = [];
  const own = frequencyOf(rule);
  if (own !== null && rule.frequency_limitations != null)
    reasons.push(...limitReason(facts, own, 'frequency_limitations', rule.frequency_limitations));
  const other = limitationsOf(rule);
  if (other !== null && rule.limitations != null)
    reasons.push(...limitReason(facts, other, 'limitations', rule.limitations));
  return reasons;
}

function limitReason(
  facts: ProcedureFacts,
  frequency: Frequency | 'words',
  name: 'frequency_limitations' | 'limitations',
  words: string,
): Weighed[] {
  const rests_on = said(facts, name);
  const open = (text: string, more: Fact[] = []): Weighed[] => [
    { code: 'frequency', effect: 'unknown', text, facts: [...rests_on, ...more] },
  ];
  if (frequency === 'words')
    return open(`Limit in words: "${words}". Ask the payer whether it is used up.`);
  if (frequency.limits.every(({ period }) => period.kind === 'visit')) return [];
  const history = historyOf(facts.record);
  if (history === null)
    return open(`Limit "${words}", and the payer gave no treatment history.`, [
      fact('treatment_history.answered', facts.record.treatment_history?.answered),
    ]);
  const use = useOf(frequency, facts.code, {
    day: facts.visit.date,
    history,
    plan: { is_calendar: facts.record.plan?.is_calendar_year_plan ?? null },
  });
  const on_file = fact('treatment_history.treatments', treatmentsOf(facts, use));
  if (use.standing === 'free') return [];
  if (use.standing === 'open')
    return open(`Limit "${words}"; whether it is used up cannot be told from the history.`, [
      on_file,
    ]);
  const next = use.next === null ? '' : ` Next: ${americanDay(use.next)}.`;
  return [
    {
      code: 'frequency',
      effect: 'no',
      text: `Not payable on ${shortDay(facts.visit.date)}: ${words}, ${usedWords(use)}.${next}`,
      facts: [...rests_on, on_file],
    },
  ];
}

/** The next day on which the code is allowed, when its limit is used up and a day is known. */
export function nextEligibleOf(facts: ProcedureFacts): string | null {
  const frequency = frequencyOf(facts.rule);
  const history = historyOf(facts.record);
  if (frequency === null || frequency === 'words' || history === null) return null;
  const plan = { is_calendar: facts.record.plan?.is_calendar_year_plan ?? null };
  const use = useOf(frequency, facts.code, { day: facts.visit.date, history, plan });
  return use.standing === 'used' ? use.next : null;
}

function treatmentsOf({ record, code }: ProcedureFacts, { counted }: LimitUse) {
  return (record.treatment_history?.treatments ?? [])
    .filter(({ date }) => counted.includes(date))
    .map(({ date, code: done }) => ({ date, code: done ?? code }));
}

function usedWords({ counted }: LimitUse): string {
  if (counted.length === 1) return `used on ${americanDay(counted[0] ?? '')}`;
  const days = counted.slice(-4).map(americanDay).join(', ');
  return counted.length === 2 ? `both used (${days})` : `all used (${days})`;
}

/**
 * A waiting period in words is over when the coverage is older than the longest one. In a younger
 * coverage each payer has its own classes, so it is unknown for every code.
 */
function waitingReasons({ record, visit }: ProcedureFacts): Weighed[] {
  const words = record.clauses?.waiting_periods;
  if (words == null) return [];
  const periods = readWaitingPeriods(words);
  if (periods.kind === 'none') return [];
  const effective = record.plan?.effective_date ?? null;
  const is_over =
    periods.kind === 'lasts' &&
    effective !== null &&
    addDays(addMonths(effective, periods.months), periods.days) <= visit.date;
  if (is_over) return [];
  const since = effective === null ? 'an unknown day' : americanDay(effective);
  return [
    {
      code: 'waiting_period',
      effect: 'unknown',
      text: `Waiting period: "${words}". Covered since ${since}; ask whether it is over.`,
      facts: [
        fact('clauses.waiting_periods', words),
        fact('plan.effective_date', record.plan?.effective_date),
      ],
    },
  ];
}

/** Preventive care by its number; the classes of the payer are its own. */
export const isPreventive = (code: string) => /^D1\d{3}$/.test(code);
/** Diagnostic care is not named by the clauses about preventive care. */
export const isDiagnostic = (code: string) => /^D0\d{3}$/.test(code);
export const isOrthodontic = (code: string) => /^D8\d{3}$/.test(code);

/** Whether a dental code counts toward the annual maximum; null: nobody said. */
export function countsTowardMaximum(
  { maximums, clauses }: EligibilityRecord,
  code: string,
): boolean | null {
  if (isDiagnostic(code)) return null;
  if (isPreventive(code)) return clauses?.preventive_applies_to_maximum ?? null;
  // Orthodontics has a maximum of its own, when one was said.
  if (isOrthodontic(code) && maximums?.orthodontics_coverage_limit != null) return false;
  return true;
}

function maximumReasons({ record, code }: ProcedureFacts): Weighed[] {
  if (record.specialty !== 'dental') return [];
  const orthodontic = record.maximums?.orthodontics_coverage_limit;
  if (isOrthodontic(code) && centsOfMoney(orthodontic) === 0)
    return [
      {
        code: 'maximum_used_up',
        effect: 'no',
        text: 'Not payable: the orthodontics maximum is $0.',
        facts: [fact('maximums.orthodontics_coverage_limit', orthodontic)],
      },
    ];
  const left = maximumLeft(record.maximums?.coverage_limit);
  if (left === null || left.high > 0) return [];
  const counts = countsTowardMaximum(record, code);
  if (counts === false) return [];
  const clause = record.clauses?.preventive_applies_to_maximum;
  return [
    {
      code: 'maximum_used_up',
      effect: counts === true ? 'no' : 'unknown',
      text:
        counts === true
          ? 'Not payable: the maximum is used up.'
          : `The maximum is used up, and whether ${code} counts toward it is unknown.`,
      facts: [
        fact('maximums.coverage_limit.remaining', record.maximums?.coverage_limit?.remaining),
        ...(isPreventive(code) ? [fact('clauses.preventive_applies_to_maximum', clause)] : []),
      ],
    },
  ];
}

function authorizationReasons(facts: ProcedureFacts): Weighed[] {
  const { rule } = facts;
  const info = rule.prior_auth_info;
  const quote = info == null ? '' : ` The payer said: "${info}"`;
  const rests_on = said(facts, 'is_prior_auth_required', 'prior_auth_info');
  if (rule.is_prior_auth_required === true)
    return [
      {
        code: 'prior_authorization',
        effect: 'authorization',
        text: `The plan pays only after prior authorization.${quote}`,
        facts: rests_on,
      },
    ];
  if (rule.is_prior_auth_required === null)
    return [
      {
        code: 'not_answered',
        effect: 'unknown',
        text: `The payer did not say whether prior authorization is required.${quote}`,
        facts: rests_on,
      },
    ];
  return [];
}

function downgradeReasons(facts: ProcedureFacts): Weighed[] {
  const { rule } = facts;
  if (rule.is_downgraded !== true) return [];
  const info = rule.downgraded_info;
  return [
    {
      code: 'downgrade',
      effect: 'note',
      text:
        'The plan pays for a cheaper procedure instead; the patient owes the difference.' +
        (info == null ? '' : ` The payer said: "${info}"`),
      facts: said(facts, 'is_downgraded', 'downgraded_info'),
    },
  ];
}

/** What else the payer said of the code, quoted: nothing of it is read. */
export function remarksOf({ rule }: ProcedureFacts): string[] {
  return [rule.more_info, rule.limitations].flatMap((words) =>
    words == null ? [] : [`Also said: "${words}"`],
  );
}
