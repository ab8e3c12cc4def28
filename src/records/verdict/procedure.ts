/** What one scheduled procedure comes to: every reason that the record gives, weighed. */

import { addDays, addMonths } from '../../domain/time.ts';
import { type AgeRule, ageAllows, ageOn, readAgeWords, upToAge } from '../ages.ts';
import { saidOn } from '../earlier.ts';
import type { EligibilityRecord, Money } from '../eligibility.ts';
import { readWaitingPeriods } from '../frequency/waiting.ts';
import { type ProcedureFacts, said } from './facts.ts';
import { frequencyReasons, limitsOf } from './limits.ts';
import {
  centsOfMoney,
  copayWords,
  isLeftOpen,
  isUnanswered,
  maximumLeft,
  mayBeGone,
} from './money.ts';
import { americanDay, type Fact, fact, shortDay, type Weighed } from './reasons.ts';
import { isUnreadOfCode } from './unread.ts';

/** Every reason of the procedure's own; none means that the plan pays for it. */
export function procedureReasons(facts: ProcedureFacts): Weighed[] {
  const { rule, conflicts } = facts;
  if (facts.entries.every(({ entry }) => !entry.answered)) return [silent(facts)];
  if (rule.is_covered === false && !conflicts.includes('is_covered'))
    return [notCovered(facts), ...sourceReasons(facts)];
  if (conflicts.length > 0) return [conflicting(facts)];
  return [
    ...sourceReasons(facts),
    ...coverageReasons(facts),
    ...ageReasons(facts),
    ...frequencyReasons(facts),
    ...waitingReasons(facts),
    ...maximumReasons(facts),
    ...authorizationReasons(facts),
    ...downgradeReasons(facts),
  ];
}

/** Of terms that were not asked about again: since when they are known, and from where. */
function sourceReasons({ code, earlier, record }: ProcedureFacts): Weighed[] {
  if (earlier === null) return [];
  const whom = earlier.about === 'patient' ? '' : ' about the same plan of another patient';
  return [
    {
      code: 'said_earlier',
      effect: 'source',
      text: `The benefit for ${code} is from the call on ${saidOn(earlier)}${whom}.`,
      facts: [
        fact(`earlier[${(record.earlier ?? []).indexOf(earlier)}].said_on`, earlier.said_on),
        fact('plan.plan_name', record.plan?.plan_name),
      ],
    },
  ];
}

function silent(facts: ProcedureFacts): Weighed {
  const { code } = facts;
  const is_asked = isAsked(facts);
  return {
    code: is_asked ? 'not_answered' : 'not_asked',
    effect: 'unknown',
    text: is_asked
      ? `The payer was asked about ${code} and did not answer.`
      : `The payer was not asked about ${code}.`,
    facts: said(facts, 'is_covered'),
  };
}

