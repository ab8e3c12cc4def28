import { sql } from 'kysely';
import { canonicalExternalId } from '../../domain/matching.ts';
import type { Specialty } from '../../domain/specialty.ts';
import type { Db, Tx } from '../engine/database.ts';

/** One inquiry as the service's list showed it. */
export type SeenInquiry = {
  service_id: string;
  external_id: string;
  /** Empty when the echoed request could not be read. */
  match_key: string;
  /** Of the patient, as compared; empty when the echo has none. */
  given_name: string;
  service_status: string;
  /** Epoch milliseconds by the service's clock; null when it does not say. */
  created_at: number | null;
};

export type LedgerEntry = SeenInquiry & {
  specialty: Specialty;
  inquiry: number | null;
  role: 'main' | 'extra' | 'unowned';
  first_seen_at: number;
};

const IDS_PER_STATEMENT = 500;

/**
 * Notes what a list showed and returns those that were not known before. What is owned stays owned;
 * of what serves no inquiry the list's word is the latest.
 */
export async function noteSeen(
  tx: Tx,
  specialty: Specialty,
  seen: readonly SeenInquiry[],
  now: number,
): Promise<SeenInquiry[]> {
  const fresh: SeenInquiry[] = [];
  for (let first = 0; first < seen.length; first += IDS_PER_STATEMENT) {
    const part = seen.slice(first, first + IDS_PER_STATEMENT);
    const known = await ownersOf(
      tx,
      part.map(({ service_id }) => service_id),
    );
    fresh.push(...part.filter(({ service_id }) => !known.has(service_id)));
    await tx
      .insertInto('service_inquiries')
      .values(
        part.map((each) => ({
          ...each,
          external_id: canonicalExternalId(each.external_id),
          specialty,
          inquiry: null,
          role: 'unowned' as const,
          first_seen_at: now,
        })),
      )
      .onConflict((conflict) =>
        conflict
          .column('service_id')
          .doUpdateSet({ service_status: (excluded) => excluded.ref('excluded.service_status') })
          .where('service_inquiries.role', '!=', 'main'),
      )
      .execute();
  }
  return fresh;
}

/** Our inquiry that the service's belongs to: it serves ours (`main`), or is a duplicate call. */
export type Owner = { inquiry: number; specialty: Specialty; role: 'main' | 'extra' };

/** The row as the owner of the one call that serves it. */
export function mainOf({ id, specialty }: { id: number; specialty: Specialty }): Owner {
  return { inquiry: id, specialty, role: 'main' };
}

