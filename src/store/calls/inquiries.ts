import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { type InquiryDraft, readDraft } from '../../domain/inquiry.ts';
import type { Specialty } from '../../domain/specialty.ts';
import { type InquiryState, isInquiryStep } from '../../domain/states.ts';
import { resolveAttention } from '../bookkeeping/attention.ts';
import { inquirySubject, writeAudit } from '../bookkeeping/audit.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared, preparedRows, preparedUpdate } from '../engine/prepared.ts';
import type { Tables } from '../engine/tables.ts';
import { forgetDoubts } from './doubtful-calls.ts';

const IDS_PER_STATEMENT = 500;

/** An inquiry, with the call that is under way, is sought, or serves it. */
export type InquiryRow = Selectable<Tables['inquiries_with_call']>;

const NO_CALL = {
  service_id: null,
  sent_at: null,
  sent_service_at: null,
  was_accepted: null,
  price_cents: null,
  charge_cents: null,
  free_outcomes: null,
  reply_group: null,
};

export type NewInquiry = Pick<
  Insertable<Tables['inquiries']>,
  | 'connector'
  | 'need_base'
  | 'benefit_year'
  | 'attempt'
  | 'retry'
  | 'patient_key'
  | 'specialty'
  | 'external_id'
  | 'match_key'
  | 'due_at'
  | 'visit_at'
> & { hold_reason?: string | null; is_ordered?: 1; draft: InquiryDraft };

/** Columns that a change of state may also set. */
export type InquiryChanges = Omit<
  Updateable<Tables['inquiries']>,
  'id' | 'state' | 'created_at' | 'updated_at' | 'reason'
>;

/**
 * Adds a planned inquiry. Returns null when the service could not tell it from another inquiry that
 * is planned or in progress; then this one must wait.
 */
export async function addPlanned(
  tx: Tx,
  inquiry: NewInquiry,
  reason: string,
  now: number,
): Promise<InquiryRow | null> {
  const [row] = await PLAN(tx, [
    {
      ...inquiry,
      draft: JSON.stringify(inquiry.draft),
      state: 'planned',
      service_status: null,
      hold_reason: inquiry.hold_reason ?? null,
      lookup_at: null,
      poll_at: null,
      empty_since: null,
      announced_asks: null,
      overdue_since: null,
      answered_at: null,
      reason,
      created_at: now,
      updated_at: now,
    },
  ]);
  if (row === undefined) return null;
  await writeAudit(tx, [
    { at: now, subject: inquirySubject(row.id), from_state: null, to_state: 'planned', reason },
  ]);
  return { ...row, ...NO_CALL };
}

const PLAN = preparedRows<Insertable<Tables['inquiries']>>()((tx, rows) =>
  tx
    .insertInto('inquiries')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll(),
);

/** A change of state. `set`: other columns that change with it. */
type InquiryStep = {
  from: InquiryState;
  to: InquiryState;
  reason: string;
  set?: InquiryChanges;
};

/**
 * Moves inquiries from `from` to `to`, all for the same reason, and writes the audit trail. The
 * step must be in the table of `domain/states.ts`. Returns the rows that were moved; rows that
 * another step has moved meanwhile are left out.
 */
export async function moveInquiries(
  tx: Tx,
  ids: readonly number[],
  step: InquiryStep,
  now: number,
): Promise<{ id: number }[]> {
  const { set = {}, ...how } = step;
  return await moveEach(
    tx,
    ids.map((id) => ({ ...set, id })),
    how,
    now,
  );
}

/**
 * Moves inquiries as `moveInquiries` does. Each has its own values of the other columns that change
 * with the state; all must name the same columns.
 */
