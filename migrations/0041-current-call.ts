import { type Kysely, sql } from 'kysely';

/** A call that counts for its inquiry: under way, sought, or the one that serves it. */
const CURRENT = `(fate IN ('out', 'lost') OR role = 'serves')`;
/** States of inquiries for which no call counts. */
const UNSENT = `('planned', 'rejected')`;
/** The inquiry's own label, as calls store it. */
const LABEL = 'upper(trim(external_id))';

/**
 * What describes a call is only in `calls`: its ID, its times, and its price. Before, `inquiries`
 * had a copy of its last call's. The unique index is the guard of "one call per need" (G1): no
 * request can be stored for an inquiry while another of its calls is under way, is sought, or
 * serves it.
 */
const STATEMENTS = [
  // Whole US cents, by the price list when the call was sent; null: the price is not known.
  'ALTER TABLE calls ADD COLUMN price_cents INTEGER',
  // What is charged, once the outcome is known: 0 for a free one; null before, or not known.
  'ALTER TABLE calls ADD COLUMN charge_cents INTEGER',
  // Outcomes that are not charged, by the price list when the call was sent, with commas.
  'ALTER TABLE calls ADD COLUMN free_outcomes TEXT',
  // A reply said that the service took it, even if it gave no usable ID: it is never sent again.
  'ALTER TABLE calls ADD COLUMN was_accepted INTEGER NOT NULL DEFAULT 0',

  `UPDATE calls SET was_accepted = 1 WHERE fate = 'accepted'`,

  // One call counts for each inquiry that was sent, and none for the others. Another one that
  // served it is one that the service has forgotten.
  `UPDATE calls SET fate = 'absent', role = NULL, service_id = NULL FROM inquiries AS i
    WHERE i.id = calls.inquiry AND calls.role = 'serves'
      AND (calls.service_id IS NOT i.service_id OR i.state IN ${UNSENT})`,
  `UPDATE calls SET fate = 'absent' FROM inquiries AS i
    WHERE i.id = calls.inquiry AND calls.fate IN ('out', 'lost')
      AND (i.sent_at IS NULL OR i.service_id IS NOT NULL OR i.state IN ${UNSENT}
        OR EXISTS (SELECT 1 FROM calls AS newer WHERE newer.inquiry = i.id
          AND newer.fate IN ('out', 'lost') AND newer.id > calls.id))`,
  // A database of an early version may lack the row of a call that nobody needed anymore.
  `INSERT INTO calls (inquiry, specialty, external_id, match_key, given_name, sent_at,
      sent_service_at, fate, service_id, service_status, role)
    SELECT id, specialty, ${LABEL}, match_key, '', sent_at, sent_service_at,
      CASE WHEN service_id IS NOT NULL THEN 'accepted' WHEN state = 'sending' THEN 'out'
        ELSE 'lost' END,
      service_id, '', CASE WHEN service_id IS NOT NULL THEN 'serves' END
    FROM inquiries
    WHERE (sent_at IS NOT NULL OR service_id IS NOT NULL) AND state NOT IN ${UNSENT}
      AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.inquiry = inquiries.id AND ${CURRENT})
    ON CONFLICT (service_id) DO UPDATE SET inquiry = excluded.inquiry, role = 'serves'`,
  `UPDATE calls SET sent_at = coalesce(calls.sent_at, i.sent_at),
      sent_service_at = coalesce(calls.sent_service_at, i.sent_service_at),
      price_cents = i.price_cents, charge_cents = i.charge_cents,
      free_outcomes = i.free_outcomes, was_accepted = max(calls.was_accepted, i.was_accepted)
    FROM inquiries AS i WHERE i.id = calls.inquiry AND ${CURRENT}`,

  `CREATE UNIQUE INDEX calls_current ON calls (inquiry) WHERE ${CURRENT}`,
  // Sums of a day or a month are read from the index alone, at every send and every scrape.
  `CREATE INDEX calls_sent ON calls (sent_at, price_cents, charge_cents, fate, role)
    WHERE ${CURRENT}`,
  'DROP INDEX inquiries_service_id',
  'DROP INDEX inquiries_sent',
  ...[
    'service_id',
    'sent_at',
    'sent_service_at',
    'was_accepted',
    'price_cents',
    'charge_cents',
    'free_outcomes',
  ].map((column) => `ALTER TABLE inquiries DROP COLUMN ${column}`),
  // Each inquiry with its current call; null: no call counts for it.
  `CREATE VIEW inquiries_with_call AS
    SELECT inquiries.*, calls.service_id, calls.sent_at, calls.sent_service_at, calls.was_accepted,
      calls.price_cents, calls.charge_cents, calls.free_outcomes
    FROM inquiries LEFT JOIN calls ON calls.inquiry = inquiries.id AND ${CURRENT}`,
];

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
