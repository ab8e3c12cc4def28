import { createHmac } from 'node:crypto';

/**
 * Returns the hash that identifies an appointment in the log (G6). Without the installation's key,
 * which is in its database, the hash does not reveal the PMS ID; with the database, one lookup
 * does.
 */
export function appointmentHash(key: string, connector: string, source_id: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([connector, source_id]))
    .digest('hex')
    .slice(0, 12);
}
