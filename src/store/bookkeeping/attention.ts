import { type Expression, type Insertable, type SqlBool, sql } from 'kysely';
import type { Attention, AttentionReason } from '../../domain/attention.ts';
import { parsed } from '../../domain/damaged.ts';
import type { ClosedReason } from '../../domain/explanation.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared, preparedRows } from '../engine/prepared.ts';
import type { SubjectKind, Tables } from '../engine/tables.ts';
import { writeAudit } from './audit.ts';

export type AttentionSubject = {
  connector: string | null;
  appointment: number | null;
  inquiry: number | null;
  /** `appointment:12`, `inquiry:3`, `source:…`, `installation`. */
  subject: string;
};

/**
 * Raises an attention item, which becomes part of the subject's history. If an item with this
 * reason is already open, updates it and keeps its `since`. An item about an inquiry shows the next
 * open visit that the inquiry serves, if there is one.
 */
export async function raiseAttention(
  tx: Tx,
  about: AttentionSubject,
  entry: Attention,
  now: number,
): Promise<void> {
  if (!(await isOnList(tx, about.subject, entry.reason))) {
    await writeAudit(tx, [
      {
        at: now,
        subject: about.subject,
        from_state: null,
        to_state: 'attention',
        reason: entry.what,
      },
    ]);
  }
  const { reason, what, next, words = null } = entry;
  await RAISE(tx, [{ ...about, reason, what, next, words, since: now, resolved_at: null }]);
  if (about.inquiry !== null) await nameNextVisit(tx, 'inquiry', about.inquiry, now);
}

/** An item that is open already gets the words, and the visit if its inquiry had none. */
const RAISE = preparedRows<Insertable<Tables['attention']>>()((tx, items) =>
  tx
    .insertInto('attention')
    .values(items)
    .onConflict((conflict) =>
      conflict
        .columns(['subject', 'reason'])
        .where('resolved_at', 'is', null)
        .doUpdateSet({
          what: (excluded) => excluded.ref('excluded.what'),
          next: (excluded) => excluded.ref('excluded.next'),
          words: (excluded) => excluded.ref('excluded.words'),
          connector: sql`coalesce(attention.connector, excluded.connector)`,
          appointment: sql`coalesce(attention.appointment, excluded.appointment)`,
        }),
    ),
);

/** Returns whether an item with this reason, or any, is open whose text contains `naming`. */
export async function isOnList(
  tx: Tx,
  subject: string,
  reason: AttentionReason | null = null,
  naming = '',
): Promise<boolean> {
  return (await OPEN_OF(tx, { subject, naming: `%${naming}%` }, reason ?? '')).length > 0;
}

const OPEN_OF = prepared<{ subject: string; naming: string }>()((tx, place, reason: string) =>
  tx
    .selectFrom('attention')
    .select('id')
    .where('subject', '=', place('subject'))
    .$if(reason !== '', (query) => query.where('reason', '=', sql.lit(reason as AttentionReason)))
    .where('what', 'like', place('naming'))
    .where('resolved_at', 'is', null)
    .limit(sql.lit(1)),
);

/**
 * Has open items about one inquiry, or those that show one appointment, show the next open visit
 * that their inquiry serves, or the last one if all are over: a sooner one may have been booked, or
 * this one is over, or may now be another patient's. Items without an open visit do not change.
 */
export async function nameNextVisit(
  tx: Tx,
  column: 'inquiry' | 'appointment',
  id: number,
  now: number,
): Promise<void> {
  await NAME_NEXT_VISIT(tx, { id, now }, column);
}

