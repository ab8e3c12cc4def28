/** Formats moments and days as an American office writes them, in the clinic's time zone. */
import { type Instant, type LocalDate, localDate } from '../domain/time.ts';

type Shape = 'clock' | 'day' | 'short_day' | 'moment';

const SHAPES: Readonly<Record<Shape, Intl.DateTimeFormatOptions>> = {
  clock: { hour: 'numeric', minute: '2-digit' },
  day: { weekday: 'long', month: 'long', day: 'numeric' },
  short_day: { weekday: 'short', month: 'short', day: 'numeric' },
  moment: { weekday: 'short', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' },
};

/** Creating a format takes longer than using it a hundred times. */
const formats = new Map<string, Intl.DateTimeFormat>();

function format(shape: Shape, time_zone: string): Intl.DateTimeFormat {
  const key = `${shape} ${time_zone}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', { timeZone: time_zone, ...SHAPES[shape] });
  formats.set(key, made);
  return made;
}

// A narrow no-break space before AM prints badly in some fonts.
const plain = (text: string) => text.replaceAll('\u202f', ' ');

/** `8:30 AM` */
export const clockWords = (at: Instant, time_zone: string): string =>
  plain(format('clock', time_zone).format(at));

/** `Mon, Nov 23, 8:30 AM` */
export const momentWords = (at: Instant, time_zone: string): string =>
  plain(format('moment', time_zone).format(at));

/** `8:30 AM` for today, otherwise with the day. */
export function soonWords(at: Instant, now: Instant, time_zone: string): string {
  return localDate(at, time_zone) === localDate(now, time_zone)
    ? clockWords(at, time_zone)
    : momentWords(at, time_zone);
}

const noon = (date: LocalDate) => Date.parse(`${date}T12:00:00Z`);

/** `Monday, November 23` */
export const dayWords = (date: LocalDate): string => format('day', 'UTC').format(noon(date));

/** `Mon, Nov 23` */
export const shortDayWords = (date: LocalDate): string =>
  format('short_day', 'UTC').format(noon(date));

/** `2026-11-23` as `11/23/2026`; other text is unchanged. */
export function dateWords(date: string): string {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(date) ?? [];
  return year === undefined ? date : `${month}/${day}/${year}`;
}
