/**
 * Incidents: problems of the installation with a beginning and an end. They are attention items. A
 * repeated failure is one incident with a count.
 */
import { sql } from 'kysely';
import { INCIDENT_REASONS, type IncidentReason } from '../../domain/attention.ts';
import type { OpenIncident } from '../../domain/health.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import type { Store } from '../engine/store.ts';
import { raiseAttention } from './attention.ts';

type IncidentName = { reason: IncidentReason; connector: string | null };

export type CountedIncident = OpenIncident & {
  /** How many times it occurred. */
  count: number;
  last_at: number;
};

function subjectOf({ reason, connector }: IncidentName): string {
  return connector === null ? `incident:${reason}` : `incident:${reason}:${connector}`;
}

/** Opens an incident, or adds one to its count. Returns the count. */
export async function raiseIncident(
  tx: Tx,
  name: IncidentName,
  { what, next, words = null }: { what: string; next: string; words?: string | null },
  now: number,
): Promise<number> {
  const { reason, connector } = name;
  const subject = subjectOf(name);
  const seen = await tx
    .updateTable('attention')
    .set({ what, next, words, count: sql`count + 1`, last_at: now })
    .where('subject', '=', subject)
    .where('reason', '=', reason)
    .where('resolved_at', 'is', null)
    .returning('count')
    .executeTakeFirst();
  if (seen !== undefined) return seen.count;
  const about = { connector, appointment: null, inquiry: null, subject };
  await raiseAttention(tx, about, { reason, what, next, words }, now);
  return 1;
}

/** Ends an incident. Returns its count; 0 when it was not open. */
export async function endIncident(tx: Tx, name: IncidentName, now: number): Promise<number> {
  const ended = await END(tx, { subject: subjectOf(name), reason: name.reason, now });
  return ended.reduce((total, { count }) => total + count, 0);
}

const END = prepared<{ subject: string; reason: IncidentReason; now: number }>()((tx, place) =>
  tx
    .updateTable('attention')
    .set({ resolved_at: place('now') })
    .where('subject', '=', place('subject'))
    .where('reason', '=', place('reason'))
    .where('resolved_at', 'is', null)
    .returning('count'),
);

/** Returns the open incidents, oldest first. */
export async function openIncidents(db: Db | Tx): Promise<CountedIncident[]> {
  const rows = await OPEN(db, {});
  return rows.map((row) => ({ ...row, last_at: row.last_at ?? row.since }));
}

const OPEN = prepared()((db) =>
  db
    .selectFrom('attention')
    .select(['reason', 'connector', 'what', 'next', 'since', 'count', 'last_at'])
    .where('reason', 'in', INCIDENT_REASONS)
    .where('resolved_at', 'is', null)
    .orderBy('since')
    .orderBy('id'),
);

/** `entry`: the texts of an incident that is open; null: the condition does not exist now. */
export type IncidentState = IncidentName & { entry: { what: string; next: string } | null };

/**
 * Updates incidents that describe conditions, not events, to their current state. Writes only if
 * something changes.
 */
export async function setIncidents(
  store: Store,
  states: readonly IncidentState[],
  now: number,
): Promise<void> {
  const incidents = await openIncidents(store.db);
  for (const { entry, ...name } of states) {
    const open = incidents.find(
      ({ reason, connector }) => reason === name.reason && connector === name.connector,
    );
    if (entry === null) {
      if (open !== undefined) await store.write((tx) => endIncident(tx, name, now));
    } else if (open === undefined || open.what !== entry.what)
      await store.write((tx) => raiseIncident(tx, name, entry, now));
  }
}