function isAsked({ entries, record, code }: ProcedureFacts): boolean {
  return (
    entries.some(({ entry }) => entry.asked) ||
    record.asked.benefits_codes.some((one) => {
      const plain = one.trim().toUpperCase();
      return plain === code || `D${plain}` === code;
    })
  );
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

/** The shares of plan and patient were both said, and are not the whole together. */
function haveTwoShares({ rule }: Pick<ProcedureFacts, 'rule'>): boolean {
  const [plan, patient] = [rule.plan_pays_percent, rule.patient_pays_percent];
  return (
    typeof plan === 'number' && typeof patient === 'number' && roundPercent(plan + patient) !== 100
  );
}

/**
 * Words about what the patient pays that no number explains: a copay, which would replace the
 * share, or one of the shares where the other one is a number.
 */
function shareInWords({ rule }: Pick<ProcedureFacts, 'rule'>): string | null {
  const copay = copayWords(rule.copay);
  if (copay !== null) return copay;
  const patient = patientPercent({ rule });
  const words = [rule.plan_pays_percent, rule.patient_pays_percent].find(
    (share) => share != null && typeof share === 'object',
  );
  if (patient === null || words === undefined || typeof words !== 'object') return null;
  const numbers = words?.text.match(/\d+(?:\.\d+)?/g)?.map(Number) ?? [];
  const shares = [patient, roundPercent(100 - patient)];
  const is_explained = numbers.length > 0 && numbers.every((each) => shares.includes(each));
  return is_explained || isUnanswered(words) ? null : (words?.text ?? null);
}

/** What the patient pays when the plan pays; null: it was not said, or in words, or twice. */
export function shareOf(
  facts: Pick<ProcedureFacts, 'rule'>,
): { copay: number | null; patient_percent: number | null } | null {
  const copay = centsOfMoney(facts.rule.copay);
  const patient_percent = patientPercent(facts);
  if (copay === null && patient_percent === null) return null;
  if (haveTwoShares(facts) || shareInWords(facts) !== null) return null;
  return { copay, patient_percent };
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
  if (shareOf(facts) !== null) return [];
  const words = shareInWords(facts);
  const text =
    words === null
      ? `${code} is covered, but the payer did not say how much the plan pays.`
      : `${code} is covered. Ask what the patient pays; the payer said: "${words}"`;
  const is_twice = haveTwoShares(facts);
  return [
    {
      code: is_twice ? 'conflicting' : 'not_answered',
      effect: 'unknown',
      text: is_twice
        ? `The payer named ${rule.plan_pays_percent}% for the plan and ` +
          `${rule.patient_pays_percent}% for the patient.`
        : text,
      facts: said(facts, 'plan_pays_percent', 'patient_pays_percent', 'copay'),
    },
  ];
}

function ageReasons(facts: ProcedureFacts): Weighed[] {
  const { rule, visit } = facts;
  const limit = rule.age_limit;
  const rules: { rule: AgeRule | null; words: string; facts: Fact[] }[] = [];
  if (limit != null) {
    const read = typeof limit === 'number' ? upToAge(limit) : readAgeWords(limit.text);
    const words = typeof limit === 'number' ? `age limit ${limit}` : `age limit "${limit.text}"`;
    if (read !== 'none') rules.push({ rule: read, words, facts: said(facts, 'age_limit') });
  }
  for (const { name, words, frequency } of limitsOf(facts)) {
    const read = frequency === 'words' ? null : frequency.age;
    if (read !== null) rules.push({ rule: read, words: `"${words}"`, facts: said(facts, name) });
  }
  const age = visit.birth_date === null ? null : ageOn(visit.birth_date, visit.date);
  return rules.flatMap(({ rule: one, words, facts: rests_on }): Weighed[] => {
    const allowed = one === null || age === null ? 'open' : ageAllows(one, age);
    if (allowed === 'yes') return [];
    const text =
      allowed === 'no'
        ? `Not payable on ${shortDay(visit.date)}: ${words}; the patient is ${age} that day.`
        : `Ask the payer whether the patient is within the ${words}.`;
    return [
      { code: 'age_limit', effect: allowed === 'no' ? 'no' : 'unknown', text, facts: rests_on },
    ];
  });
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

/** Of a dental plan. `open`: the payer said in words what is left, and they may mean nothing. */
function maximumState({ specialty, maximums }: EligibilityRecord): 'left' | 'open' | 'used_up' {
  const limit = maximums?.coverage_limit;
  if (specialty !== 'dental' || limit === undefined) return 'left';
  if (isLeftOpen(limit)) return 'open';
  const left = maximumLeft(limit);
  return left !== null && left.high <= 0 ? 'used_up' : 'left';
}

const remainingFact = ({ maximums }: EligibilityRecord) =>
  fact('maximums.coverage_limit.remaining', maximums?.coverage_limit?.remaining);

function openMaximum(record: EligibilityRecord): Weighed {
  const { amount, remaining } = record.maximums?.coverage_limit ?? {};
  if (remaining == null)
    return goneInWords('the maximum', amount, 'maximums.coverage_limit.amount');
  const path = 'maximums.coverage_limit.remaining';
  return goneInWords('what is left of the maximum', remaining, path);
}

function goneInWords(what: string, said_of_it: Money | null | undefined, path: string): Weighed {
  const words = said_of_it != null && 'text' in said_of_it ? said_of_it.text : '';
  return {
    code: 'maximum_used_up',
    effect: 'unknown',
    text: `The payer said of ${what}: "${words}". It may be used up.`,
    facts: [fact(path, said_of_it)],
  };
}

/** Of the plan as a whole: some procedures may not count toward the maximum. */
export function usedUpMaximum(record: EligibilityRecord): Weighed[] {
  const state = maximumState(record);
  if (state === 'left') return [];
  if (state === 'open') return [openMaximum(record)];
  const text = 'The maximum is used up, and what counts toward it is unknown.';
  return [{ code: 'maximum_used_up', effect: 'unknown', text, facts: [remainingFact(record)] }];
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
  if (isOrthodontic(code) && mayBeGone(orthodontic)) {
    const path = 'maximums.orthodontics_coverage_limit';
    return [goneInWords('the orthodontics maximum', orthodontic, path)];
  }
  const counts = countsTowardMaximum(record, code);
  const state = counts === false ? 'left' : maximumState(record);
  if (state === 'left') return [];
  if (state === 'open') return [openMaximum(record)];
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
        remainingFact(record),
        ...(isPreventive(code) ? [fact('clauses.preventive_applies_to_maximum', clause)] : []),
      ],
    },
  ];
}

