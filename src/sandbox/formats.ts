import type { Behaviors } from './behaviors.ts';
import type { Day } from './calendar.ts';
import type { Dice } from './dice.ts';
import type { Json, JsonObject } from './json.ts';
import type { Specialty } from './request.ts';

/**
 * Writes values in the format that the behaviors select. Answers use it, so that their content does
 * not depend on formats.
 */
export class Formats {
  readonly #behaviors: Behaviors;
  readonly #specialty: Specialty;
  readonly #dice: Dice;

  /**
   * `dice` decide where "now and then" applies. They are the call's dice, so each answer is
   * consistent.
   */
  constructor(behaviors: Behaviors, specialty: Specialty, dice: Dice) {
    this.#behaviors = behaviors;
    this.#specialty = specialty;
    this.#dice = dice.of('formats');
  }

  date(day: Day): string {
    return formatDate(day, this.#behaviors.dates);
  }

  timestamp(instant_ms: number): string {
    return formatTimestamp(instant_ms, this.#behaviors.timestamps);
  }

  /** Formats an amount of maximums or a copay. */
  amount(cents: number): string | number {
    if (this.#behaviors.amounts === 'number') return cents / 100;
    return this.#behaviors.amounts === 'string' ? (cents / 100).toFixed(2) : currency(cents);
  }

  /** Formats an amount of a claim, which is always a number in the specification. */
  claimAmount(cents: number): string | number {
    return this.#behaviors.amounts === 'currency' ? currency(cents) : cents / 100;
  }

  teeth(teeth: readonly string[]): Json[] {
    const setting = this.#behaviors.tooth_numbers;
    const integers =
      setting === 'integers' || (setting === 'mixed' && this.#dice.chance('integer teeth', 0.2));
    return teeth.map((tooth) => (integers && /^\d+$/.test(tooth) ? Number(tooth) : tooth));
  }

  transcriptName(): 'call_transcript' | 'transcript' {
    const setting = this.#behaviors.transcript_name;
    if (setting !== 'mixed') return setting;
    return this.#specialty !== 'dental' && this.#dice.chance('short transcript name', 0.3)
      ? 'transcript'
      : 'call_transcript';
  }

  /**
   * Returns the field `call_details`; undefined if it is to be absent. A single object can only
   * hold the last call.
   */
  callDetails(calls: JsonObject[]): Json | undefined {
    const setting = this.#behaviors.call_details;
    if (setting === 'absent') return undefined;
    const single =
      setting === 'object' ||
      (setting === 'by_specialty' &&
        this.#specialty !== 'dental' &&
        this.#dice.chance('one call object', 0.3));
    return single ? calls.at(-1) : calls;
  }
}

export function formatDate(day: Day, setting: Behaviors['dates']): string {
  const [year, month, dayOfMonth] = day.split('-');
  switch (setting) {
    case 'mdy_dash':
      return `${month}-${dayOfMonth}-${year}`;
    case 'mdy_slash':
      return `${month}/${dayOfMonth}/${year}`;
    case 'iso':
      return day;
  }
}

export function formatTimestamp(instant_ms: number, setting: Behaviors['timestamps']): string {
  const utc = new Date(instant_ms).toISOString();
  switch (setting) {
    case 'z':
      return utc;
    case 'offset':
      return new Date(instant_ms - 6 * 3_600_000).toISOString().replace('Z', '-06:00');
    case 'naive_micros':
      return utc.replace('Z', '417');
  }
}

function currency(cents: number): string {
  return (cents / 100).toLocaleString('en-US', { style: 'currency', currency: 'USD' });
}
