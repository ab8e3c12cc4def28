import { styleText } from 'node:util';
import { type DestinationStream, destination, pino } from 'pino';
import { LOG_FIELDS, type Log, type LogFields } from '../domain/env.ts';
import { EVENTS, type EventLevel } from '../domain/events.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly EventLevel[];

/** No value that belongs into a log is longer; what is longer is something else, and is cut. */
const LONGEST_VALUE = 300;

export type LogOptions = {
  level: EventLevel;
  /** The file descriptor of standard output (1) or standard error (2), or a stream, for tests. */
  to: 1 | 2 | DestinationStream;
  /** Lines for a person at a terminal instead of JSON. */
  pretty?: boolean;
  /** What the time of a line is taken from; a scaled clock writes its own time. */
  now?: () => number;
};

/**
 * A log of JSON lines: `time`, `level`, `event` and the fields of the event, nothing else. The level is the one that stands
 * in the catalogue (domain/events.ts). Fields that are not in `LOG_FIELDS` and values that are not plain are dropped, even
 * if a cast has brought them past the compiler (G6).
 */
export function createLog({ level, to, pretty = false, now = Date.now }: LogOptions): Log {
  // Synchronous: the last lines before a crash are those that are needed.
  const raw = typeof to === 'number' ? destination({ fd: to, sync: true }) : to;
  const stream = pretty ? prettyStream(raw) : raw;
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  return (event, fields = {}) => logger[EVENTS[event].level]({ event, ...allowed(fields) });
}

const ALLOWED: ReadonlySet<string> = new Set(LOG_FIELDS);

/** The fields that a line may have, with nothing but plain, short values. */
export function allowed(fields: LogFields): LogFields {
  const entries = Object.entries(fields).flatMap(([name, value]): [string, string | number | boolean | null][] => {
    if (!ALLOWED.has(name)) return [];
    if (typeof value === 'string') return [[name, value.length > LONGEST_VALUE ? `${value.slice(0, LONGEST_VALUE)}…` : value]];
    return value === null || typeof value === 'number' || typeof value === 'boolean' ? [[name, value]] : [];
  });
  return Object.fromEntries(entries);
}

/** The level to log at: `ELIGD_LOG_LEVEL` if it is a level, the configuration's otherwise. */
export function logLevel(configured: EventLevel, environment: Readonly<Record<string, string | undefined>>): EventLevel {
  const wanted = environment.ELIGD_LOG_LEVEL?.toLowerCase();
  return LOG_LEVELS.find((level) => level === wanted) ?? configured;
}

const COLORS = { debug: 'gray', info: 'green', warn: 'yellow', error: 'red' } as const;

function prettyStream(to: DestinationStream): DestinationStream {
  return { write: (line) => to.write(prettyLine(line)) };
}

/** One JSON line as `09:30:15.123 info  daemon_started  version=0.1.0`. */
export function prettyLine(line: string): string {
  const { time, level, event, ...fields }: { time: string; level: EventLevel; event: string } & Record<string, unknown> =
    JSON.parse(line);
  const shown = Object.entries(fields).map(([name, value]) => {
    const plain = typeof value === 'string' && /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value);
    return `${styleText('dim', `${name}=`)}${plain}`;
  });
  // The day is left out only for the eye: a terminal shows what happens now.
  return `${[styleText('dim', time.slice(11, 23)), styleText(COLORS[level], level.padEnd(5)), event, ...shown].join(' ')}\n`;
}