const NAME_NEXT_VISIT = prepared<{ id: number; now: number }>()(
  (tx, place, column: 'inquiry' | 'appointment') =>
    tx
      .updateTable('attention')
      .set({
        appointment: sql`coalesce(
          (select a.id from inquiry_appointments l join appointments a on a.id = l.appointment
            where l.inquiry = attention.inquiry and a.closed_reason is null
            order by a.starts_at < ${place('now')}, abs(a.starts_at - ${place('now')}), a.id
            limit 1),
          attention.appointment)`,
      })
      .where(column, '=', place('id'))
      .where(sql<SqlBool>`subject = 'inquiry:' || inquiry`)
      .where('resolved_at', 'is', null),
);

/** Resolves attention items: those of the subjects with one of `reasons`, or all of their items. */
export async function resolveAttention(
  tx: Tx,
  about: string | readonly string[],
  now: number,
  reasons?: readonly AttentionReason[],
): Promise<void> {
  const subjects = typeof about === 'string' ? [about] : about;
  if (subjects.length === 0) return;
  if (reasons === undefined) await RESOLVE(tx, { subjects, now });
  else await RESOLVE_SOME(tx, { subjects, now }, reasons.join(' '));
}

type About = { subjects: readonly string[]; now: number };

const RESOLVE = prepared<About>()((tx, place) =>
  resolved(tx, place('now')).where('subject', 'in', place('subjects')),
);

/** Reasons are fixed names without spaces, and callers pass only a few different lists. */
const RESOLVE_SOME = prepared<About>()((tx, place, reasons: string) =>
  resolved(tx, place('now'))
    .where('subject', 'in', place('subjects'))
    .where('reason', 'in', reasons.split(' ') as AttentionReason[]),
);

function resolved(tx: Db | Tx, now: Expression<number>) {
  return tx.updateTable('attention').set({ resolved_at: now }).where('resolved_at', 'is', null);
}

/**
 * Resolves items about visits when both the visit and the item are older than `before`: the office
 * can no longer act on them, and the list stays readable. An item about an inquiry stays open while
 * the inquiry serves a later open visit (G2). Items remain in the history. Returns the appointments
 * that they were about.
 */
export async function expireAttention(tx: Tx, before: number, now: number): Promise<number[]> {
  const expired = await tx
    .updateTable('attention')
    .set({ resolved_at: now })
    .where('resolved_at', 'is', null)
    .where('since', '<', before)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('appointments as visit')
          .select('visit.id')
          .whereRef('visit.id', '=', 'attention.appointment')
          .where('visit.starts_at', '<', before),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('inquiry_appointments as l')
            .innerJoin('appointments as a', 'a.id', 'l.appointment')
            .select('l.appointment')
            .whereRef('l.inquiry', '=', 'attention.inquiry')
            .where('a.closed_reason', 'is', null)
            .where('a.starts_at', '>=', before),
        ),
      ),
    )
    .returning(['appointment', 'inquiry'])
    .execute();
  const inquiries = expired.flatMap(({ inquiry }) => inquiry ?? []);
  const linked =
    inquiries.length === 0
      ? []
      : await tx
          .selectFrom('inquiry_appointments')
          .select('appointment')
          .where('inquiry', 'in', inquiries)
          .execute();
  return [...new Set([...expired, ...linked].flatMap(({ appointment }) => appointment ?? []))];
}

/**
 * Raises the newest item of `subject` with one of `reasons` again, because it also applies to
 * another visit.
 */
