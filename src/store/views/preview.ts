/** The data that a preview reads from its copy of the database. */
import { sql } from 'kysely';
import type { InquiryDraft } from '../../domain/inquiry.ts';
import { readDraft } from '../../domain/inquiry.ts';
import type { SituationWord } from '../../domain/situation.ts';
import type { Db } from '../engine/database.ts';
import { situationAt } from './situation.ts';

const IDS_PER_STATEMENT = 500;

/** Returns the content of each planned inquiry, by its row; null: it is damaged. */
export async function plannedCalls(db: Db): Promise<Map<number, InquiryDraft | null>> {
  const rows = await db
    .selectFrom('inquiries')
    .select(['id', 'draft'])
    .where('state', '=', sql.lit('planned'))
    .execute();
  return new Map(rows.map(({ id, draft }) => [id, readDraft(draft)]));
}

/**
 * Returns those of the given planned inquiries that serve an appointment with this ID in a
 * connector.
 */
export async function plannedFor(
  db: Db,
  connector: string,
  source_ids: ReadonlySet<string>,
): Promise<Set<number>> {
  const rows = await db
    .selectFrom('inquiries as i')
    .innerJoin('inquiry_appointments as j', 'j.inquiry', 'i.id')
    .innerJoin('appointments as a', 'a.id', 'j.appointment')
    .select(['i.id', 'a.source_id'])
    .where('i.state', '=', sql.lit('planned'))
    .where('a.connector', '=', connector)
    .execute();
  return new Set(rows.filter(({ source_id }) => source_ids.has(source_id)).map(({ id }) => id));
}

/** Returns the open attention items with their rows. */
export async function openReasons(db: Db): Promise<Map<number, string>> {
  const rows = await db
    .selectFrom('attention')
    .select(['id', 'reason'])
    .where('resolved_at', 'is', null)
    .execute();
  return new Map(rows.map(({ id, reason }) => [id, reason]));
}

/** Counts the appointments with these IDs in a connector, by situation. */
export async function situationsOf(
  db: Db,
  connector: string,
  source_ids: readonly string[],
  now: number,
): Promise<{ situation: SituationWord; count: number }[]> {
  const counts = new Map<SituationWord, number>();
  for (let first = 0; first < source_ids.length; first += IDS_PER_STATEMENT) {
    const rows = await db
      .selectFrom('appointments')
      .select(situationAt(now).as('situation'))
      .where('connector', '=', connector)
      .where('kind', '=', sql.lit('appointment'))
      .where('superseded_at', 'is', null)
      .where('source_id', 'in', source_ids.slice(first, first + IDS_PER_STATEMENT))
      .execute();
    for (const { situation } of rows) counts.set(situation, (counts.get(situation) ?? 0) + 1);
  }
  return [...counts].map(([situation, count]) => ({ situation, count }));
}