export async function moveEach(
  tx: Tx,
  each: readonly (InquiryChanges & { id: number })[],
  { from, to, reason }: Omit<InquiryStep, 'set'>,
  now: number,
): Promise<{ id: number }[]> {
  if (!isInquiryStep(from, to)) throw new Error(`An inquiry cannot go from ${from} to ${to}.`);
  const moved = await MOVE(
    tx,
    each.map((changes) => ({ ...changes, was: from, state: to, reason, updated_at: now })),
  );
  const step = { at: now, from_state: from, to_state: to, reason };
  await writeAudit(
    tx,
    moved.map(({ id }) => ({ ...step, subject: inquirySubject(id) })),
  );
  if (to !== 'withdrawn' || moved.length === 0) return moved;
  // No call waits for the office any longer.
  const ids = moved.map(({ id }) => id);
  await forgetDoubts(tx, ids);
  const resolved = ['doubtful_call', 'refused', 'inquiry_unreadable'] as const;
  await resolveAttention(tx, ids.map(inquirySubject), now, resolved);
  return moved;
}

const MOVE = preparedUpdate<InquiryChanges & { id: number; was: InquiryState }>(
  'inquiries',
  'state',
);

/** Changes columns but not the state. */
export async function updateInquiry(
  tx: Tx,
  id: number,
  changes: InquiryChanges,
  now: number,
): Promise<void> {
  const columns = Object.keys(changes).join(' ');
  await CHANGE(tx, { ...changes, id, updated_at: now }, columns);
}

const CHANGE = prepared<{ id: number; updated_at: number }>()((tx, place, columns: string) =>
  tx
    .updateTable('inquiries')
    .set({ ...placesOf(place, columns), updated_at: place('updated_at') })
    .where('id', '=', place('id')),
);

/** `columns`: names separated by spaces; each value is bound by the name of its column. */
function placesOf(place: (name: never) => unknown, columns: string): InquiryChanges {
  const names = columns === '' ? [] : columns.split(' ');
  return Object.fromEntries(names.map((name) => [name, place(name as never)]));
}

export async function inquiryById(db: Db | Tx, id: number): Promise<InquiryRow | null> {
  const [row] = await BY_ID(db, { id });
  return row ?? null;
}

const BY_ID = prepared<{ id: number }>()((db, place) =>
  db.selectFrom('inquiries_with_call').selectAll().where('id', '=', place('id')),
);

export async function inquiriesById(tx: Db | Tx, ids: readonly number[]): Promise<InquiryRow[]> {
  return ids.length === 0 ? [] : await BY_IDS(tx, { ids });
}

const BY_IDS = prepared<{ ids: readonly number[] }>()((db, place) =>
  db.selectFrom('inquiries_with_call').selectAll().where('id', 'in', place('ids')).orderBy('id'),
);

/** Returns the newest attempt for a need; null when there is none. */
export async function latestForNeed(
  db: Db,
  need_base: string,
  benefit_year: number,
): Promise<InquiryRow | null> {
  const [row] = await LATEST(db, { need_base, benefit_year });
  return row ?? null;
}

const LATEST = prepared<{ need_base: string; benefit_year: number }>()((db, place) =>
  db
    .selectFrom('inquiries_with_call')
    .selectAll()
    .where('need_base', '=', place('need_base'))
    .where('benefit_year', '=', place('benefit_year'))
    .orderBy('attempt', 'desc')
    .limit(sql.lit(1)),
);

/**
 * Returns the procedure codes that the calls for a need asked about: one list for each call that
 * was sent at `since` or later; null: at any time.
 */
export async function codesAsked(
  tx: Tx,
  {
    need_base,
    benefit_year,
    since,
  }: {
    need_base: string;
    benefit_year: number;
    since: number | null;
  },
): Promise<string[][]> {
  const rows = await MADE_FOR(tx, { need_base, benefit_year });
  return rows
    .filter(({ sent_at }) => since === null || sent_at === null || sent_at >= since)
    .map(({ draft }) => readDraft(draft)?.benefits_codes ?? []);
}

