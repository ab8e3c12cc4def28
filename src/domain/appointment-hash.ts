import { createHmac } from 'node:crypto';

/**
 * Stands for an appointment in the log (G6): without the installation's key, which lies in its
 * database, nobody can tell which id of the PMS it is, and with the database it is one lookup.
 */
export function appointmentHash(key: string, connector: string, source_id: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([connector, source_id]))
    .digest('hex')
    .slice(0, 12);
}
