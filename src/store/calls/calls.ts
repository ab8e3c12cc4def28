/**
 * The calls: one row for each request to make a call (POST), and one row for each inquiry on the
 * service's list that is not ours, numbered as this database learned of them (before migration
 * 0045, in any order, but a request without an ID before every listed inquiry). The next request of
 * an inquiry deletes the row of one that the service provably did not take, and a listed inquiry
 * that turns out to be one of our requests gets the row of that. Otherwise, only retention deletes
 * rows.
 */
import { type Insertable, type Selectable, type SqlBool, sql } from 'kysely';
import { canonicalExternalId, partialKeysOf } from '../../domain/matching.ts';
import type { StoredPrice } from '../../domain/price.ts';
import type { Specialty } from '../../domain/specialty.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared, preparedRows, preparedUpdate } from '../engine/prepared.ts';
import type { Tables } from '../engine/tables.ts';
import type { InquiryRow } from './inquiries.ts';

export type CallRow = Selectable<Tables['calls']>;

/** An inquiry as the service's list showed it. */
export type SeenInquiry = {
  service_id: string;
  external_id: string;
  /** Empty when the echoed request is unreadable. */
  match_key: string;
  /** The patient's given name in normalized form; empty when the echo has none. */
  given_name: string;
  service_status: string;
  /** Epoch milliseconds by the service's clock; null when the service does not state it. */
  created_at: number | null;
};

export const IDS_PER_STATEMENT = 500;

/**
 * Whether a call counts for its inquiry: it is under way, is sought, or serves it. No inquiry has
 * two of them: the index `calls_current` refuses the second (G1). In these words, SQLite uses it.
 */
export const isCurrentCall = sql<SqlBool>`(fate in ('out', 'lost') or role = 'serves')`;

/** A request that is about to leave. `body`: its exact content. */
type Intent = { row: InquiryRow; given_name: string; body: string };

/**
 * Stores the intents of calls before their requests leave, in place of those that were proven
 * unsent. What lists have shown until now has lower row numbers, so it is another call (G1).
 */
export async function intendCalls(tx: Tx, intents: readonly Intent[]): Promise<void> {
  if (intents.length === 0) return;
  await FORGET_UNSENT(tx, { inquiries: intents.map(({ row }) => row.id) });
  const calls = intents.map(({ row, given_name, body }) => ({
    inquiry: row.id,
    specialty: row.specialty,
    external_id: canonicalExternalId(row.external_id),
    match_key: row.match_key,
    given_name,
    body,
    sent_at: row.sent_at,
    sent_service_at: row.sent_service_at,
    price_cents: row.price_cents,
    free_outcomes: row.free_outcomes,
    fate: 'out' as const,
    service_status: '',
  }));
  await INTEND(tx, calls);
}

const FORGET_UNSENT = prepared<{ inquiries: readonly number[] }>()((tx, place) =>
  tx
    .deleteFrom('calls')
    .where('inquiry', 'in', place('inquiries'))
    .where('fate', '=', sql.lit('unsent')),
);

const INTEND = preparedRows<Insertable<Tables['calls']>>()((tx, calls) =>
  tx.insertInto('calls').values(calls),
);

/**
 * Sets the fate of the calls of these inquiries that are under way; `absent`: that are sought.
 * `was_accepted`: a reply said that the service took them.
 */
export async function settleCalls(
  tx: Tx,
  inquiries: readonly number[],
  to: 'lost' | 'absent' | 'unsent',
  was_accepted = false,
): Promise<void> {
  await tx
    .updateTable('calls')
    .set({ fate: to, ...(was_accepted ? { was_accepted: 1 } : {}) })
    .where('inquiry', 'in', inquiries)
    .where('fate', '=', to === 'absent' ? 'lost' : 'out')
    .execute();
}

/** Returns every call of these inquiries. */
export async function callsOf(tx: Tx, inquiries: readonly number[]): Promise<CallRow[]> {
  const calls: CallRow[] = [];
  for (let first = 0; first < inquiries.length; first += IDS_PER_STATEMENT) {
    const part = inquiries.slice(first, first + IDS_PER_STATEMENT);
    calls.push(...(await OF_INQUIRIES(tx, { inquiries: part })));
  }
  return calls;
}

const OF_INQUIRIES = prepared<{ inquiries: readonly number[] }>()((tx, place) =>
  tx.selectFrom('calls').selectAll().where('inquiry', 'in', place('inquiries')),
);

/** Returns whether the service had accepted a call of the inquiry and no longer knows it. */
export async function hasForgottenCall(tx: Tx, inquiry: number): Promise<boolean> {
  const calls = await callsOf(tx, [inquiry]);
  return calls.some(({ service_id, was_accepted }) => service_id === null && was_accepted === 1);
}

type Alike = {
  specialty: Specialty;
  match_keys: readonly string[];
  /** Listed calls with these labels are also included if their requests cannot be read in full. */
  labels: readonly string[];
  /** Inquiries whose calls are also included, whatever their content. */
  of: readonly number[];
};

