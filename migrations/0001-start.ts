import { type Kysely, sql } from 'kysely';

/**
 * The first schema. Times are milliseconds since 1970-01-01T00:00:00Z (columns `*_at`), flags are 0
 * or 1, `json` is text. Tables are STRICT, so that a wrong type is an error and not a conversion.
 */
const TABLES = [
  // One row per configured connector that ever ran.
  `CREATE TABLE connectors (
    id TEXT PRIMARY KEY,
    -- The connector's own; committed with the batch that brought it (G3).
    cursor TEXT
  ) STRICT`,

  // Files, messages, pages: what a connector read from.
  `CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    connector TEXT NOT NULL,
    key TEXT NOT NULL,                         -- identifies the content, e.g. sha256:…
    name TEXT NOT NULL,                        -- what a person calls it; may hold a patient's name
    first_seen_at INTEGER NOT NULL,
    completed_at INTEGER,                      -- null until its last batch was accepted
    UNIQUE (connector, key)
  ) STRICT`,

  `CREATE TABLE appointments (
    id INTEGER PRIMARY KEY,
    connector TEXT NOT NULL,
    source_id TEXT NOT NULL,                   -- the PMS's id
    superseded_at INTEGER,                     -- the PMS used source_id again for somebody else
    content TEXT NOT NULL,                     -- AppointmentInput as JSON
    content_hash TEXT NOT NULL,
    starts_at INTEGER NOT NULL,
    patient_key TEXT NOT NULL,                 -- connector, patient id and birth date
    last_source INTEGER,                       -- the source that mentioned it last
    missing_since INTEGER,                     -- absent from a full export since
    -- cancelled, past, no_coverage, skipped, replaced; null while open
    closed_reason TEXT,
    closed_at INTEGER,
    plan_due_at INTEGER,                       -- when it is planned next; null: on a change
    plan_wait TEXT,                            -- why planning waits until then
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT`,
  'CREATE UNIQUE INDEX appointments_current ON appointments (connector, source_id) WHERE ' +
    'superseded_at IS NULL',
  `CREATE INDEX appointments_plan_due ON appointments (plan_due_at) WHERE plan_due_at IS NOT NULL`,
  'CREATE INDEX appointments_upcoming ON appointments (connector, starts_at) WHERE ' +
    'superseded_at IS NULL',
  `CREATE INDEX appointments_patient ON appointments (patient_key)`,

  // One row per need, with the inquiry that serves it (G1).
  `CREATE TABLE inquiries (
    id INTEGER PRIMARY KEY,
    connector TEXT NOT NULL,
    need_base TEXT NOT NULL,                   -- patient, coverage, tax id and question set
    benefit_year INTEGER NOT NULL,
    attempt INTEGER NOT NULL,                  -- counts the calls for the same need
    retry INTEGER NOT NULL,                    -- unsuccessful calls right before this one
    patient_key TEXT NOT NULL,
    specialty TEXT NOT NULL,
    state TEXT NOT NULL,                       -- domain/states.ts
    service_status TEXT,                       -- the service's last word, verbatim
    external_id TEXT NOT NULL,
    match_key TEXT NOT NULL,
    draft TEXT NOT NULL,                       -- InquiryDraft as JSON: what will be asked
    body TEXT,                                 -- the exact request, committed before it is sent
    due_at INTEGER NOT NULL,                   -- not sent before
    visit_at INTEGER NOT NULL,                 -- the earliest visit it serves
    hold_reason TEXT,                          -- why it is not sent although due
    service_id TEXT,
    is_verified INTEGER NOT NULL DEFAULT 0,    -- a read form under service_id matched this row
    reply_group TEXT,                          -- the ids of one reply are trusted together
    was_accepted INTEGER NOT NULL DEFAULT 0,   -- a reply said success: never goes back to planned
    sent_at INTEGER,
    look_at INTEGER,                           -- uncertain: when to look for it
    empty_looks INTEGER NOT NULL DEFAULT 0,    -- looks that count and found nothing
    poll_at INTEGER,                           -- open or answered: when to ask
    empty_polls INTEGER NOT NULL DEFAULT 0,    -- reads in a row that did not know the id
    hollow_since INTEGER,                      -- SUCCESS without results, seen since
    overdue_since INTEGER,
    answered_at INTEGER,
    reason TEXT,                               -- why it is in this state, for explain
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (need_base, benefit_year, attempt)
  ) STRICT`,
  // Two rows that the service could not tell apart are never under way at once.
  'CREATE UNIQUE INDEX inquiries_unsettled ON inquiries (external_id, match_key) WHERE state ' +
    `IN ('planned', 'sending', 'uncertain')`,
  `CREATE UNIQUE INDEX inquiries_service_id ON inquiries (service_id) WHERE service_id IS NOT NULL`,
  // The state leads, because SQLite uses no partial index for a state that comes as a parameter.
  // The first also counts by state.
  `CREATE INDEX inquiries_due ON inquiries (state, visit_at, id)`,
  `CREATE INDEX inquiries_look ON inquiries (state, look_at) WHERE look_at IS NOT NULL`,
  `CREATE INDEX inquiries_poll ON inquiries (state, poll_at) WHERE poll_at IS NOT NULL`,
  `CREATE INDEX inquiries_sent ON inquiries (sent_at) WHERE sent_at IS NOT NULL`,
  `CREATE INDEX inquiries_match ON inquiries (match_key)`,

  `CREATE TABLE inquiry_appointments (
    inquiry INTEGER NOT NULL REFERENCES inquiries (id),
    appointment INTEGER NOT NULL REFERENCES appointments (id),
    coverage_rank INTEGER NOT NULL,            -- 1 is the primary
    draft TEXT NOT NULL,                       -- what this appointment alone would ask
    created_at INTEGER NOT NULL,
    PRIMARY KEY (inquiry, appointment)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX inquiry_appointments_appointment ON inquiry_appointments (appointment)`,

  // Everything the service's list ever showed: the ledger that the sweep compares.
  `CREATE TABLE service_inquiries (
    service_id TEXT PRIMARY KEY,
    specialty TEXT NOT NULL,
    external_id TEXT NOT NULL,                 -- canonical: trimmed, upper case
    match_key TEXT NOT NULL,                   -- empty when it could not be read
    service_status TEXT NOT NULL,
    created_at INTEGER,                        -- the service's creation_ts
    inquiry INTEGER REFERENCES inquiries (id), -- null: nobody's, consulted before any call
    role TEXT NOT NULL,                        -- main, extra, unowned
    first_seen_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX service_inquiries_unowned ON service_inquiries (match_key) WHERE inquiry IS NULL`,
  `CREATE INDEX service_inquiries_inquiry ON service_inquiries (inquiry) WHERE inquiry IS NOT NULL`,

  // Answers as they came; never changed, so that normalizing can run again.
  `CREATE TABLE answers (
    id INTEGER PRIMARY KEY,
    inquiry INTEGER NOT NULL REFERENCES inquiries (id),
    revision INTEGER NOT NULL,
    service_status TEXT NOT NULL,
    raw TEXT NOT NULL,                         -- the read form as JSON
    content_hash TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    is_normalized INTEGER NOT NULL DEFAULT 0,
    UNIQUE (inquiry, revision)
  ) STRICT`,
  `CREATE INDEX answers_raw ON answers (id) WHERE is_normalized = 0`,

  `CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    answer INTEGER NOT NULL UNIQUE REFERENCES answers (id),
    inquiry INTEGER NOT NULL REFERENCES inquiries (id),
    revision INTEGER NOT NULL,
    record TEXT NOT NULL,                      -- EligibilityRecord as JSON
    created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX records_inquiry ON records (inquiry, revision)`,

  `CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    connector TEXT NOT NULL,
    appointment INTEGER NOT NULL REFERENCES appointments (id),
    inquiry INTEGER NOT NULL REFERENCES inquiries (id),
    record INTEGER NOT NULL REFERENCES records (id),
    coverage_rank INTEGER NOT NULL,
    notes TEXT NOT NULL,                       -- JSON array of sentences
    state TEXT NOT NULL,                       -- domain/states.ts
    -- Committed before the write, so that a repetition is the same batch (G4).
    batch TEXT,
    failures INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL,
    delivered_at INTEGER,
    created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX deliveries_due ON deliveries (connector, state, due_at)`,
  `CREATE INDEX deliveries_appointment ON deliveries (appointment)`,
  `CREATE INDEX deliveries_batch ON deliveries (batch) WHERE batch IS NOT NULL`,
  `CREATE INDEX deliveries_state ON deliveries (state)`,

  `CREATE TABLE delivery_batches (
    id TEXT PRIMARY KEY,
    connector TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT`,

  // What waits for a person. One open row per (subject, reason).
  `CREATE TABLE attention (
    id INTEGER PRIMARY KEY,
    connector TEXT,                            -- null: the installation
    appointment INTEGER REFERENCES appointments (id),
    inquiry INTEGER REFERENCES inquiries (id),
    subject TEXT NOT NULL,                     -- appointment:12, inquiry:3, source:…, installation
    reason TEXT NOT NULL,
    what TEXT NOT NULL,
    next TEXT NOT NULL,
    since INTEGER NOT NULL,
    resolved_at INTEGER
  ) STRICT`,
  `CREATE UNIQUE INDEX attention_open ON attention (subject, reason) WHERE resolved_at IS NULL`,
  `CREATE INDEX attention_appointment ON attention (appointment) WHERE resolved_at IS NULL`,

  // Every change of state, append-only.
  `CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    subject TEXT NOT NULL,
    from_state TEXT,
    to_state TEXT NOT NULL,
    reason TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX audit_subject ON audit (subject, id)`,
  `CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the ` +
    `audit trail is append-only'); END`,
  `CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the ` +
    `audit trail is append-only'); END`,

  // The rate limit (G5): a slot is taken before a request and is free again 60 s after the request
  // ended.
  `CREATE TABLE rate_slots (
    id INTEGER PRIMARY KEY,
    taken_at INTEGER NOT NULL,
    ended_at INTEGER
  ) STRICT`,

  // Why nothing is sent at the moment.
  `CREATE TABLE halts (
    reason TEXT PRIMARY KEY,
    since INTEGER NOT NULL,
    next_try_at INTEGER,                       -- null: when a person releases it
    detail TEXT NOT NULL
  ) STRICT`,

  // What was learned about the service, and other single values.
  `CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT`,
];

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of TABLES) await sql.raw(statement).execute(db);
}
