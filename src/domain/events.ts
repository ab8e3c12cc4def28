/**
 * Every event that eligd can log, with its level and its meaning. The catalogue is the only source of event names: a call
 * with another name does not compile, and a name that nobody logs is found by a test.
 */
export type EventLevel = 'debug' | 'info' | 'warn' | 'error';

export type EventDescription = { level: EventLevel; means: string; next?: string };

export const EVENTS = {
  daemon_started: { level: 'info', means: 'The daemon is up; the line holds version and effective settings.' },
  daemon_stopping: { level: 'info', means: 'A stop was asked for; each stage finishes the step in hand.' },
  daemon_stopped: { level: 'info', means: 'Everything is closed.' },
} as const satisfies Record<string, EventDescription>;

export type EventName = keyof typeof EVENTS;
