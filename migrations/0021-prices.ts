import { type Kysely, sql } from 'kysely';

const STATEMENTS = [
  // Whole US cents, by the price list when the call was sent; null: the price is not known.
  'ALTER TABLE inquiries ADD COLUMN price_cents INTEGER',
  // What is charged, once the outcome is known: 0 for a free one; null before, or not known.
  'ALTER TABLE inquiries ADD COLUMN charge_cents INTEGER',
  // Outcomes that are not charged, by the price list when the call was sent, with commas.
  'ALTER TABLE inquiries ADD COLUMN free_outcomes TEXT',
  // Sums of a day or a month are read from the index alone, at every send and every scrape.
  'DROP INDEX inquiries_sent',
  `CREATE INDEX inquiries_sent ON inquiries (sent_at, price_cents, charge_cents)
    WHERE sent_at IS NOT NULL`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
