/** Judges how often a procedure is paid for, and when the next one is. */
import { type History, historyOf, type LimitUse, useOf } from '../frequency/history.ts';
import type { Frequency } from '../frequency/read.ts';
import { type ProcedureFacts, said } from './facts.ts';
import { contextOf, frequencyOf, limitationsOf, meaningOf } from './meaning.ts';
import { americanDay, type Fact, fact, shortDay, type Weighed } from './reasons.ts';

type NamedLimit = {
  name: 'frequency_limitations' | 'limitations';
  words: string;
  frequency: Frequency | 'words';
};

/** For limits that earlier treatments do not affect. */
const NO_HISTORY: History = { treatments: [], is_whole: true };

/** What was said of how often, in either field; what both of them say is one limit. */
export function limitsOf({ record, rule, code }: ProcedureFacts): NamedLimit[] {
  const context = contextOf(record, code);
  const found = LIMITING.flatMap(({ name, read }): NamedLimit[] => {
    const words = rule[name];
    const frequency = words == null ? null : read(rule, context);
    return words == null || frequency === null ? [] : [{ name, words, frequency }];
  });
  const [own, other] = found;
  const is_same =
    own !== undefined &&
    other !== undefined &&
    meaningOf(rule, own.name, context) === meaningOf(rule, other.name, context);
  return is_same ? [own] : found;
}

const LIMITING = [
  { name: 'frequency_limitations', read: frequencyOf },
  { name: 'limitations', read: limitationsOf },
] as const;

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
    return open(
      `Limit in words: "${words}". Ask the insurance company whether the visit is within it.`,
    );
  const is_of_visit = frequency.limits.every(({ period }) => period.kind === 'visit');
  const history = is_of_visit ? NO_HISTORY : historyOf(facts.record);
  if (history === null) {
    const is_asked = facts.record.treatment_history !== undefined;
    const text =
      is_asked || facts.earlier === null
        ? `Limit "${words}", and the insurance company gave no treatment history.`
        : `Limit "${words}"; eligd did not ask again how much of the limit is used. ` +
          'Check the chart.';
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
        text: `Limit "${words}": the visit has more procedures than the plan pays for.`,
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

/** Returns the last day of the plan if it is before the day on which a limit allows another one. */
function endsBefore({ record }: ProcedureFacts, next: string | null): string | null {
  const ends = record.plan?.termination_date ?? null;
  return ends !== null && next !== null && ends < next ? ends : null;
}

/**
 * Returns the day from which the plan pays for the procedure again; null if it is unknown, or if
 * any reason other than a used-up limit prevents payment.
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
