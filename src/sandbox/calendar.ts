/**
 * A calendar day as `YYYY-MM-DD`, the sandbox's internal form; `formats.ts` writes the wire's form.
 */
export type Day = string;

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const WIRE_DATE = /^(\d{2})-(\d{2})-(\d{4})$/;

/**
 * Reads the specification's `MM-DD-YYYY`. Undefined for text of another form or for a day that does
 * not exist, such as 02-30-2024.
 */
export function dayOfWire(text: string): Day | undefined {
  const parts = WIRE_DATE.exec(text);
  if (parts === null) return undefined;
  const day = `${parts[3]}-${parts[1]}-${parts[2]}`;
  const instant_ms = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(instant_ms) || dayOf(instant_ms) !== day ? undefined : day;
}

/** Returns the UTC day of an instant. */
export function dayOf(instant_ms: number): Day {
  return new Date(instant_ms).toISOString().slice(0, 10);
}

/** Returns the instant at which a UTC day begins. */
export function startOf(day: Day): number {
  return Date.parse(`${day}T00:00:00Z`);
}

export function addDays(day: Day, days: number): Day {
  return dayOf(startOf(day) + days * DAY_MS);
}

export function yearOf(day: Day): number {
  return Number(day.slice(0, 4));
}

/** Returns the age in whole years on a later day. */
export function ageOn(born: Day, day: Day): number {
  const years = yearOf(day) - yearOf(born);
  return day.slice(5) < born.slice(5) ? years - 1 : years;
}
