import { type Kysely, sql } from 'kysely';

/** The words of docs/glossary.md, in the names of columns and subjects. */
const STATEMENTS = [
  'ALTER TABLE inquiries RENAME COLUMN look_at TO lookup_at',
  'ALTER TABLE inquiries RENAME COLUMN empty_looks TO empty_lookups',
  'DROP INDEX inquiries_look',
  `CREATE INDEX inquiries_lookup ON inquiries (state, lookup_at) WHERE lookup_at IS NOT NULL`,
  // What is on the attention list is taken off under the name that it has from now on.
  `UPDATE attention SET subject = 'reconciliation:' || substr(subject, 7)
    WHERE subject LIKE 'sweep:%'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