/** Records whom an inquiry of the service belongs to. */
export async function own(
  tx: Tx,
  seen: SeenInquiry,
  { inquiry, specialty, role }: Owner,
  now: number,
): Promise<void> {
  await tx
    .insertInto('service_inquiries')
    .values({
      ...seen,
      external_id: canonicalExternalId(seen.external_id),
      specialty,
      inquiry,
      role,
      first_seen_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .column('service_id')
        .doUpdateSet({ inquiry, role, service_status: seen.service_status }),
    )
    .execute();
}

/**
 * Lets go of an id that turned out to belong to something else: it is nobody's until a read shows
 * whose it is.
 */
export async function disown(tx: Tx, service_id: string): Promise<void> {
  await tx.deleteFrom('service_inquiries').where('service_id', '=', service_id).execute();
}

/**
 * Inquiries at the service that nobody owns and that ask what `match_key` asks, oldest first. They
 * are taken before any new call is made, so that a restored or lost database does not call twice
 * (G1).
 */
export async function unownedMatches(
  tx: Tx,
  specialty: Specialty,
  match_key: string,
): Promise<LedgerEntry[]> {
  const rows = await tx
    .selectFrom('service_inquiries')
    .selectAll()
    .where('inquiry', 'is', null)
    .where('match_key', '=', match_key)
    .where('specialty', '=', specialty)
    .execute();
  return rows.sort(
    (a, b) => (a.created_at ?? 0) - (b.created_at ?? 0) || a.service_id.localeCompare(b.service_id),
  );
}

/** Whether lists have shown calls of the specialty that serve no inquiry of this database. */
export async function hasUnclaimed(db: Db, specialty: Specialty): Promise<boolean> {
  const row = await db
    .selectFrom('service_inquiries')
    .select('service_id')
    .where('inquiry', 'is', null)
    .where('specialty', '=', sql.lit(specialty))
    .limit(sql.lit(1))
    .executeTakeFirst();
  return row !== undefined;
}

/** Calls too many that were made for the inquiries, oldest first. */
export async function extrasOf(tx: Tx, inquiries: readonly number[]): Promise<LedgerEntry[]> {
  if (inquiries.length === 0) return [];
  return await tx
    .selectFrom('service_inquiries')
    .selectAll()
    .where('inquiry', 'in', inquiries)
    .where('role', '=', 'extra')
    .orderBy('created_at')
    .execute();
}

export async function ownersOf(
  db: Db | Tx,
  service_ids: readonly string[],
): Promise<Map<string, number | null>> {
  const owners = new Map<string, number | null>();
  for (let first = 0; first < service_ids.length; first += IDS_PER_STATEMENT) {
    const rows = await db
      .selectFrom('service_inquiries')
      .select(['service_id', 'inquiry'])
      .where('service_id', 'in', service_ids.slice(first, first + IDS_PER_STATEMENT))
      .execute();
    for (const { service_id, inquiry } of rows) owners.set(service_id, inquiry);
  }
  return owners;
}

/** Those of the ids that a list showed before `at`. */
export async function seenBefore(
  db: Db,
  service_ids: readonly string[],
  at: number,
): Promise<Set<string>> {
  if (service_ids.length === 0) return new Set();
  const rows = await db
    .selectFrom('service_inquiries')
    .select('service_id')
    .where('service_id', 'in', service_ids)
    .where('first_seen_at', '<', at)
    .execute();
  return new Set(rows.map(({ service_id }) => service_id));
}

/**
 * Ours that a complete list of the specialty has to show: all that are open, and those that were
 * sent last.
 */
export async function whatAListMustShow(
  db: Db,
  specialty: Specialty,
): Promise<{ service_id: string; external_id: string }[]> {
  const open = await db
    .selectFrom('inquiries')
    .select(['service_id', 'external_id'])
    .where('specialty', '=', specialty)
    .where('state', '=', 'open')
    .where('is_verified', '=', 1)
    .where('service_id', 'is not', null)
    .execute();
  const newest = await db
    .selectFrom('inquiries')
    .select(['service_id', 'external_id'])
    .where('specialty', '=', specialty)
    .where('is_verified', '=', 1)
    .where('service_id', 'is not', null)
    .where('sent_at', '=', (select) =>
      select
        .selectFrom('inquiries')
        .select((each) => each.fn.max('sent_at').as('last'))
        .where('specialty', '=', specialty)
        .where('is_verified', '=', 1)
        .where('service_id', 'is not', null),
    )
    .execute();
  return [...open, ...newest].flatMap(({ service_id, external_id }) =>
    service_id === null ? [] : [{ service_id, external_id }],
  );
}

/**
 * One of our own inquiries at the service, by which a filtered query can show that it shows ours;
 * null before there is one.
 */
export async function sampleOfOurs(
  db: Db,
  specialty: Specialty,
): Promise<{ service_id: string; external_id: string } | null> {
  const row = await db
    .selectFrom('inquiries')
    .select(['service_id', 'external_id'])
    .where('specialty', '=', specialty)
    .where('is_verified', '=', 1)
    .where('service_id', 'is not', null)
    .orderBy('sent_at', 'desc')
    .executeTakeFirst();
  return row?.service_id == null
    ? null
    : { service_id: row.service_id, external_id: row.external_id };
}
