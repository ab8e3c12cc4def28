import type { Config } from '../ops/config.ts';
import { clinicTime as wallClock } from '../ops/health-text.ts';

/** Formats a moment for people: the clinic's wall clock, `2026-11-23 09:30`. */
export function clinicTime(at: number, config: Config): string {
  return wallClock(at, config.clinic.time_zone);
}

/** Formats a moment for programs: UTC with milliseconds; null stays null. */
export function isoTime(at: number): string;
export function isoTime(at: number | null): string | null;
export function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