function authorizationReasons(facts: ProcedureFacts): Weighed[] {
  const { rule, code } = facts;
  // "No" is an answer; no flag, asked for or not, leaves it undecided.
  if (rule.is_prior_auth_required === false) return [];
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
  return [
    {
      code: isAsked(facts) ? 'not_answered' : 'not_asked',
      effect: 'unknown',
      text:
        rule.is_prior_auth_required === null
          ? `The payer did not say whether prior authorization is required.${quote}`
          : `Nobody asked whether ${code} requires prior authorization.${quote}`,
      facts: rests_on,
    },
  ];
}

const NO_DOWNGRADE = /^(?:none|no|no downgrades?|not downgraded|does not apply|n\/?a)\.?$/i;

function downgradeReasons(facts: ProcedureFacts): Weighed[] {
  const { rule, record } = facts;
  const is_unreadable = rule.is_downgraded === null && isUnreadOfCode(record, 'is_downgraded');
  const info = rule.downgraded_info ?? null;
  // Words without their flag, and a flag in words, say that there may be one.
  const is_named =
    rule.is_downgraded == null &&
    (is_unreadable || (info !== null && !NO_DOWNGRADE.test(info.trim())));
  if (rule.is_downgraded !== true && !is_named) return [];
  return [
    {
      code: 'downgrade',
      effect: 'note',
      text:
        (is_named
          ? 'The plan may pay for a cheaper procedure instead; ask what the patient would owe.'
          : 'The plan pays for a cheaper procedure instead; the patient owes the difference.') +
        (info === null ? '' : ` The payer said: "${info}"`),
      facts: said(facts, 'is_downgraded', 'downgraded_info'),
    },
  ];
}

const REMARKS = [
  ['prior_auth_info', 'Also said of prior authorization'],
  ['downgraded_info', 'Also said of a downgrade'],
  ['more_info', 'Also said'],
  ['limitations', 'Also said'],
] as const;

/** What else the payer said of the code and no reason quotes; nothing of it is read. */
export function remarksOf({ entries }: ProcedureFacts, reasons: readonly Weighed[]): string[] {
  const remarks = entries.flatMap(({ entry: { benefits } }) =>
    REMARKS.flatMap(([name, label]) => {
      const words = benefits[name];
      const is_quoted = reasons.some(({ text }) => text.includes(`said: "${words}"`));
      return words == null || is_quoted ? [] : [`${label}: "${words}"`];
    }),
  );
  return [...new Set(remarks)];
}
