import { createRequire } from 'node:module';
import { styleText } from 'node:util';
import type { DestinationStream, Logger } from 'pino';
import type { Log, LogFields } from '../domain/env.ts';
import type { EventDescription, EventLevel } from '../domain/events.ts';
import { describedEvent, eventNameToLog } from './event-catalog.ts';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly EventLevel[];

/** Every value that belongs in a log is shorter; a longer one is unexpected, and is cut. */
const LONGEST_VALUE = 300;

type LogOptions = {
  level: EventLevel;
  /** The file descriptor of standard output (1) or standard error (2), or a stream in tests. */
  to: 1 | 2 | DestinationStream;
  /** Readable lines for a terminal instead of JSON. */
  pretty?: boolean;
  /**
   * Begins each line with its priority for the systemd journal: `<4>` for a warning (sd-daemon(3)).
   */
  priorities?: boolean;
  /** The source of a line's time; a scaled clock logs its own time. */
  now?: () => number;
};

/**
 * Creates a log of JSON lines: `time`, `level`, `event`, and the event's fields; a warning or an
 * error also has `what` it means and what to do `next`. The catalog defines all of these
 * (event-catalog.ts). An event that is not in the catalog is logged as `event_unknown`. Undeclared
 * fields and values that are not plain are dropped, even if a cast hides them from the compiler
 * (G6).
 */
export function createLog(options: LogOptions): Log {
  let logger: Logger | null = null;
  const log: Log = (event, fields) => {
    const entry = describedEvent(event);
    if (entry === null) log('event_unknown', { event_name: eventNameToLog(event) });
    else {
      logger ??= createLogger(options);
      logger[entry.level]({ event, ...allowed(entry, fields ?? {}), ...advice(entry) });
    }
  };
  return log;
}

/** Loads pino with the first line: most commands log nothing, and end sooner without it. */
function createLogger({
  level,
  to,
  pretty = false,
  priorities = false,
  now = Date.now,
}: LogOptions): Logger {
  const { destination, pino } = createRequire(import.meta.url)('pino') as typeof import('pino');
  // Synchronous, because the last lines before a crash are the ones that matter.
  const raw = typeof to === 'number' ? destination({ fd: to, sync: true }) : to;
  const stream = pretty ? prettyStream(raw) : priorities ? priorityStream(raw) : raw;
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}

/**
 * Returns what the reader of the line needs to know; it comes from the catalog, so that the code
 * that logs need not repeat it.
 */
function advice({ level, means, next }: EventDescription): { what?: string; next?: string } {
  return level === 'warn' || level === 'error' ? { what: means, next } : {};
}

/** Returns the declared fields that have plain, short values. */
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

/** Returns the log level: `ELIGD_LOG_LEVEL` if it is valid, otherwise the configuration's. */
export function logLevel(
  configured: EventLevel,
  environment: Readonly<Record<string, string | undefined>>,
): EventLevel {
  const wanted = environment.ELIGD_LOG_LEVEL?.toLowerCase();
  return LOG_LEVELS.find((level) => level === wanted) ?? configured;
}

/** The numbers of syslog.h. */
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

/** Formats one JSON line as `09:30:15.123 info  daemon_started  version=0.1.0`. */
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
  // The date is left out because a terminal shows what happens now.
  const seen = [styleText('dim', time.slice(11, 23)), styleText(COLORS[level], level.padEnd(5))];
  return `${[...seen, event, ...shown].join(' ')}\n`;
}
