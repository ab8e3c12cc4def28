/**
 * How a row of the audit trail or of the access log hangs on the row before it. Whoever changes or
 * takes out a row breaks every hash after it, and the newest hash goes to the journal daily
 * (`audit_head`), out of reach of whoever can write the database.
 *
 * A row is chained in the transaction that adds it: sealing it later would leave a time in which
 * nobody could say whether it was changed.
 */
import { hash, randomBytes } from 'node:crypto';
import { appointmentHash } from '../../domain/appointment-hash.ts';

/** The hash before the first row. */
export const CHAIN_START: Buffer = Buffer.alloc(32);

const SALT_BYTES = 16;
/** Asked for together, because each request for randomness costs more than the rest of a row. */
const SALTS_TOGETHER = 256;
let salts: Buffer = Buffer.alloc(0);

/** What of a row of the audit trail is never erased. */
export type AuditLink = {
  at: number;
  actor: string | null;
  subject: string;
  from_state: string | null;
  to_state: string;
  covers: number | null;
  start_hash: Buffer | null;
  words_hash: Buffer;
};

export type AccessLink = {
  at: number;
  actor: string;
  page: string;
  subject: string;
  patient: string | null;
};

const sha256 = (...parts: (string | Buffer)[]): Buffer =>
  hash('sha256', Buffer.concat(parts.map((part) => Buffer.from(part))), 'buffer');

/**
 * The words of a row can be erased and the row still be checked: only their salted hash is in the
 * chain. Without the salt nobody can try out names against it.
 */
export function sealWords(words: string): { salt: Buffer; words_hash: Buffer } {
  if (salts.length === 0) salts = randomBytes(SALT_BYTES * SALTS_TOGETHER);
  const salt = salts.subarray(0, SALT_BYTES);
  salts = salts.subarray(SALT_BYTES);
  return { salt, words_hash: wordsHash(salt, words) };
}

export const wordsHash = (salt: Buffer, words: string): Buffer => sha256(salt, words);

export function auditHash(before: Buffer, row: AuditLink): Buffer {
  const { at, actor, subject, from_state, to_state, covers, start_hash, words_hash } = row;
  const start = start_hash === null ? null : start_hash.toString('hex');
  return sha256(
    before,
    JSON.stringify([at, actor, subject, from_state, to_state, covers, start]),
    words_hash,
  );
}

export function accessHash(before: Buffer, row: AccessLink): Buffer {
  const { at, actor, page, subject, patient } = row;
  return sha256(before, JSON.stringify([at, actor, page, subject, patient]));
}

/** Stands for a patient in the access log, as `appointmentHash` does for an appointment. */
export const patientHash = (key: string, connector: string, patient_id: string): string =>
  appointmentHash(key, `patient of ${connector}`, patient_id);
