/**
 * Replaces the database with a copy. The guarantees of `eligd restore` (G1, G2) are described at
 * `restoreDatabase`.
 */
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { EligdError } from '../../domain/errors.ts';
import { type CopyContent, flush, inspectCopy, settingsTable } from './backup.ts';
import { copyDatabase } from './copy.ts';
import { RESTORING } from './database.ts';
import { openSqlite, type Raw } from './driver.ts';

/** A source (file, message, page) that was acknowledged completely and is missing from the copy. */
type ForgottenSource = { connector: string; name: string; completed_at: number };

export type Restored = {
  content: CopyContent;
  /** Where the replaced database is now; null when there was none. */
  replaced: string | null;
  /** Null when the replaced database is unreadable, so these sources are unknown. */
  forgotten: ForgottenSource[] | null;
};

/**
 * Rate-limit slots that were taken after the copy are not in it; all are free after a minute (G5).
 */
const SLOTS_MS = 60_000;

/**
 * Replaces the database at `path` with the copy in `from`, after checking the copy. Returns what
 * the copy contains, and what is missing from it. The caller holds the instance lock. The old
 * database is kept next to it, with all its files. A restore sends nothing. The next start waits
 * `quiet_ms`, then compares the service's whole list with the copy before it sends, and uses
 * inquiries on the list instead of new calls (docs/design.md "Reconciliation").
 */
export function restoreDatabase(
  path: string,
  from: string,
  now: number,
  quiet_ms: number,
): Restored {
  if (existsSync(path) && isSameFile(path, from)) {
    throw new EligdError('usage', {
      what: `${from} is the database itself; nothing was changed.`,
      why: 'A restore replaces the database with another file.',
      next: 'Give the name of a backup.',
    });
  }
  const content = inspectCopy(from);
  const forgotten = forgottenSources(path, content.backed_up_at);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const part = path + RESTORING;
  rmSync(part, { force: true });
  copyDatabase(from, part);
  pauseRequests(part, now, quiet_ms);
  inspectCopy(part);
  flush(part);
  const replaced = moveAside(path, now);
  renameSync(part, path);
  flush(dirname(path));
  return { content, replaced, forgotten };
}

/**
 * Returns how long no request may leave after a restore. An inquiry that was sent just before it is
 * in no copy, and the service may take up to two settle times to list it (G1); an earlier
 * comparison would miss it.
 */
export function quietAfterRestoreMs({
  settle_seconds,
  max_per_minute,
}: {
  settle_seconds: number;
  max_per_minute: number;
}): number {
  return Math.max(2 * settle_seconds * 1000, max_per_minute === 0 ? 0 : SLOTS_MS);
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [statSync(one), statSync(other, { throwIfNoEntry: false })];
  return a.dev === b?.dev && a.ino === b.ino;
}

/**
 * Stores a pause in the form that `createRateLimiter` uses for a pause that the service requested.
 */
function pauseRequests(file: string, now: number, quiet_ms: number): void {
  const raw = openSqlite(file);
  try {
    raw
      .prepare(
        `insert into ${settingsTable(raw)} (name, value, updated_at)
         values ('requests_paused_until', ?, ?)
         on conflict (name) do update set value = excluded.value, updated_at = excluded.updated_at`,
      )
      .run(String(now + quiet_ms), now);
  } finally {
    raw.close();
  }
}

/**
 * Moves the database with its WAL and index, or the newest commits would be missing from it.
 * Returns its new path; null when there was none.
 */
function moveAside(path: string, now: number): string | null {
  const beside = `${path}.replaced-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
  const parts = ['', '-wal', '-shm'].filter((end) => existsSync(path + end));
  for (const end of parts) renameSync(path + end, beside + end);
  return parts.includes('') ? beside : null;
}

function forgottenSources(path: string, since: number): ForgottenSource[] | null {
  if (!existsSync(path)) return null;
  let raw: Raw | undefined;
  try {
    raw = openSqlite(path, { readonly: true });
    const sources = 'select connector, name, completed_at from sources where completed_at > :since';
    const unread = hasWholeMessages(raw)
      ? 'union all select connector, name, received_at from unread_messages ' +
        'where received_at > :since'
      : '';
    const rows = raw.prepare(`${sources} ${unread} order by 3`);
    return rows.all({ since }) as ForgottenSource[];
  } catch {
    return null;
  } finally {
    raw?.close();
  }
}

/** Returns whether unread messages are no sources yet; an older eligd wrote both. */
function hasWholeMessages(raw: Raw): boolean {
  const columns = raw.prepare(`select name from pragma_table_info('unread_messages')`).pluck();
  return columns.all().includes('key');
}
