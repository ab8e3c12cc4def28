/** Adds to every code of a record when another treatment is allowed, as far as that can be told. */

import { addDays } from '../domain/time.ts';
import type { EligibilityRecord, NextEligible, Treatment } from './eligibility.ts';
import { firstOutside, isPlaced } from './frequency/history.ts';
import { type FrequencyLimit, readFrequency } from './frequency/read.ts';

type Parts = Pick<EligibilityRecord, 'plan' | 'procedure_codes' | 'treatment_history'>;

/**
 * What history and frequency say together, whatever day the visit is on; a code for which they say
 * nothing for sure stays as it is. `judge` (verdict.ts) weighs the rest on the day of the visit.
 */
export function withNextEligible<Some extends Parts>(parts: Some): Some {
  const { plan, procedure_codes, treatment_history } = parts;
  if (procedure_codes === undefined || treatment_history?.answered !== true) return parts;
  const codes = procedure_codes.codes.map((entry) => {
    const text = entry.benefits.frequency_limitations;
    const frequency = text == null ? null : readFrequency(text, entry.code);
    if (frequency === null || frequency.limits.length > 1) return entry;
    const treatments = treatment_history.treatments.filter(({ code }) => code === entry.code);
    const [limit] = frequency.limits;
    const next_eligible = limit === undefined ? OPEN : nextOf(limit, treatments, plan);
    return next_eligible === null ? entry : { ...entry, next_eligible };
  });
  return { ...parts, procedure_codes: { ...procedure_codes, codes } };
}

const OPEN: NextEligible = { standing: 'open', date: null, counted: [] };

function nextOf(
  { count, period, place, shared, is_shared_in_words, of }: FrequencyLimit,
  treatments: readonly Treatment[],
  plan: Parts['plan'],
): NextEligible | null {
  // Counted by place, or together with other codes: not by this code alone.
  if (place !== null || shared.length > 0 || is_shared_in_words || of !== null) return null;
  if (treatments.some(isPlaced)) return null;
  const is_calendar = plan?.is_calendar_year_plan === true;
  const dates = treatments.map(({ date }) => date).sort();
  const counted = dates.slice(-count);
  const [oldest = ''] = counted;
  const latest = counted.at(-1) ?? '';
  const open: NextEligible = { standing: 'open', date: null, counted: dates };
  switch (period.kind) {
    case 'visit':
      return null;
    case 'year':
    case 'benefit_year':
      if (!is_calendar) return null;
      break;
    default:
  }
  if (dates.length < count) return open;
  const from = (date: string): NextEligible => ({ standing: 'from_date', date, counted });
  switch (period.kind) {
    case 'months':
      return from(firstOutside(oldest, period.months));
    case 'days':
      return from(addDays(oldest, period.days));
    case 'lifetime':
      return { standing: 'used_up', date: null, counted };
    default: {
      const year = Number(latest.slice(0, 4));
      return Number(oldest.slice(0, 4)) === year ? from(`${year + 1}-01-01`) : open;
    }
  }
}