/** Returns every call with these match keys: ours and those that lists have shown. */
export async function callsAlike(
  tx: Tx,
  { specialty, match_keys, labels, of }: Alike,
): Promise<CallRow[]> {
  const keys = match_keys.filter((key) => key !== '');
  const alike = keys.length === 0 ? [] : await ALIKE(tx, { match_keys: keys, specialty });
  if (labels.length > 0) alike.push(...(await UNREADABLE(tx, { labels, specialty })));
  const partial = keys.flatMap(partialKeysOf).filter((key) => !keys.includes(key));
  if (labels.length > 0 && partial.length > 0)
    alike.push(...(await OF_LABELS(tx, { match_keys: partial, labels, specialty })));
  const known = new Set(alike.map(({ id }) => id));
  return [...alike, ...(await callsOf(tx, of)).filter(({ id }) => !known.has(id))];
}

const UNREADABLE = prepared<{ labels: readonly string[]; specialty: Specialty }>()((tx, place) =>
  unreadable(tx)
    .selectAll()
    .where('external_id', 'in', place('labels'))
    .where('specialty', '=', place('specialty')),
);

const OF_LABELS = prepared<{
  match_keys: readonly string[];
  labels: readonly string[];
  specialty: Specialty;
}>()((tx, place) =>
  tx
    .selectFrom('calls')
    .selectAll()
    .where('match_key', 'in', place('match_keys'))
    .where('external_id', 'in', place('labels'))
    .where('specialty', '=', place('specialty')),
);

const ANY_UNREADABLE = prepared()((tx) => unreadable(tx).select('external_id').limit(sql.lit(1)));

/** Listed calls whose requests are unreadable. Calls that retention has emptied have no label. */
function unreadable(db: Db | Tx) {
  return db
    .selectFrom('calls')
    .where('match_key', '=', sql.lit(''))
    .where('external_id', '>', sql.lit(''));
}

/**
 * Returns the inquiries that have calls, or whose match key has calls: the service may hold them.
 * The listed request may lack fields; if it is unreadable, it may be any of them.
 */
export async function withCalls(
  tx: Tx,
  rows: readonly Pick<InquiryRow, 'id' | 'match_key'>[],
): Promise<Set<number>> {
  const all = rows.map(({ id }) => id);
  if (rows.length === 0 || (await ANY_UNREADABLE(tx, {})).length > 0) return new Set(all);
  const keysOf = ({ match_key }: (typeof rows)[number]) => [match_key, ...partialKeysOf(match_key)];
  const called = await CALLED(tx, { ids: all, match_keys: rows.flatMap(keysOf) });
  const ids = new Set(called.map(({ inquiry }) => inquiry));
  const match_keys = new Set(called.map(({ match_key }) => match_key));
  const known = rows.filter(
    (row) => ids.has(row.id) || keysOf(row).some((key) => match_keys.has(key)),
  );
  return new Set(known.map(({ id }) => id));
}

const CALLED = prepared<{ ids: readonly number[]; match_keys: readonly string[] }>()((tx, place) =>
  tx
    .selectFrom('calls')
    .select(['inquiry', 'match_key'])
    .where((where) =>
      where.or([
        where('inquiry', 'in', place('ids')),
        where('match_key', 'in', place('match_keys')),
      ]),
    ),
);

const ALIKE = prepared<{ match_keys: readonly string[]; specialty: Specialty }>()((tx, place) =>
  tx
    .selectFrom('calls')
    .selectAll()
    .where('match_key', 'in', place('match_keys'))
    .where('specialty', '=', place('specialty')),
);

/** The columns of a listed inquiry. */
export function valuesOf({ created_at, ...seen }: SeenInquiry, specialty: Specialty) {
  return {
    ...seen,
    specialty,
    sent_service_at: created_at,
    fate: 'accepted' as const,
    role: 'unclaimed' as const,
    was_accepted: 1,
  };
}

type Accepted = { id: number; reply_group: string | null } & Pick<
  CallRow,
  'service_id' | 'service_status' | 'role'
>;

/**
 * `call`: the request that created it; null: this database did not send it, and `bill` says when it
 * was sent, and its price.
 */
export type Assignment = Pick<SeenInquiry, 'service_id' | 'service_status' | 'created_at'> & {
  inquiry: number;
  role: 'serves' | 'duplicate';
  call: number | null;
  bill?: Partial<Pick<CallRow, keyof StoredPrice>> & { sent_at: number };
};

/**
 * Assigns an inquiry that a list has shown to one of ours: it serves it, or is a duplicate call.
 * Throws if it serves another of our inquiries.
 */
export async function assignListedCall(tx: Tx, assignment: Assignment): Promise<void> {
  const { inquiry, role, call, service_id, service_status, bill = {} } = assignment;
  const reply_group = null;
  if (call !== null) {
    await acceptCalls(tx, [{ id: call, service_id, service_status, role, reply_group }]);
    const { created_at: sent_service_at } = assignment;
    await tx
      .updateTable('calls')
      .set({ sent_service_at })
      .where('id', '=', call)
      .where('sent_service_at', 'is', null)
      .execute();
    return;
  }
  const { numUpdatedRows } = await tx
    .updateTable('calls')
    .set({ inquiry, role, reply_group, ...bill })
    .where('service_id', '=', service_id)
    .where((where) => where.or([where('role', '<>', 'serves'), where('inquiry', '=', inquiry)]))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new Error('The call serves another inquiry (G1).');
}

