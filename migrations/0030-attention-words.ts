import { type Kysely, sql } from 'kysely';

/**
 * `words`: what others said (the calling service, a FHIR server, an HL7 receiver) and names of
 * files. They may name a patient, so views show them only where patients are shown. Entries from
 * before have them among ours, so all that they say is taken for the words of others.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE attention ADD COLUMN words TEXT`.execute(db);
  await sql`UPDATE attention SET words = what, what = CASE reason
      WHEN 'refused' THEN 'The service refused the inquiry.'
      WHEN 'delivery_parked' THEN 'The answer is there but could not be written back.'
      WHEN 'file_rejected' THEN 'A file was rejected.'
      WHEN 'row_unreadable' THEN 'A row or message could not be read.'
      WHEN 'connector_cannot_read' THEN 'The connector cannot read appointments.'
      WHEN 'connector_cannot_listen' THEN 'The connector cannot receive messages.'
      WHEN 'connector_cannot_write' THEN 'The connector cannot write results.'
      ELSE 'The payer has decided about the claim.' END
    WHERE reason IN ('refused', 'delivery_parked', 'file_rejected', 'row_unreadable',
      'claim_denied', 'claim_partly_paid', 'claim_not_on_file', 'claim_unclear',
      'connector_cannot_read', 'connector_cannot_listen',
      'connector_cannot_write')`.execute(db);
}
