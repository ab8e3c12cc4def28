/** Turns a log line into a sentence for people, with the catalog of events. */
import type { EventLevel } from '../domain/events.ts';
import { localDateTime } from '../domain/time.ts';
import { describedEvent } from './event-catalog.ts';

type Line = { time: string; level: EventLevel; event: string } & Record<string, unknown>;

const MARKS: Readonly<Record<EventLevel, string>> = {
  debug: '  ',
  info: '  ',
  warn: '! ',
  error: '!!',
};

/** The levels that `--level` accepts, lowest first. */
export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** Selects the lines to show. */
export type LogChoice = {
  /** IANA. */
  time_zone: string;
  /** The lowest level to show. */
  level: EventLevel;
  /** Only lines of this piece of work; null: all. */
  work: string | null;
};

/**
 * Returns `2026-11-23 09:30:15 !! What it means. (inquiry 12) -> what to do`; null if the line is
 * not selected. A line that is not an event of eligd, such as one of systemd, is unchanged.
 */
export function logSentence(text: string, { time_zone, level, work }: LogChoice): string | null {
  const line = parsed(text);
  if (line === null) return work === null && text.trim() !== '' ? text : null;
  if (LEVELS.indexOf(line.level) < LEVELS.indexOf(level)) return null;
  if (work !== null && line.work !== work) return null;
  const { time, level: of, event, what, next, ...fields } = line;
  const entry = describedEvent(event);
  const means = entry?.means ?? (typeof what === 'string' ? what : event);
  const advice = of === 'warn' || of === 'error' ? (entry?.next ?? next) : undefined;
  const at = Date.parse(time);
  const shown = Object.entries(fields)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`);
  return [
    `${localDateTime(at, time_zone).replace('T', ' ')}:${seconds(at)} ${MARKS[of]} ${means}`,
    ...(shown.length === 0 ? [] : [`(${shown.join(', ')})`]),
    ...(typeof advice === 'string' ? [`-> ${advice}`] : []),
  ].join(' ');
}

function parsed(text: string): Line | null {
  // A file may contain the priorities that are meant for the journal.
  const json = text.replace(/^<\d>/, '');
  if (!json.startsWith('{')) return null;
  try {
    const line = JSON.parse(json) as Partial<Line>;
    const is_ours =
      typeof line.event === 'string' &&
      Number.isFinite(Date.parse(line.time ?? '')) &&
      LEVELS.some((each) => each === line.level);
    return is_ours ? (line as Line) : null;
  } catch {
    return null;
  }
}

function seconds(at: number): string {
  return String(Math.floor(at / 1000) % 60).padStart(2, '0');
}