export async function raiseAgain(
  tx: Tx,
  about: AttentionSubject,
  reasons: readonly AttentionReason[],
  now: number,
): Promise<void> {
  const last = await tx
    .selectFrom('attention')
    .select(['reason', 'what', 'next', 'words'])
    .where('subject', '=', about.subject)
    .where('reason', 'in', reasons)
    .orderBy('id', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst();
  if (last !== undefined)
    await raiseAttention(tx, about, { ...last, reason: last.reason as AttentionReason }, now);
}

/** The items that a check has found, with all reasons that the same check can raise. */
type Findings = {
  reasons: readonly AttentionReason[];
  entries: readonly Attention[];
};

/** Replaces the items of `subject` that have one of `reasons` with `entries`. */
export async function replaceAttention(
  tx: Tx,
  about: AttentionSubject,
  { reasons, entries }: Findings,
  now: number,
): Promise<void> {
  const obsolete = reasons.filter((reason) => !entries.some((entry) => entry.reason === reason));
  if (obsolete.length > 0) await resolveAttention(tx, about.subject, now, obsolete);
  // Several fields may be missing; one item then lists all of them.
  for (const reason of new Set(entries.map((entry) => entry.reason))) {
    const same = entries.filter((entry) => entry.reason === reason);
    const join = (texts: string[]) => [...new Set(texts)].join(' ');
    await raiseAttention(
      tx,
      about,
      {
        reason,
        what: join(same.map(({ what }) => what)),
        next: join(same.map(({ next }) => next)),
        words: join(same.map(({ words }) => words ?? '')) || null,
      },
      now,
    );
  }
}

export type AttentionRow = {
  id: number;
  connector: string | null;
  appointment: number | null;
  inquiry: number | null;
  subject: string;
  reason: string;
  what: string;
  next: string;
  words: string | null;
  since: number;
  kind: SubjectKind | null;
  source_id: string | null;
  starts_at: number | null;
  closed_reason: ClosedReason | null;
  /** Null: it is about no visit, or the stored text is damaged. */
  content: string | null;
};

/**
 * Returns the open items with their appointments; for one connector (and the installation), or all.
 * Items about visits come first, nearest visit at the top.
 */
export async function openAttention(db: Db, connector?: string): Promise<AttentionRow[]> {
  const rows =
    connector === undefined ? await entriesOf(db).execute() : await ENTRIES_FOR(db, {}, connector);
  return rows.map(withoutDamage);
}

/** A visit whose stored text is damaged must not hide the others (G7). */
function withoutDamage(row: AttentionRow): AttentionRow {
  return row.content === null || parsed(row.content) !== null ? row : { ...row, content: null };
}

/** Returns the same as `openAttention`, some at a time. An item that ends meanwhile is left out. */
export async function* attentionPages(db: Db, connector: string): AsyncGenerator<AttentionRow[]> {
  const rows = await IDS_FOR(db, {}, connector);
  for (let first = 0; first < rows.length; first += ITEMS_PER_PAGE) {
    const ids = rows.slice(first, first + ITEMS_PER_PAGE).map(({ id }) => id);
    yield (await ENTRIES_WITH(db, { ids })).map(withoutDamage);
  }
}

const ITEMS_PER_PAGE = 256;

const ENTRIES_FOR = prepared()((db, _, connector: string) => entriesOf(db).where(isFor(connector)));

const IDS_FOR = prepared()((db, _, connector: string) =>
  entriesOf(db).clearSelect().select('attention.id').where(isFor(connector)),
);

const ENTRIES_WITH = prepared<{ ids: readonly number[] }>()((db, place) =>
  entriesOf(db).where('attention.id', 'in', place('ids')),
);

/** Items about the connector, and about the installation. */
const isFor = (connector: string) =>
  sql<SqlBool>`(attention.connector = ${sql.lit(connector)} or attention.connector is null)`;

function entriesOf(db: Db | Tx) {
  return db
    .selectFrom('attention')
    .leftJoin('appointments', 'appointments.id', 'attention.appointment')
    .select([
      'attention.id',
      'attention.connector',
      'attention.appointment',
      'attention.inquiry',
      'attention.subject',
      'attention.reason',
      'attention.what',
      'attention.next',
      'attention.words',
      'attention.since',
      'appointments.kind',
      'appointments.source_id',
      'appointments.starts_at',
      'appointments.closed_reason',
      'appointments.content',
    ])
    .where('attention.resolved_at', 'is', null)
    .orderBy((order) => order('appointments.starts_at', 'is', null))
    .orderBy('appointments.starts_at')
    .orderBy('attention.id');
}
