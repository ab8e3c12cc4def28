export type EventLevel = 'debug' | 'info' | 'warn' | 'error';

/**
 * `fields` are those that a line of the event may have (`LogFields` in env.ts); `next` is what to
 * do, which a warning never leaves open.
 */
export type EventDescription = { fields: readonly string[]; means: string } & (
  | { level: 'debug' | 'info'; next?: string }
  | { level: 'warn' | 'error'; next: string }
);
