import { type Kysely, sql } from 'kysely';

/** As in 0041: a call that counts for its inquiry. */
const CURRENT = `(fate IN ('out', 'lost') OR role = 'serves')`;

/**
 * Whether the ID of a call is in doubt is a fact about the call, so it moves from `inquiries` to
 * `calls`. One column says it: an ID that eligd has verified has no reply to doubt.
 */
const STATEMENTS = [
  // The reply that gave the ID. Null: a form that was read under the ID is this call's.
  'ALTER TABLE calls ADD COLUMN reply_group TEXT',
  `UPDATE calls SET reply_group = coalesce(i.reply_group, 'inquiry:' || i.id)
    FROM inquiries AS i
    WHERE i.id = calls.inquiry AND calls.role = 'serves' AND i.is_verified = 0`,
  'DROP VIEW inquiries_with_call',
  'ALTER TABLE inquiries DROP COLUMN is_verified',
  'ALTER TABLE inquiries DROP COLUMN reply_group',
  `CREATE VIEW inquiries_with_call AS
    SELECT inquiries.*, calls.service_id, calls.sent_at, calls.sent_service_at, calls.was_accepted,
      calls.price_cents, calls.charge_cents, calls.free_outcomes, calls.reply_group
    FROM inquiries LEFT JOIN calls ON calls.inquiry = inquiries.id AND ${CURRENT}`,
];

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
