/**
 * Every event that eligd itself can log, with its level and its meaning. The catalog is the only
 * source of event names: a call with another name does not compile, and a test finds names that are
 * never logged. A connector declares its own events (`connectors/contract.ts`).
 */
import { COLLECT_EVENTS } from './events/collect.ts';
import { DAEMON_EVENTS } from './events/daemon.ts';
import { INTAKE_EVENTS } from './events/intake.ts';
import { SERVICE_EVENTS } from './events/service.ts';
import { SUBMIT_EVENTS } from './events/submit.ts';

export type { EventDescription, EventLevel } from './events/description.ts';

export const EVENTS = {
  ...DAEMON_EVENTS,
  ...SERVICE_EVENTS,
  ...INTAKE_EVENTS,
  ...SUBMIT_EVENTS,
  ...COLLECT_EVENTS,
};

export type EventName = keyof typeof EVENTS;
