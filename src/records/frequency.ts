/** Adds to each code of a record when another treatment is allowed, if this is certain. */
import type { EligibilityRecord, NextEligible } from './eligibility.ts';
import { type History, historyOf, type LimitUse, useOnAnyDay } from './frequency/history.ts';
import { readFrequency } from './frequency/read.ts';

type Parts = Pick<EligibilityRecord, 'plan' | 'procedure_codes' | 'treatment_history'>;

/**
 * Combines history and frequency independently of the day of the visit. A code without a certain
 * result stays unchanged. `judge` (verdict.ts) evaluates the rest for the day of the visit.
 */
export function withNextEligible<Some extends Parts>(
  parts: Some,
  unparsed: EligibilityRecord['unparsed'],
): Some {
  const { plan, procedure_codes, treatment_history } = parts;
  const history = historyOf({ treatment_history, unparsed });
  if (procedure_codes === undefined || history === null) return parts;
  const is_calendar = plan?.is_calendar_year_plan ?? null;
  const codes = procedure_codes.codes.map((entry) => {
    const next_eligible = nextOf(entry.benefits.frequency_limitations, entry.code, {
      history,
      plan: { is_calendar },
    });
    return next_eligible === null ? entry : { ...entry, next_eligible };
  });
  return { ...parts, procedure_codes: { ...procedure_codes, codes } };
}

function nextOf(
  words: string | null | undefined,
  code: string,
  moment: { history: History; plan: { is_calendar: boolean | null } },
): NextEligible | null {
  const frequency = words == null ? null : readFrequency(words, code);
  if (frequency === null || frequency.limits.length > 1) return null;
  const [limit] = frequency.limits;
  if (limit === undefined) return { standing: 'open', date: null, counted: [] };
  const use = useOnAnyDay(limit, code, moment);
  return use === null ? null : asField(use, limit.count);
}

function asField({ standing, counted, next }: LimitUse, count: number): NextEligible {
  if (standing !== 'used') return { standing: 'open', date: null, counted };
  const last = counted.slice(-count);
  return next === null
    ? { standing: 'used_up', date: null, counted: last }
    : { standing: 'from_date', date: next, counted: last };
}
