import { type Kysely, sql } from 'kysely';

const STATEMENTS = [
  // Ids of patients whose records were merged into another's: a message that is late, or that comes
  // from a system which does not know of the merge, still names them.
  `CREATE TABLE patient_aliases (
    connector TEXT NOT NULL,
    alias TEXT NOT NULL,                       -- the id that went
    patient_id TEXT NOT NULL,                  -- the id that stays; never an alias itself
    merged_at INTEGER NOT NULL,
    PRIMARY KEY (connector, alias)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX patient_aliases_of_patient ON patient_aliases (connector, patient_id)',

  // Patients who have died, as a message about them said; a scheduling message need not repeat it.
  `CREATE TABLE deceased_patients (
    connector TEXT NOT NULL,
    patient_id TEXT NOT NULL,
    told_at INTEGER NOT NULL,
    PRIMARY KEY (connector, patient_id)
  ) STRICT, WITHOUT ROWID`,
];

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