/** Assigns the service's IDs. `reply_group`: of the reply; null: eligd has read the form. */
export async function acceptCalls(tx: Tx, accepted: readonly Accepted[]): Promise<void> {
  if (accepted.length === 0) return;
  // Merges the rows that a list created earlier into the rows of these calls.
  await FORGET_SHOWN(tx, { service_ids: accepted.flatMap(({ service_id }) => service_id ?? []) });
  await ACCEPT(
    tx,
    accepted.map((call) => ({ ...call, fate: 'accepted', was_accepted: 1 })),
  );
}

const FORGET_SHOWN = prepared<{ service_ids: readonly string[] }>()((tx, place) =>
  tx
    .deleteFrom('calls')
    .where('service_id', 'in', place('service_ids'))
    .where('role', '<>', sql.lit('serves')),
);

const ACCEPT = preparedUpdate<Accepted & { fate: 'accepted'; was_accepted: 1 }>('calls');

/** Sets what is charged for the call of an inquiry; null: not known, or not any longer. */
export async function setCharge(tx: Tx, inquiry: number, charge_cents: number | null) {
  await CHARGE(tx, { inquiry, charge_cents });
}

const CHARGE = prepared<{ inquiry: number; charge_cents: number | null }>()((tx, place) =>
  tx
    .updateTable('calls')
    .set({ charge_cents: place('charge_cents') })
    .where('inquiry', '=', place('inquiry'))
    .where(isCurrentCall),
);

/** Notes that a form that was read under the ID of the inquiry's call is this call's. */
export async function verifyId(
  tx: Tx,
  { id, reply_group }: Pick<InquiryRow, 'id' | 'reply_group'>,
): Promise<void> {
  if (reply_group !== null) await VERIFY(tx, { inquiry: id });
}

const VERIFY = prepared<{ inquiry: number }>()((tx, place) =>
  tx
    .updateTable('calls')
    .set({ reply_group: null })
    .where('inquiry', '=', place('inquiry'))
    .where(isCurrentCall),
);

/**
 * Takes the IDs of the calls that serve these inquiries from them. `lost`: they belong to other
 * inquiries, and the calls are sought again. `absent`: the service no longer knows them, and other
 * calls serve; if a list shows one again, it is a duplicate.
 */
export async function releaseIds(
  tx: Tx,
  inquiries: readonly number[],
  fate: 'lost' | 'absent',
): Promise<void> {
  await tx
    .updateTable('calls')
    .set({ service_id: null, role: null, reply_group: null, fate })
    .where('inquiry', 'in', inquiries)
    .where('role', '=', 'serves')
    .execute();
}

/**
 * Returns whether lists have shown calls of the specialty that serve no inquiry of this database.
 */
export async function hasUnclaimed(db: Db, specialty: Specialty): Promise<boolean> {
  const row = await db
    .selectFrom('calls')
    .select('service_id')
    .where('inquiry', 'is', null)
    .where('specialty', '=', sql.lit(specialty))
    // Calls that retention has emptied were ours.
    .where('external_id', '<>', sql.lit(''))
    .limit(sql.lit(1))
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns the inquiries to which the service's IDs belong; null for unclaimed ones. */
export async function ownersOf(
  db: Db | Tx,
  service_ids: readonly string[],
): Promise<Map<string, number | null>> {
  const owners = new Map<string, number | null>();
  for (let first = 0; first < service_ids.length; first += IDS_PER_STATEMENT) {
    const rows = await OWNERS(db, {
      service_ids: service_ids.slice(first, first + IDS_PER_STATEMENT),
    });
    for (const { service_id, inquiry } of rows)
      if (service_id !== null) owners.set(service_id, inquiry);
  }
  return owners;
}

const OWNERS = prepared<{ service_ids: readonly string[] }>()((db, place) =>
  db
    .selectFrom('calls')
    .select(['service_id', 'inquiry'])
    .where('service_id', 'in', place('service_ids')),
);

/**
 * Returns when the last call that this database knows was sent, by the service's clock if that was
 * known; null: it made none.
 */
export async function lastSentAt(db: Db | Tx): Promise<number | null> {
  const row = await db
    .selectFrom('calls')
    .select(sql<number | null>`max(coalesce(sent_service_at, sent_at))`.as('at'))
    .where('sent_at', '>', 0)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** Returns whether this database has made calls of the specialty that the service may have. */
export async function hasMadeCalls(db: Db | Tx, specialty: Specialty): Promise<boolean> {
  const last = await db
    .selectFrom('calls')
    .select('id')
    .where('sent_at', '>', 0)
    .where('specialty', '=', specialty)
    .where(isCurrentCall)
    .orderBy('sent_at', (by) => by.desc().nullsLast())
    .limit(sql.lit(1))
    .executeTakeFirst();
  return last !== undefined;
}
