/** How often a procedure is paid for, and when the next one is. */
import type { BenefitRule, EligibilityRecord } from '../eligibility.ts';
import { type History, type LimitUse, useOf } from '../frequency/history.ts';
import { type Frequency, readFrequency } from '../frequency/read.ts';
import { numberOf, tokensOf } from '../frequency/tokens.ts';
import { type ProcedureFacts, said } from './facts.ts';
import { americanDay, type Fact, fact, shortDay, type Weighed } from './reasons.ts';

/** The limit, read; `words` when it cannot be read, null when there is none. */
function frequencyOf(rule: BenefitRule, code: string): Frequency | 'words' | null {
  if (rule.frequency_limitations == null) return null;
  return readFrequency(rule.frequency_limitations, code) ?? 'words';
}

const anyOf = (...words: string[]) => new RegExp(String.raw`\b(?:${words.join('|')})\b`, 'i');

/** Words that limit how often, when, or at what age, if there is a number with them. */
const LIMITING_NUMBER = anyOf(
  ...['per', 'every', 'each', 'annual\\w*', 'year\\w*', 'month\\w*', 'weeks?', 'days?', 'lifetime'],
  ...['max\\w*', 'limit\\w*', 'exceed', 'combined', 'within', 'first', 'up to', 'over', 'under'],
  ...['above', 'below', 'older', 'younger', 'through', 'until', 'between', 'ages?', 'aged'],
);
/** Words that may exclude a patient or a treatment without a number. */
const EXCLUDING = anyOf(
  ...['once', 'twice', 'only', 'never', 'child', 'children', 'adults?', 'dependents?', 'minors'],
  ...['pediatric', 'no benefits?', 'not(?! (?:required|needed|subject|applicable|limited)\\b)'],
);

/**
 * Where a limit in other words ("20 visits per calendar year") reads as one, it is one; where it
 * may exclude the visit and cannot be read, it is one in words. Anything else is a remark.
 */
function limitationsOf({ limitations }: BenefitRule, code: string): Frequency | 'words' | null {
  if (limitations == null) return null;
  const read = readFrequency(limitations, code);
  if (read !== null) return read.limits.length === 0 && read.age === null ? null : read;
  const has_number = (tokensOf(limitations) ?? []).some((token) => numberOf(token) !== null);
  const is_limit = has_number && LIMITING_NUMBER.test(limitations);
  return is_limit || EXCLUDING.test(limitations) ? 'words' : null;
}

export function historyOf({ treatment_history, unparsed }: EligibilityRecord): History | null {
  if (treatment_history?.answered !== true) return null;
  const is_whole = !unparsed.some(({ path }) => path.startsWith('results.treatment_history'));
  return { treatments: treatment_history.treatments, is_whole };
}

type NamedLimit = {
  name: 'frequency_limitations' | 'limitations';
  words: string;
  frequency: Frequency | 'words';
};

/** What was done before does not count. */
const NO_HISTORY: History = { treatments: [], is_whole: true };

/** What was said of how often, in either field. */
export function limitsOf({ rule, code }: ProcedureFacts): NamedLimit[] {
  const own = frequencyOf(rule, code);
  const other = limitationsOf(rule, code);
  const { frequency_limitations, limitations } = rule;
  return [
    ...(own === null || frequency_limitations == null
      ? []
      : [{ name: 'frequency_limitations', words: frequency_limitations, frequency: own } as const]),
    ...(other === null || limitations == null
      ? []
      : [{ name: 'limitations', words: limitations, frequency: other } as const]),
  ];
}

export const frequencyReasons = (facts: ProcedureFacts): Weighed[] =>
  limitsOf(facts).flatMap((limit) => limitReason(facts, limit));

const useOn = (facts: ProcedureFacts, frequency: Frequency, history: History): LimitUse =>
  useOf(frequency, facts.code, {
    day: facts.visit.date,
    history,
    plan: { is_calendar: facts.record.plan?.is_calendar_year_plan ?? null },
    planned: facts.visit.planned,
  });

function limitReason(facts: ProcedureFacts, { name, words, frequency }: NamedLimit): Weighed[] {
  const rests_on = said(facts, name);
  const open = (text: string, more: Fact[] = []): Weighed[] => [
    { code: 'frequency', effect: 'unknown', text, facts: [...rests_on, ...more] },
  ];
  if (frequency === 'words')
    return open(`Limit in words: "${words}". Ask the payer whether the visit is within it.`);
  const is_of_visit = frequency.limits.every(({ period }) => period.kind === 'visit');
  const history = is_of_visit ? NO_HISTORY : historyOf(facts.record);
  if (history === null) {
    const is_asked = facts.record.treatment_history !== undefined;
    const text =
      is_asked || facts.earlier === null
        ? `Limit "${words}", and the payer gave no treatment history.`
        : `Limit "${words}"; eligd did not ask again how much of it is used. Check the chart.`;
    return open(text, [
      fact('treatment_history.answered', facts.record.treatment_history?.answered),
    ]);
  }
  const use = useOn(facts, frequency, history);
  const on_file = fact('treatment_history.treatments', treatmentsOf(facts, use));
  if (use.standing === 'free') return [];
  if (use.standing === 'short')
    return [
      {
        code: 'frequency',
        effect: 'partly',
        text: `Limit "${words}": the visit has more than the plan pays for.`,
        facts: [...rests_on, on_file],
      },
    ];
  if (use.standing === 'open')
    return open(`Limit "${words}": the treatment history does not show whether it is used up.`, [
      on_file,
    ]);
  const next = use.next === null ? '' : ` Next: ${americanDay(use.next)}.`;
  const ends = endsBefore(facts, use.next);
  return [
    {
      code: 'frequency',
      effect: 'no',
      text:
        `Not payable on ${shortDay(facts.visit.date)}: ${words}, ${usedWords(use)}.` +
        (ends === null ? next : ` The plan ends on ${americanDay(ends)}, before the next one.`),
      facts: [
        ...rests_on,
        on_file,
        ...(ends === null ? [] : [fact('plan.termination_date', ends)]),
      ],
    },
  ];
}

/** The last day of the plan, when it is before the day on which a limit allows another one. */
function endsBefore({ record }: ProcedureFacts, next: string | null): string | null {
  const ends = record.plan?.termination_date ?? null;
  return ends !== null && next !== null && ends < next ? ends : null;
}

/**
 * The day from which the plan pays for the procedure again: null unless it is known, and nothing
 * but limits that are used up (`reasons`) stands in the way.
 */
export function nextEligibleOf(facts: ProcedureFacts, reasons: readonly Weighed[]): string | null {
  const noes = reasons.filter(({ effect }) => effect === 'no');
  const history = historyOf(facts.record);
  if (noes.length === 0 || noes.some(({ code }) => code !== 'frequency') || history === null)
    return null;
  const nexts = limitsOf(facts).flatMap(({ frequency }) => {
    const use = frequency === 'words' ? null : useOn(facts, frequency, history);
    return use?.standing === 'used' ? [use.next] : [];
  });
  const next = nexts.includes(null) ? null : (nexts.map(String).sort().at(-1) ?? null);
  return endsBefore(facts, next) === null ? next : null;
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