const MADE_FOR = prepared<{ need_base: string; benefit_year: number }>()((tx, place) =>
  tx
    .selectFrom('inquiries_with_call')
    .select(['draft', 'sent_at'])
    .where('need_base', '=', place('need_base'))
    .where('benefit_year', '=', place('benefit_year'))
    .where(sql<boolean>`state in ('sending', 'uncertain', 'undecidable', 'open', 'answered')`),
);

export async function inState(db: Db | Tx, state: InquiryState): Promise<InquiryRow[]> {
  return await IN_STATE(db, {}, state);
}

const IN_STATE = prepared()((db, _, state: InquiryState) =>
  db
    .selectFrom('inquiries_with_call')
    .selectAll()
    .where('state', '=', sql.lit(state))
    .orderBy('id'),
);

/** Returns the rows with these service IDs. */
export async function byServiceIds(
  db: Db | Tx,
  service_ids: readonly string[],
): Promise<InquiryRow[]> {
  const rows: InquiryRow[] = [];
  for (let first = 0; first < service_ids.length; first += IDS_PER_STATEMENT) {
    rows.push(
      ...(await db
        .selectFrom('inquiries_with_call')
        .selectAll()
        .where('service_id', 'in', service_ids.slice(first, first + IDS_PER_STATEMENT))
        .execute()),
    );
  }
  return rows;
}

/** Returns open inquiries in row order, after the given row. */
export async function openAfter(db: Db, after: number, limit: number): Promise<InquiryRow[]> {
  return await db
    .selectFrom('inquiries_with_call')
    .selectAll()
    .where('state', '=', sql.lit('open'))
    .where('service_id', 'is not', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(sql.lit(limit))
    .execute();
}

/** Returns the service IDs of a specialty's inquiries that the service has and has not ended. */
export async function openServiceIds(db: Db, specialty: Specialty): Promise<Set<string>> {
  const rows = await db
    .selectFrom('inquiries_with_call')
    .select('service_id')
    .where('state', '=', sql.lit('open'))
    .where('specialty', '=', specialty)
    .execute();
  return new Set(rows.flatMap(({ service_id }) => (service_id === null ? [] : [service_id])));
}

/**
 * Returns the inquiries whose IDs came in the same reply and are not verified: if one ID is in
 * doubt, all are, also one that the service no longer knows.
 */
export async function sameReply(tx: Tx, reply_group: string): Promise<InquiryRow[]> {
  return await tx
    .selectFrom('inquiries_with_call')
    .selectAll()
    .where('reply_group', '=', reply_group)
    .where('state', 'in', ['open', 'undecidable'])
    .execute();
}

/**
 * Returns the inquiry under way that the service could not tell from this one: the visit or the
 * claim has moved to another record of the patient. Only one of them can be under way.
 */
export async function unsettledTwin(
  tx: Tx,
  row: Pick<InquiryRow, 'id' | 'external_id' | 'match_key'>,
): Promise<InquiryRow | undefined> {
  const { id, external_id, match_key } = row;
  const alike = await UNSETTLED(tx, { external_id, match_key });
  return alike.find((each) => each.id !== id);
}

// As the unique index has it: of every specialty.
const UNSETTLED = prepared<{ external_id: string; match_key: string }>()((tx, place) =>
  tx
    .selectFrom('inquiries_with_call')
    .selectAll()
    .where('external_id', '=', place('external_id'))
    .where('match_key', '=', place('match_key'))
    .where(sql<boolean>`state in ('planned', 'sending', 'uncertain')`),
);

/** Returns inquiries with these match keys, in any state. */
export async function inquiriesByMatch(
  tx: Tx,
  specialty: Specialty,
  match_keys: readonly string[],
): Promise<InquiryRow[]> {
  if (match_keys.length === 0) return [];
  return await BY_MATCH(tx, { match_keys, specialty });
}

const BY_MATCH = prepared<{ match_keys: readonly string[]; specialty: Specialty }>()((tx, place) =>
  tx
    .selectFrom('inquiries_with_call')
    .selectAll()
    .where('match_key', 'in', place('match_keys'))
    .where('specialty', '=', place('specialty')),
);
