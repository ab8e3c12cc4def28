/** What lists of the service show of calls, and which of ours a complete list must show. */
import { sql } from 'kysely';
import { mayBeEchoOf } from '../../domain/matching.ts';
import type { Specialty } from '../../domain/specialty.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import {
  type CallRow,
  IDS_PER_STATEMENT,
  isCurrentCall,
  type SeenInquiry,
  valuesOf,
} from './calls.ts';

const VISITS_MAX = 20;
/** A query for each takes about eight minutes at 60 requests a minute. */
const COMING_VISITS_MAX = 500;

/**
 * Saves the listed inquiries. Returns those that were not known before, and those whose patient or
 * question an earlier list did not show and this one does. For an inquiry that serves no row, the
 * status in the list is the latest.
 */
export async function noteSeen(
  tx: Tx,
  specialty: Specialty,
  seen: readonly SeenInquiry[],
  now: number,
): Promise<{ fresh: SeenInquiry[]; completed: SeenInquiry[] }> {
  const fresh: SeenInquiry[] = [];
  const completed: SeenInquiry[] = [];
  for (let first = 0; first < seen.length; first += IDS_PER_STATEMENT) {
    const part = seen.slice(first, first + IDS_PER_STATEMENT);
    const rows = await KNOWN(tx, { service_ids: part.map(({ service_id }) => service_id) });
    const known = new Map(rows.map((row) => [row.service_id, row]));
    fresh.push(...part.filter(({ service_id }) => !known.has(service_id)));
    completed.push(...part.flatMap((each) => completion(known.get(each.service_id), each)));
    await tx
      .insertInto('calls')
      .values(part.map((each) => ({ ...valuesOf(each, specialty), seen_at: now })))
      .onConflict((conflict) =>
        conflict
          .column('service_id')
          .doUpdateSet({ service_status: (excluded) => excluded.ref('excluded.service_status') })
          .where('calls.role', '!=', 'serves'),
      )
      .execute();
  }
  await describeCalls(tx, completed);
  return { fresh, completed };
}

const KNOWN = prepared<{ service_ids: readonly string[] }>()((tx, place) =>
  tx
    .selectFrom('calls')
    .select(['service_id', 'role', 'external_id', 'match_key', 'given_name'])
    .where('service_id', 'in', place('service_ids')),
);

type Known = Pick<CallRow, 'role' | 'external_id' | 'match_key' | 'given_name'>;

/**
 * Returns the saved call with what `seen` shows and it lacks; empty if it lacks nothing. A call
 * without a label may be one that retention has emptied: it stays empty.
 */
function completion(known: Known | undefined, seen: SeenInquiry): SeenInquiry[] {
  if (known?.role !== 'unclaimed' || known.external_id === '') return [];
  const asks_more =
    known.match_key !== seen.match_key && mayBeEchoOf(seen.match_key, known.match_key);
  if (!asks_more && (known.given_name !== '' || seen.given_name === '')) return [];
  const is_poorer = mayBeEchoOf(known.match_key, seen.match_key);
  return [
    {
      ...seen,
      external_id: seen.external_id || known.external_id,
      match_key: is_poorer ? known.match_key : seen.match_key,
    },
  ];
}

/**
 * Saves what a list shows now of unclaimed calls that are already known. A name or time that it
 * leaves out stays as an earlier list has shown it.
 */
export async function describeCalls(tx: Tx, seen: readonly SeenInquiry[]): Promise<void> {
  for (const { service_id, external_id, match_key, given_name, created_at } of seen)
    await tx
      .updateTable('calls')
      .set({ external_id, match_key })
      .$if(given_name !== '', (update) => update.set({ given_name }))
      .$if(created_at !== null, (update) => update.set({ sent_service_at: created_at }))
      .where('service_id', '=', service_id)
      .where('role', '=', 'unclaimed')
      .execute();
}

/**
 * Returns our verified inquiries that a complete list of the specialty must show: all open ones,
 * and those sent last. `sent_until`, by the service's clock: without later ones.
 */
export async function inquiriesToBeListed(
  db: Db,
  specialty: Specialty,
  sent_until = Number.MAX_SAFE_INTEGER,
): Promise<Sample[]> {
  // By this machine's clock while the service's was not known.
  const sent_at = sql<number>`coalesce(calls.sent_service_at, calls.sent_at)`;
  const ours = ofOurs(db, specialty).where(sent_at, '<=', sent_until);
  const open = await ours.where('inquiries.state', '=', 'open').execute();
  const last = await ours
    .orderBy('calls.sent_at', (by) => by.desc().nullsLast())
    .limit(1)
    .executeTakeFirst();
  const newest =
    last === undefined ? [] : await ours.where('calls.sent_at', '=', last.sent_at).execute();
  return [...open, ...newest];
}

/** An inquiry of ours that eligd has verified in a read form. */
type Sample = { service_id: string; external_id: string };

/** A verified inquiry was sent and has an ID at the service. */
function ofOurs(db: Db, specialty: Specialty) {
  return db
    .selectFrom('inquiries')
    .innerJoin('calls', 'calls.inquiry', 'inquiries.id')
    .select(['calls.service_id', 'inquiries.external_id', 'calls.sent_at'])
    .where('inquiries.specialty', '=', specialty)
    .where('calls.service_id', 'is not', null)
    .where('calls.reply_group', 'is', null)
    .where('calls.sent_at', '>', 0)
    .where(isCurrentCall)
    .$narrowType<{ service_id: string; sent_at: number }>();
}

/**
 * Returns the one sent last, as a test whether a filtered query returns our inquiries; null: none
 * yet.
 */
export async function sampleOfOurs(
  db: Db,
  specialty: Specialty,
): Promise<(Sample & { sent_at: number }) | null> {
  const ours = ofOurs(db, specialty).orderBy('calls.sent_at', 'desc').limit(1);
  return (await ours.executeTakeFirst()) ?? null;
}

/**
 * Returns the patient's latest visits, also canceled and withdrawn ones, and those whose ID the PMS
 * has given to someone else: a call that a lost database has forgotten has the label of one.
 */
export async function latestVisitsOf(
  db: Db | Tx,
  patient_key: string,
): Promise<{ connector: string; source_id: string }[]> {
  return await db
    .selectFrom('appointments')
    .select(['connector', 'source_id'])
    .where('patient_key', '=', patient_key)
    .where('kind', '=', sql.lit('appointment'))
    .orderBy('starts_at', 'desc')
    .limit(sql.lit(VISITS_MAX))
    .execute();
}

/** Returns the coming visits, the nearest first, also those for which nothing is asked. */
export async function comingVisits(
  db: Db,
  now: number,
): Promise<{ connector: string; source_id: string }[]> {
  return await db
    .selectFrom('appointments')
    .select(['connector', 'source_id'])
    .where('superseded_at', 'is', null)
    .where('kind', '=', sql.lit('appointment'))
    .where('starts_at', '>', now)
    .orderBy('starts_at')
    .limit(sql.lit(COMING_VISITS_MAX))
    .execute();
}
