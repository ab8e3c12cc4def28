/**
 * When the simulated payers answer the phone, for the service and the oracle: in quarter hours and
 * with a written list of holidays, without eligd's own arithmetic.
 */
const QUARTER_MS = 15 * 60_000;

/** US federal holidays, as observed, in the years of the worlds. */
const HOLIDAYS = new Set([
  ...['2026-10-12', '2026-11-11', '2026-11-26', '2026-12-25', '2027-01-01', '2027-01-18'],
  ...['2027-02-15', '2027-05-31', '2027-06-18', '2027-07-05', '2027-09-06', '2028-01-17'],
  ...['2028-02-21', '2028-05-29'],
]);

export type PayerTimes = {
  /** `08:00-17:00` */
  hours: string;
  zones: readonly string[];
  /** Eastern. */
  same_day_cutoff: string | null;
  turnaround_days: number;
};

export class PayerClock {
  readonly #times: PayerTimes;
  readonly #opens: number;
  readonly #closes: number;
  readonly #known = new Map<number, boolean>();
  readonly #zones: readonly Intl.DateTimeFormat[];
  readonly #eastern = formatOf('America/New_York');

  constructor(times: PayerTimes) {
    const [opens = 0, closes = 0] = times.hours.split('-').map(minuteOf);
    this.#times = times;
    this.#opens = opens;
    this.#closes = closes;
    this.#zones = times.zones.map(formatOf);
  }

  /** Payer hours between two instants, to a quarter of an hour. */
  hoursBetween(from: number, to: number): number {
    let quarters = 0;
    for (let at = Math.ceil(from / QUARTER_MS); (at + 1) * QUARTER_MS <= to; at += 1)
      if (this.isOpen(at * QUARTER_MS)) quarters += 1;
    return quarters / 4;
  }

  /** The time at which this many payer hours have passed, to a quarter of an hour. */
  after(from: number, hours: number): number {
    let left = Math.ceil(hours * 4);
    let at = Math.ceil(from / QUARTER_MS);
    for (; left > 0; at += 1) if (this.isOpen(at * QUARTER_MS)) left -= 1;
    return at * QUARTER_MS;
  }

  isOpen(at: number): boolean {
    const quarter = Math.floor(at / QUARTER_MS);
    const known = this.#known.get(quarter);
    if (known !== undefined) return known;
    const is_open = this.#zones.some((zone) => {
      const { minute, is_business_day } = wallClock(zone, quarter * QUARTER_MS);
      return is_business_day && minute >= this.#opens && minute < this.#closes;
    });
    this.#known.set(quarter, is_open);
    return is_open;
  }

  /**
   * Whether a call that is sent at `at` can be answered by `by`: on the same day before the cutoff,
   * otherwise within the usual number of business days.
   */
  canAnswer(at: number, by: number): boolean {
    const { same_day_cutoff, turnaround_days } = this.#times;
    const usual = turnaround_days * this.#hoursADay();
    if (this.hoursBetween(at, by) + 0.5 >= usual) return true;
    if (same_day_cutoff === null) return false;
    // The next cutoff of a business day; the payer closes on that day before the visit.
    for (let quarter = Math.floor(at / QUARTER_MS); quarter * QUARTER_MS < by; quarter += 1) {
      const { minute, is_business_day } = wallClock(this.#eastern, quarter * QUARTER_MS);
      if (!is_business_day || minute > minuteOf(same_day_cutoff)) continue;
      let last = quarter;
      while (wallClock(this.#eastern, last * QUARTER_MS).minute < 23 * 60 + 45) last += 1;
      // In zones west of Eastern, the day ends later.
      for (let more = 0; more < 28; more += 1) if (this.isOpen((last + 1) * QUARTER_MS)) last += 1;
      while (!this.isOpen(last * QUARTER_MS)) last -= 1;
      return (last + 1) * QUARTER_MS <= by;
    }
    return false;
  }

  #hoursADay(): number {
    const open = new Set<number>();
    const start = Date.parse('2026-11-18T00:00:00Z');
    for (let quarter = 0; quarter < 96; quarter += 1)
      if (this.isOpen(start + quarter * QUARTER_MS)) open.add(quarter);
    return open.size / 4;
  }
}

/** `date`: `2026-11-26`. */
export function isBusinessDay(date: string): boolean {
  return ![0, 6].includes(new Date(date).getUTCDay()) && !HOLIDAYS.has(date);
}

function minuteOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return hour * 60 + minute;
}

function formatOf(time_zone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-CA', {
    timeZone: time_zone,
    hourCycle: 'h23',
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
}

function wallClock(zone: Intl.DateTimeFormat, at: number) {
  const parts = Object.fromEntries(zone.formatToParts(at).map(({ type, value }) => [type, value]));
  const { year, month, day, weekday = '', hour, minute } = parts;
  return {
    minute: Number(hour) * 60 + Number(minute),
    is_business_day: !/Sat|Sun/.test(weekday) && !HOLIDAYS.has(`${year}-${month}-${day}`),
  };
}
