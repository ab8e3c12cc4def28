import { type Kysely, sql } from 'kysely';

/**
 * A merge left the closed visits of the merged record under its ID, so neither a legal hold on the
 * remaining patient nor the search for a returning patient found them.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`UPDATE appointments SET patient_key = m.connector || '|' || m.patient_id || '|'
      || substr(patient_key, length(m.connector || '|' || m.alias || '|') + 1)
    FROM patient_aliases AS m
    WHERE patient_key >= m.connector || '|' || m.alias || '|'
      AND patient_key < m.connector || '|' || m.alias || '}'`.execute(db);
}
