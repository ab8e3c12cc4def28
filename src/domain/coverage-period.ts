import type { CoverageInput, CoveragePeriod } from './appointment.ts';
import { addDays, instantOf, isDate, type LocalDate } from './time.ts';

/** Databases write "no end" as a day from here on; years beyond 9999 have another form. */
const NO_END = '9000-01-01';

/**
 * Returns the period from the first through the last day of a coverage in the clinic's time zone.
 * Undefined when neither is a date, so that the coverage is always in force.
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
 * Returns the coverages that are in force at `at` (ISO 8601 UTC), in order. When none is, returns
 * all of them: front desks forget to extend a coverage, and the payer knows best.
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

/** Returns the coverages in force on a claim's date of service; all when that date is unknown. */
export function inForceOn(
  coverages: readonly CoverageInput[],
  day: LocalDate | null,
): CoverageInput[] {
  // Noon UTC is on the same day everywhere in the United States.
  return day === null ? [...coverages] : inForce(coverages, `${day}T12:00:00.000Z`);
}
