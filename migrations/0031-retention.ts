import { type Kysely, sql } from 'kysely';

/** Retention: each kind of data has its own age, and nothing of a patient on legal hold goes. */
const STATEMENTS = [
  `CREATE TABLE legal_holds (
    connector TEXT NOT NULL,
    patient_id TEXT NOT NULL,                  -- the PMS's id
    reason TEXT NOT NULL,                      -- as it was typed; may be empty
    actor TEXT NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (connector, patient_id)
  ) STRICT, WITHOUT ROWID`,
  // What still has to be erased, by age, so that the nightly purge reads no whole table. An erased
  // answer is the JSON text null; of a record only the addresses of recordings go.
  `CREATE INDEX answers_whole ON answers (received_at) WHERE raw <> 'null'`,
  'CREATE INDEX calls_whole ON calls (sent_at) WHERE body IS NOT NULL',
  `CREATE INDEX records_linked ON records (created_at) WHERE instr(record, '_url":"') > 0`,
];

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
