import { createHash, createHmac, randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';

/**
 * The audit trail names who did something and becomes a chain of hashes; the record of who looked
 * at what becomes a chain as well, for commands and pages alike (`store/bookkeeping/chain.ts` says
 * how a row hangs on the one before it).
 */
const TABLES = [
  'DROP TRIGGER audit_no_update',
  'DROP TRIGGER audit_no_delete',
  'DROP INDEX audit_subject',
  'ALTER TABLE audit RENAME TO audit_before',
  `CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT,                -- maria, office:maria; null: eligd itself
    subject TEXT NOT NULL,     -- appointment:12; names of files stand here as keyed hashes
    from_state TEXT,
    to_state TEXT NOT NULL,
    reason TEXT NOT NULL,      -- may hold the service's words; empty once they were erased
    salt BLOB,                 -- of words_hash; null once the words were erased
    words_hash BLOB NOT NULL,  -- SHA-256 of salt and reason; stays when they go
    -- Of a purge: the rows of the log that subject names, up to and with this id.
    covers INTEGER CHECK (subject <> 'log:audit' OR covers < id),
    start_hash BLOB,           -- of a purge: the hash of the last row that it covers
    hash BLOB NOT NULL         -- SHA-256 of the hash before it and of everything but the words
  ) STRICT`,
  // Who looked at which record. subject: the hash by which the log names an appointment, or the
  // day of a schedule. patient: a keyed hash of the patient, where the row is about one.
  `CREATE TABLE access_log (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,       -- maria, office:maria
    page TEXT NOT NULL,        -- what was looked at: show, visit, schedule
    subject TEXT NOT NULL,
    patient TEXT,
    hash BLOB NOT NULL
  ) STRICT`,
  'CREATE INDEX access_log_subject ON access_log (subject, id)',
  'CREATE INDEX access_log_patient ON access_log (patient, id) WHERE patient IS NOT NULL',
  'CREATE INDEX access_log_at ON access_log (at)',
];

/**
 * Both logs only grow. A row goes when a later row of the audit trail says up to where rows were
 * purged; its words go when a later row says that its subject was purged. Each such row is part of
 * the chain, so nobody can erase anything without an entry that stays.
 */
const TRIGGERS = [
  'CREATE INDEX audit_subject ON audit (subject, id)',
  'CREATE INDEX audit_actor ON audit (at) WHERE actor IS NOT NULL',
  'CREATE INDEX audit_covers ON audit (subject, covers) WHERE covers IS NOT NULL',
  `CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
    WHEN NOT (NEW.reason = '' AND NEW.salt IS NULL
      AND NEW.id = OLD.id AND NEW.at = OLD.at AND NEW.actor IS OLD.actor
      AND NEW.subject = OLD.subject AND NEW.from_state IS OLD.from_state
      AND NEW.to_state = OLD.to_state AND NEW.words_hash = OLD.words_hash
      AND NEW.covers IS OLD.covers AND NEW.start_hash IS OLD.start_hash AND NEW.hash = OLD.hash
      AND EXISTS (SELECT 1 FROM audit WHERE subject = OLD.subject AND id > OLD.id
        AND to_state = 'purged'))
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END`,
  `CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
    WHEN NOT EXISTS (SELECT 1 FROM audit WHERE subject = 'log:audit' AND covers >= OLD.id)
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END`,
  `CREATE TRIGGER access_log_no_update BEFORE UPDATE ON access_log
    BEGIN SELECT RAISE(ABORT, 'the access log is append-only'); END`,
  `CREATE TRIGGER access_log_no_delete BEFORE DELETE ON access_log
    WHEN NOT EXISTS (SELECT 1 FROM audit WHERE subject = 'log:access_log' AND covers >= OLD.id)
    BEGIN SELECT RAISE(ABORT, 'the access log is append-only'); END`,
];

const ROWS_PER_READ = 1_000;
/** Subjects that hold the name of a file or an id of the practice management system. */
const NAMED = /^(rejected|item|source):/;

type AuditBefore = {
  id: number;
  at: number;
  subject: string;
  from_state: string | null;
  to_state: string;
  reason: string;
};

type ViewBefore = {
  id: number;
  at: number;
  user: string;
  page: string;
  subject: string;
  connector: string | null;
  source_id: string | null;
};

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of TABLES) await sql.raw(statement).execute(db);
  const { rows } = await sql<{ value: string }>`SELECT value FROM facts
    WHERE name = 'log_key'`.execute(db);
  const key = rows[0]?.value ?? randomBytes(32).toString('hex');
  await chainAudit(db, key);
  await chainViews(db, key);
  for (const statement of TRIGGERS) await sql.raw(statement).execute(db);
  await sql`DROP TABLE audit_before`.execute(db);
  await sql`DROP TABLE office_views`.execute(db);
  await sql`DELETE FROM facts WHERE name = 'purging'`.execute(db);
}

const sha256 = (...parts: (string | Buffer)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

async function chainAudit(db: Kysely<never>, key: string): Promise<void> {
  let hash = Buffer.alloc(32);
  for (let after = 0; ; ) {
    const { rows } = await sql<AuditBefore>`SELECT * FROM audit_before WHERE id > ${after}
      ORDER BY id LIMIT ${ROWS_PER_READ}`.execute(db);
    for (const row of rows) {
      const { id, at, from_state, to_state, reason } = row;
      const subject = NAMED.test(row.subject)
        ? `${row.subject.slice(0, row.subject.indexOf(':'))}:${hashed(key, [row.subject])}`
        : row.subject;
      const salt = randomBytes(16);
      const words_hash = sha256(salt, reason);
      hash = sha256(
        hash,
        JSON.stringify([at, null, subject, from_state, to_state, null, null]),
        words_hash,
      );
      await sql`INSERT INTO audit VALUES (${id}, ${at}, NULL, ${subject}, ${from_state},
        ${to_state}, ${reason}, ${salt}, ${words_hash}, NULL, NULL, ${hash})`.execute(db);
      after = id;
    }
    if (rows.length < ROWS_PER_READ) return;
  }
}

async function chainViews(db: Kysely<never>, key: string): Promise<void> {
  let hash = Buffer.alloc(32);
  for (let after = 0; ; ) {
    const { rows } = await sql<ViewBefore>`SELECT v.*, a.connector, a.source_id
      FROM office_views AS v
      LEFT JOIN appointments AS a ON v.subject = 'appointment:' || a.id
      WHERE v.id > ${after} ORDER BY v.id LIMIT ${ROWS_PER_READ}`.execute(db);
    for (const { id, at, user, page, connector, source_id, ...row } of rows) {
      const subject = connector === null ? row.subject : hashed(key, [connector, source_id]);
      const actor = `office:${user}`;
      hash = sha256(hash, JSON.stringify([at, actor, page, subject, null]));
      await sql`INSERT INTO access_log VALUES (${id}, ${at}, ${actor}, ${page}, ${subject}, NULL,
        ${hash})`.execute(db);
      after = id;
    }
    if (rows.length < ROWS_PER_READ) return;
  }
}

/** As `domain/appointment-hash.ts`. */
function hashed(key: string, parts: (string | null)[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('hex').slice(0, 12);
}
