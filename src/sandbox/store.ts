import Database from 'better-sqlite3';
import type { Inquiry, InquiryRequest, Specialty } from './request.ts';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS inquiries (
    seq INTEGER PRIMARY KEY,      -- the order of acceptance
    id TEXT NOT NULL UNIQUE,      -- what callers know it by
    specialty TEXT NOT NULL,
    external_id TEXT,             -- a label of the caller's: neither unique nor checked
    request TEXT NOT NULL,        -- JSON, as it came
    created_ms INTEGER NOT NULL,  -- call time
    subject TEXT NOT NULL,        -- member id, birth date and tax id, to count attempts
    attempt INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS inquiries_by_label ON inquiries (specialty, external_id, seq);
  CREATE INDEX IF NOT EXISTS inquiries_by_subject ON inquiries (subject, attempt);
  CREATE TABLE IF NOT EXISTS tokens (token TEXT PRIMARY KEY, expires_ms INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS subscriptions (
    only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
    id TEXT NOT NULL,
    callback_url TEXT NOT NULL,
    update_frequency_min INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
  ) STRICT;
`;

export type Subscription = {
  id: string;
  callback_url: string;
  update_frequency_min: number;
  created_ms: number;
};

export type NewInquiry = {
  id: string;
  specialty: Specialty;
  request: InquiryRequest;
  created_ms: number;
};

type InquiryRow = {
  seq: number;
  id: string;
  specialty: Specialty;
  external_id: string | null;
  request: string;
  created_ms: number;
  attempt: number;
};

/**
 * The service's data, in SQLite. Every method is one transaction, which is committed when it
 * returns.
 */
export class Store {
  readonly #db: Database.Database;
  readonly #statements: ReturnType<typeof prepareAll>;
  readonly #insertAll: (inquiries: readonly NewInquiry[]) => Inquiry[];

  constructor(path: string) {
    this.#db = new Database(path);
    this.#db.pragma('journal_mode = WAL');
    // A power failure may lose the last inquiries of a sandbox; a crash of the process does not.
    this.#db.pragma('synchronous = NORMAL');
    // Checkpoint a tenth as often as the default: checkpoints are most of the cost of many
    // creations.
    this.#db.pragma('wal_autocheckpoint = 10000');
    this.#db.exec(SCHEMA);
    this.#statements = prepareAll(this.#db);
    this.#insertAll = this.#db.transaction((inquiries: readonly NewInquiry[]) =>
      inquiries.map((one) => this.#insert(one)),
    );
  }

  close(): void {
    this.#db.close();
  }

  setting(name: string): string | undefined {
    return this.#statements.readSetting.get(name)?.value;
  }

  saveSetting(name: string, value: string): void {
    this.#statements.saveSetting.run(name, value);
  }

  addInquiries(inquiries: readonly NewInquiry[]): Inquiry[] {
    const [only] = inquiries;
    return inquiries.length === 1 && only !== undefined
      ? [this.#insert(only)]
      : this.#insertAll(inquiries);
  }

  inquiryById(id: string): Inquiry | undefined {
    return inquiryOf(this.#statements.inquiryById.get(id));
  }

  inquiryBySeq(seq: number): Inquiry | undefined {
    return inquiryOf(this.#statements.inquiryBySeq.get(seq));
  }

  /**
   * Returns the sequence numbers of the inquiries created by then, oldest first; of every label if
   * `external_id` is undefined.
   */
  listSeqs(
    specialty: Specialty,
    external_id: string | undefined,
    created_until_ms: number,
  ): number[] {
    const rows =
      external_id === undefined
        ? this.#statements.listAll.all(specialty, created_until_ms)
        : this.#statements.listByLabel.all(specialty, external_id, created_until_ms);
    return rows.map(({ seq }) => seq);
  }

  /** Returns every inquiry in the order of acceptance. */
  *ledger(): Generator<Inquiry> {
    for (const row of this.#statements.ledger.iterate()) {
      const inquiry = inquiryOf(row);
      if (inquiry !== undefined) yield inquiry;
    }
  }

  /** Returns the inquiries accepted after the one with this sequence number, in order. */
  *inquiriesAfter(seq: number): Generator<Inquiry> {
    for (const row of this.#statements.inquiriesAfter.all(seq)) {
      const inquiry = inquiryOf(row);
      if (inquiry !== undefined) yield inquiry;
    }
  }

  countInquiries(): number {
    return this.#statements.count.get()?.count ?? 0;
  }

  newestCreation(): number | undefined {
    return this.#statements.newest.get()?.newest ?? undefined;
  }

  addToken(token: string, expires_ms: number, now_ms: number): void {
    this.#statements.dropOldTokens.run(now_ms);
    this.#statements.addToken.run(token, expires_ms);
  }

  isTokenValid(token: string, now_ms: number): boolean {
    return this.#statements.validToken.get(token, now_ms) !== undefined;
  }

  revokeTokens(): number {
    return this.#statements.revokeTokens.run().changes;
  }

  subscription(): Subscription | undefined {
    return this.#statements.readSubscription.get();
  }

  /** Registers a subscription, or updates the existing one, which keeps its ID. */
  saveSubscription(subscription: Subscription): void {
    const { id, callback_url, update_frequency_min, created_ms } = subscription;
    this.#statements.saveSubscription.run(id, callback_url, update_frequency_min, created_ms);
  }

  deleteSubscription(): boolean {
    return this.#statements.deleteSubscription.run().changes > 0;
  }

  /** Deletes everything except the settings. */
  clear(): void {
    this.#db.exec('DELETE FROM inquiries; DELETE FROM tokens; DELETE FROM subscriptions;');
  }

  #insert(inquiry: NewInquiry): Inquiry {
    const { request } = inquiry;
    const external_id = request.external_id ?? null;
    const subject = JSON.stringify([request.member_id, request.dob, request.tax_id]);
    const row = this.#statements.addInquiry.get(
      inquiry.id,
      inquiry.specialty,
      external_id,
      JSON.stringify(request),
      inquiry.created_ms,
      subject,
      subject,
    );
    if (row === undefined) throw new Error('SQLite returned no row for an inserted inquiry.');
    return { ...inquiry, external_id, seq: row.seq, attempt: row.attempt };
  }
}

type NewRow = [string, string, string | null, string, number, string, string];

function prepareAll(db: Database.Database) {
  return {
    readSetting: db.prepare<[string], { value: string }>(
      'SELECT value FROM settings WHERE name = ?',
    ),
    saveSetting: db.prepare<[string, string]>(
      'INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)',
    ),
    addInquiry: db.prepare<NewRow, { seq: number; attempt: number }>(`
      INSERT INTO inquiries (id, specialty, external_id, request, created_ms, subject, attempt)
      VALUES (?, ?, ?, ?, ?, ?,
        (SELECT coalesce(max(attempt), 0) + 1 FROM inquiries WHERE subject = ?))
      RETURNING seq, attempt`),
    inquiryById: db.prepare<[string], InquiryRow>('SELECT * FROM inquiries WHERE id = ?'),
    inquiryBySeq: db.prepare<[number], InquiryRow>('SELECT * FROM inquiries WHERE seq = ?'),
    listAll: db.prepare<[string, number], { seq: number }>(
      'SELECT seq FROM inquiries WHERE specialty = ? AND created_ms <= ? ORDER BY seq',
    ),
    listByLabel: db.prepare<[string, string, number], { seq: number }>(
      'SELECT seq FROM inquiries WHERE specialty = ? AND external_id = ? AND created_ms <= ? ' +
        'ORDER BY seq',
    ),
    ledger: db.prepare<[], InquiryRow>('SELECT * FROM inquiries ORDER BY seq'),
    inquiriesAfter: db.prepare<[number], InquiryRow>(
      'SELECT * FROM inquiries WHERE seq > ? ORDER BY seq',
    ),
    count: db.prepare<[], { count: number }>('SELECT count(*) AS count FROM inquiries'),
    newest: db.prepare<[], { newest: number | null }>(
      'SELECT max(created_ms) AS newest FROM inquiries',
    ),
    addToken: db.prepare<[string, number]>('INSERT INTO tokens (token, expires_ms) VALUES (?, ?)'),
    dropOldTokens: db.prepare<[number]>('DELETE FROM tokens WHERE expires_ms <= ?'),
    validToken: db.prepare<[string, number]>(
      'SELECT 1 FROM tokens WHERE token = ? AND expires_ms > ?',
    ),
    revokeTokens: db.prepare<[]>('DELETE FROM tokens'),
    readSubscription: db.prepare<[], Subscription>(
      'SELECT id, callback_url, update_frequency_min, created_ms FROM subscriptions',
    ),
    saveSubscription: db.prepare<[string, string, number, number]>(`
      INSERT INTO subscriptions (only_one, id, callback_url, update_frequency_min, created_ms)
      VALUES (1, ?, ?, ?, ?)
      ON CONFLICT (only_one) DO UPDATE SET
        callback_url = excluded.callback_url,
        update_frequency_min = excluded.update_frequency_min`),
    deleteSubscription: db.prepare<[]>('DELETE FROM subscriptions'),
  };
}

function inquiryOf(row: InquiryRow | undefined): Inquiry | undefined {
  if (row === undefined) return undefined;
  const { seq, id, specialty, external_id, created_ms, attempt } = row;
  // Only requests that validation accepted are stored.
  const request = JSON.parse(row.request) as InquiryRequest;
  return { seq, id, specialty, external_id, request, created_ms, attempt };
}
