/** How often a procedure is paid for, and when the next one is. */
import type { BenefitRule, EligibilityRecord } from '../eligibility.ts';
import { type History, type LimitUse, useOf } from '../frequency/history.ts';
import { type Frequency, readFrequency } from '../frequency/read.ts';
import { type ProcedureFacts, said } from './facts.ts';
import { americanDay, type Fact, fact, shortDay, type Weighed } from './reasons.ts';

/** The limit, read; `words` when it cannot be read, null when there is none. */
export function frequencyOf(rule: BenefitRule): Frequency | 'words' | null {
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

export function frequencyReasons(facts: ProcedureFacts): Weighed[] {
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
  if (history === null) {
    const is_asked = facts.record.treatment_history !== undefined;
    const text =
      is_asked || facts.earlier === null
        ? `Limit "${words}", and the payer gave no treatment history.`
        : `Limit "${words}"; the payer was not asked again what is used of it. Check the chart.`;
    return open(text, [
      fact('treatment_history.answered', facts.record.treatment_history?.answered),
    ]);
  }
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
