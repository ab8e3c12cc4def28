/**
 * Chains each row of the audit trail and of the access log to the row before it. Changing or
 * removing a row breaks every later hash. Once a day the newest hash goes to the journal
 * (`audit_head`), which someone with write access to the database cannot change.
 *
 * A row is chained in the transaction that adds it: with later sealing, a change in between would
 * go unnoticed.
 */
import { hash, randomBytes } from 'node:crypto';
import { appointmentHash } from '../../domain/appointment-hash.ts';

/** The hash before the first row. */
export const CHAIN_START: Buffer = Buffer.alloc(32);

const SALT_BYTES = 16;
/**
 * Salts are generated in batches, because each request for random bytes costs more than the rest of
 * a row.
 */
const SALTS_TOGETHER = 256;
let salts: Buffer = Buffer.alloc(0);

/** The parts of an audit row that are never erased. */
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

type AccessLink = {
  at: number;
  actor: string;
  page: string;
  subject: string;
  patient: string | null;
};

/** Most rows fit in here, so that they need no buffer of their own. */
const HASHED_BYTES = 1_024;
const hashed = Buffer.alloc(HASHED_BYTES);
/** The bytes of a UTF-16 code unit in UTF-8, at most. */
const BYTES_PER_UNIT = 3;

/** Asks for text, because Node needs four times as long to allocate a buffer for a hash. */
function sha256(...parts: (string | Buffer)[]): Buffer {
  return Buffer.from(hash('sha256', bytesOf(parts), 'binary'), 'binary');
}

/** Returns the bytes of all parts, valid until the next call. */
function bytesOf(parts: readonly (string | Buffer)[]): Buffer {
  let bytes_max = 0;
  for (const part of parts)
    bytes_max += typeof part === 'string' ? part.length * BYTES_PER_UNIT : part.length;
  if (bytes_max > HASHED_BYTES)
    return Buffer.concat(
      parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)),
    );
  let length = 0;
  for (const part of parts)
    length += typeof part === 'string' ? hashed.write(part, length) : part.copy(hashed, length);
  return hashed.subarray(0, length);
}

/**
 * Seals the words of a row with a salted hash. Only this hash is in the chain, so the words can be
 * erased and the row can still be checked. Without the salt, nobody can test names against the
 * hash.
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

/**
 * Returns the hash that identifies a patient in the access log, as `appointmentHash` does for an
 * appointment.
 */
export const patientHash = (key: string, connector: string, patient_id: string): string =>
  appointmentHash(key, `patient of ${connector}`, patient_id);
