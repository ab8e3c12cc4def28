/** Judges one scheduled procedure by every reason in the record. */

import { addDays, addMonths } from '../../domain/time.ts';
import { type AgeRule, ageAllows, ageOn, readAgeWords, upToAge } from '../ages.ts';
import { saidOn } from '../earlier.ts';
import { readWaitingPeriods } from '../frequency/waiting.ts';
import { isInapplicable, isNone } from '../none-words.ts';
import { type ProcedureFacts, said } from './facts.ts';
import { frequencyReasons, limitsOf } from './limits.ts';
import { maximumReasons } from './maximum.ts';
import { americanDay, type Fact, fact, shortDay, type Weighed } from './reasons.ts';
import { shareReasons } from './share.ts';
import { codeWords } from './unread.ts';

/** Returns the reasons that concern this procedure; none means that the plan pays for it. */
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

/** For terms from an earlier call, names that call. */
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
      ? `The insurance company was asked about ${code} and did not answer.`
      : `The insurance company was not asked about ${code}.`,
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
    text: `The insurance company gave two answers about ${facts.code} that contradict each other.`,
    facts: said(facts, ...facts.conflicts),
  };
}

function notCovered(facts: ProcedureFacts): Weighed {
  const info = facts.rule.more_info;
  return {
    code: 'not_covered',
    effect: 'no',
    text: `Not covered.${info == null ? '' : ` The insurance company said: "${info}"`}`,
    facts: said(facts, 'is_covered', ...(info == null ? [] : (['more_info'] as const))),
  };
}

function coverageReasons(facts: ProcedureFacts): Weighed[] {
  const { rule, code } = facts;
  if (rule.is_covered !== true) {
    const found = codeWords(facts, 'is_covered');
    return [
      {
        code: 'not_answered',
        effect: 'unknown',
        text:
          found === null
            ? `The insurance company did not say whether ${code} is covered.`
            : `Ask whether ${code} is covered. The insurance company said: "${found.words}"`,
        facts: [...said(facts, 'is_covered'), ...(found === null ? [] : [found.rests_on])],
      },
    ];
  }
  return shareReasons(facts);
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
        : `Ask the insurance company whether the patient is within the ${words}.`;
    return [
      { code: 'age_limit', effect: allowed === 'no' ? 'no' : 'unknown', text, facts: rests_on },
    ];
  });
}

/**
 * A waiting period in words is over once the coverage is older than the longest period. For newer
 * coverage it is unknown for every code, because payers classify codes differently.
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

function authorizationReasons(facts: ProcedureFacts): Weighed[] {
  const { rule, code } = facts;
  // "No" is an answer. Without the flag, asked or not, it is undecided.
  if (rule.is_prior_auth_required === false) return [];
  const info = rule.prior_auth_info;
  const quote = info == null ? '' : ` The insurance company said: "${info}"`;
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
  const found = codeWords(facts, 'is_prior_auth_required');
  if (found !== null)
    return [
      {
        code: 'not_answered',
        effect: 'unknown',
        text:
          'Ask whether prior authorization is required. ' +
          `The insurance company said: "${found.words}"${quote}`,
        facts: [...rests_on, found.rests_on],
      },
    ];
  return [
    {
      code: isAsked(facts) ? 'not_answered' : 'not_asked',
      effect: 'unknown',
      text:
        rule.is_prior_auth_required === null
          ? `The insurance company did not say whether prior authorization is required.${quote}`
          : `eligd did not ask whether ${code} requires prior authorization.${quote}`,
      facts: rests_on,
    },
  ];
}

const NO_DOWNGRADE = new Set(['no', 'no downgrade', 'no downgrades', 'not downgraded']);
const saysNoDowngrade = (info: string) => isNone(info, NO_DOWNGRADE) || isInapplicable(info);

function downgradeReasons(facts: ProcedureFacts): Weighed[] {
  const { rule } = facts;
  const is_unreadable = rule.is_downgraded === null && codeWords(facts, 'is_downgraded') !== null;
  const info = rule.downgraded_info ?? null;
  // Words without their flag, and a flag in words, suggest a downgrade.
  const is_named =
    rule.is_downgraded == null && (is_unreadable || (info !== null && !saysNoDowngrade(info)));
  if (rule.is_downgraded !== true && !is_named) return [];
  return [
    {
      code: 'downgrade',
      effect: 'note',
      text:
        (is_named
          ? 'The plan may pay for a cheaper procedure instead; ask what the patient would owe.'
          : 'The plan pays for a cheaper procedure instead; the patient owes the difference.') +
        (info === null ? '' : ` The insurance company said: "${info}"`),
      facts: said(facts, 'is_downgraded', 'downgraded_info'),
    },
  ];
}

const REMARKS = [
  ['prior_auth_info', 'Also said about prior authorization'],
  ['downgraded_info', 'Also said about a downgrade'],
  ['more_info', 'Also said'],
  ['limitations', 'Also said'],
] as const;

/** Returns the payer's other words about the code, verbatim, that no reason quotes. */
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
