import type { Db, Tx } from '../engine/database.ts';

export type AuditEntry = {
  at: number;
  subject: string;
  from_state: string | null;
  to_state: string;
  reason: string;
};

/** Rows that SQLite takes in one statement without its limit of variables being near. */
const ROWS_PER_STATEMENT = 500;

/**
 * Adds to the append-only trail; in the same transaction as the change it tells of. `reason` may
 * hold the service's words.
 */
export async function writeAudit(tx: Tx, entries: readonly AuditEntry[]): Promise<void> {
  for (let first = 0; first < entries.length; first += ROWS_PER_STATEMENT) {
    await tx
      .insertInto('audit')
      .values(entries.slice(first, first + ROWS_PER_STATEMENT))
      .execute();
  }
}

/** Everything that happened to the subjects, oldest first. */
export async function auditOf(db: Db, subjects: readonly string[]): Promise<AuditEntry[]> {
  if (subjects.length === 0) return [];
  return await db
    .selectFrom('audit')
    .select(['at', 'subject', 'from_state', 'to_state', 'reason'])
    .where('subject', 'in', subjects)
    .orderBy('id')
    .execute();
}

export const appointmentSubject = (id: number): string => `appointment:${id}`;
export const inquirySubject = (id: number): string => `inquiry:${id}`;
export const deliverySubject = (key: string): string => `delivery:${key}`;
