import { styleText } from 'node:util';
import { type DestinationStream, destination, pino } from 'pino';
import type { Log, LogFields } from '../domain/env.ts';
import type { EventDescription, EventLevel } from '../domain/events.ts';
import { describedEvent, eventNameToLog } from './event-catalog.ts';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly EventLevel[];

/** No value that belongs into a log is longer; what is longer is something else, and is cut. */
const LONGEST_VALUE = 300;

export type LogOptions = {
  level: EventLevel;
  /** The file descriptor of standard output (1) or standard error (2), or a stream, for tests. */
  to: 1 | 2 | DestinationStream;
  /** Readable lines for a terminal instead of JSON. */
  pretty?: boolean;
  /**
   * Begin each line with the priority by which the journal of systemd sorts it: `<4>` for a warning
   * (sd-daemon(3)).
   */
  priorities?: boolean;
  /** What the time of a line is taken from; a scaled clock writes its own time. */
  now?: () => number;
};

/**
 * A log of JSON lines: `time`, `level`, `event` and the fields of the event; a warning or an error
 * also says `what` it means and what to do `next`. All of these come from the catalog
 * (event-catalog.ts). An event that is not in it is logged as `event_unknown`. Fields that are not
 * in the event's entry and values that are not plain are dropped, even if a cast has brought them
 * past the compiler (G6).
 */
export function createLog({
  level,
  to,
  pretty = false,
  priorities = false,
  now = Date.now,
}: LogOptions): Log {
  // Synchronous: the last lines before a crash are those that are needed.
  const raw = typeof to === 'number' ? destination({ fd: to, sync: true }) : to;
  const stream = pretty ? prettyStream(raw) : priorities ? priorityStream(raw) : raw;
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  const log: Log = (event, fields) => {
    const entry = describedEvent(event);
    if (entry === null) log('event_unknown', { event_name: eventNameToLog(event) });
    else logger[entry.level]({ event, ...allowed(entry, fields ?? {}), ...advice(entry) });
  };
  return log;
}

/**
 * What a person who finds the line needs to know; the catalog knows it, so that the code that
 * logs need not.
 */
function advice({ level, means, next }: EventDescription): { what?: string; next?: string } {
  return level === 'warn' || level === 'error' ? { what: means, next } : {};
}

/** The fields that a line may have, with nothing but plain, short values. */
function allowed({ fields: names }: EventDescription, fields: LogFields): LogFields {
  const entries = Object.entries(fields).flatMap(
    ([name, value]): [string, string | number | boolean | null][] => {
      if (name !== 'work' && !names.includes(name)) return [];
      if (typeof value === 'string')
        return [[name, value.length > LONGEST_VALUE ? `${value.slice(0, LONGEST_VALUE)}…` : value]];
      return value === null || typeof value === 'number' || typeof value === 'boolean'
        ? [[name, value]]
        : [];
    },
  );
  return Object.fromEntries(entries);
}

/** The level to log at: `ELIGD_LOG_LEVEL` if it is a level, the configuration's otherwise. */
export function logLevel(
  configured: EventLevel,
  environment: Readonly<Record<string, string | undefined>>,
): EventLevel {
  const wanted = environment.ELIGD_LOG_LEVEL?.toLowerCase();
  return LOG_LEVELS.find((level) => level === wanted) ?? configured;
}

/** As syslog.h counts them. */
const PRIORITIES = { debug: 7, info: 6, warn: 4, error: 3 } as const satisfies Record<
  EventLevel,
  number
>;

function priorityStream(to: DestinationStream): DestinationStream {
  return {
    write: (line) => {
      const level = LOG_LEVELS.find((each) => line.startsWith(`{"level":"${each}"`)) ?? 'info';
      to.write(`<${PRIORITIES[level]}>${line}`);
    },
  };
}

const COLORS = { debug: 'gray', info: 'green', warn: 'yellow', error: 'red' } as const;

function prettyStream(to: DestinationStream): DestinationStream {
  return { write: (line) => to.write(prettyLine(line)) };
}

/** One JSON line as `09:30:15.123 info  daemon_started  version=0.1.0`. */
export function prettyLine(line: string): string {
  const {
    time,
    level,
    event,
    ...fields
  }: { time: string; level: EventLevel; event: string } & Record<string, unknown> =
    JSON.parse(line);
  const shown = Object.entries(fields).map(([name, value]) => {
    const plain =
      typeof value === 'string' && /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value);
    return `${styleText('dim', `${name}=`)}${plain}`;
  });
  // The day is left out only for the eye: a terminal shows what happens now.
  const seen = [styleText('dim', time.slice(11, 23)), styleText(COLORS[level], level.padEnd(5))];
  return `${[...seen, event, ...shown].join(' ')}\n`;
}
