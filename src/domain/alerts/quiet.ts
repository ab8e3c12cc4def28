import { Temporal } from 'temporal-polyfill';
import { dayOfWeek, type Instant, instantOf } from '../time.ts';

/** Times of the clinic's clock (`19:00`); `to` may be on the next day. */
export type QuietHours = {
  readonly from: string;
  readonly to: string;
  /** Whether Saturday and Sunday are quiet all day. */
  readonly weekends: boolean;
};

/** Returns when the current quiet hours end; null: there are none now. */
export function quietUntil(quiet: QuietHours, time_zone: string, now: Instant): Instant | null {
  let at = now;
  // A night, a weekend, and the next night count as one period; it ends within a week.
  for (let parts = 0; parts < 8; parts += 1) {
    const end = endOfPart(quiet, time_zone, at);
    if (end === null) break;
    at = end;
  }
  return at === now ? null : at;
}

function endOfPart(quiet: QuietHours, time_zone: string, at: Instant): Instant | null {
  const wall = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(time_zone);
  const today = wall.toPlainDate();
  const tomorrow = today.add({ days: 1 }).toString();
  const time = wall.toPlainTime().toString({ smallestUnit: 'minute' });
  const on = (day: string, clock: string) =>
    instantOf(day, Number(clock.slice(0, 2)), time_zone, Number(clock.slice(3)));
  const { from, to, weekends } = quiet;
  if (weekends && dayOfWeek(today.toString()) >= 6) return on(tomorrow, '00:00');
  if (from < to) return time >= from && time < to ? on(today.toString(), to) : null;
  if (time >= from) return on(tomorrow, to);
  return time < to ? on(today.toString(), to) : null;
}
