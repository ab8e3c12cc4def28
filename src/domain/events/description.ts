export type EventLevel = 'debug' | 'info' | 'warn' | 'error';

/**
 * `fields`: the fields that a line of the event may have (`LogFields` in env.ts). `next`: what to
 * do, which every warning must say.
 */
export type EventDescription = { fields: readonly string[]; means: string } & (
  | { level: 'debug' | 'info'; next?: string }
  | { level: 'warn' | 'error'; next: string }
);
