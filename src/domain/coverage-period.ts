import type { CoverageInput, CoveragePeriod } from './appointment.ts';
import { addDays, instantOf, isDate, type LocalDate } from './time.ts';

/** Days from here on are how databases write "no end"; years beyond 9999 have another form. */
const NO_END = '9000-01-01';

/**
 * The period from the first and through the last day of a coverage in the clinic's zone. Undefined
 * when neither is a day, so that the coverage holds always.
 */
export function coveragePeriod(
  first: LocalDate | null,
  last: LocalDate | null,
  time_zone: string,
): CoveragePeriod | undefined {
  const midnight = (day: LocalDate) => new Date(instantOf(day, 0, time_zone)).toISOString();
  const from = first !== null && isDate(first) ? midnight(first) : null;
  const until = last !== null && isDate(last) && last < NO_END ? midnight(addDays(last, 1)) : null;
  return from === null && until === null ? undefined : { from, until };
}

/**
 * The coverages that hold at `at` (ISO 8601 UTC), in their order, for every connector. When none
 * does, all of them: front desks forget to extend a coverage, and the payer knows best.
 */
export function inForce(coverages: readonly CoverageInput[], at: string): CoverageInput[] {
  const moment = Date.parse(at);
  const held = coverages.filter(({ period }) => {
    if (period === undefined) return true;
    const { from, until } = period;
    return (
      (from === null || Date.parse(from) <= moment) &&
      (until === null || moment < Date.parse(until))
    );
  });
  return held.length > 0 ? held : [...coverages];
}

/** The same for a claim, on its day of service; all of them when that is unknown. */
export function inForceOn(
  coverages: readonly CoverageInput[],
  day: LocalDate | null,
): CoverageInput[] {
  // Noon in UTC is the same day everywhere in the United States.
  return day === null ? [...coverages] : inForce(coverages, `${day}T12:00:00.000Z`);
}
