import { createHmac } from 'node:crypto';

/**
 * Identifies an appointment in the log (G6). Without the installation's key, which is in its
 * database, nobody can tell which PMS ID it is; with the database, it takes one lookup.
 */
export function appointmentHash(key: string, connector: string, source_id: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([connector, source_id]))
    .digest('hex')
    .slice(0, 12);
}
