/**
 * Who did something, as the audit trail and the access log store it: an account of the computer
 * (`maria`), or a user of the office's page (`office:maria`).
 */
const OFFICE = 'office:';

export const officeActor = (user: string): string => `${OFFICE}${user}`;

/** Returns the name without its `office:` prefix. */
export const actorName = (actor: string): string =>
  actor.startsWith(OFFICE) ? actor.slice(OFFICE.length) : actor;

/** Returns every form in which the actor `name` may be stored. */
export const actorsCalled = (name: string): string[] => [...new Set([name, officeActor(name)])];
