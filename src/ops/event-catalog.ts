/**
 * Describes every event that this process can log: eligd's own (`domain/events.ts`) and those of
 * the loaded connectors.
 */
import { z } from 'zod';
import type { ConnectorEvents, ConnectorType } from '../../connectors/contract.ts';
import { LOG_FIELDS } from '../domain/env.ts';
import { EVENTS, type EventDescription } from '../domain/events.ts';

const catalog = new Map<string, EventDescription>(Object.entries(EVENTS));

/** Returns the description; null for an undeclared event. */
export function describedEvent(name: string): EventDescription | null {
  return catalog.get(name) ?? null;
}

/** Returns the name of an undeclared event if it looks like a name; null otherwise (G6). */
export function eventNameToLog(name: unknown): string | null {
  return typeof name === 'string' && /^[a-z]{2,}(?:_[a-z0-9]+)+$/.test(name) && name.length <= 60
    ? name
    : null;
}

const NAME = /^[a-z][a-z0-9_]*$/;
const SAID = z.string().min(1);
const FIELDS = z.array(z.enum(LOG_FIELDS)).readonly();
const DESCRIPTION = z.discriminatedUnion('level', [
  z.strictObject({
    level: z.enum(['debug', 'info']),
    fields: FIELDS,
    means: SAID,
    next: SAID.optional(),
  }),
  z.strictObject({ level: z.enum(['warn', 'error']), fields: FIELDS, means: SAID, next: SAID }),
]);

/**
 * Adds a connector's events to the catalog. If one is invalid, adds none and returns the reason, as
 * the end of a sentence. The connector may be third-party, so nothing about its events is trusted.
 */
export function declareEvents({
  name: connector,
  events = {},
}: Pick<ConnectorType, 'name' | 'events'>): string | null {
  if (typeof events !== 'object' || events === null) return 'its "events" are not an object';
  const prefix = `${connector.replaceAll('-', '_')}_`;
  for (const [name, event] of Object.entries<unknown>(events)) {
    if (!name.startsWith(prefix) || !NAME.test(name))
      return (
        `its event "${name}" must begin with "${prefix}" and contain only lowercase letters, ` +
        'digits, and _'
      );
    // Without a compiled parser, which pays off only after many parses.
    const fault = DESCRIPTION.safeParse(event, { jitless: true }).error?.issues[0];
    if (fault !== undefined)
      return `its event "${name}" has a bad ${fault.path.join('.') || 'description'}`;
  }
  for (const [name, event] of Object.entries(events as ConnectorEvents)) catalog.set(name, event);
  return null;
}
