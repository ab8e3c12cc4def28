/** Deletes data past its retention time: daily, and by `eligd purge`. */
import type { Connector, KeptFiles } from '../../connectors/contract.ts';
import { EligdError } from '../domain/errors.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Config } from '../ops/config.ts';
import { deleteFiles, type OldFile, oldFiles } from '../ops/old-files.ts';
import { actingAs } from '../store/bookkeeping/audit.ts';
import { legalHolds } from '../store/bookkeeping/legal-holds.ts';
import {
  countOld,
  type Purged,
  type PurgedKind,
  type PurgeLimits,
  purge,
} from '../store/bookkeeping/purge.ts';
import { deleteOldCopies, oldCopies } from '../store/engine/backup.ts';
import type { Db } from '../store/engine/database.ts';
import type { Store } from '../store/engine/store.ts';
import { emptyWal } from '../store/engine/wal.ts';
import type { Parts } from './parts.ts';

type FileKind = KeptFiles['kind'];

export type OldKind = PurgedKind | FileKind | 'copies';

/** Data from before these times (epoch milliseconds) is deleted; null: the data is kept. */
export type Limits = PurgeLimits & Record<FileKind, number | null>;

type Connectors = readonly { id: string; connector: Pick<Connector, 'keptFiles'> }[];

type Place = { config: Config; connectors: Connectors };

/**
 * `left_files`: files that could not be deleted. `is_wal_empty`: whether the deleted bytes are gone
 * from the database's write-ahead log, too.
 */
export type PurgeReport = Purged & {
  copies: number;
  files: number;
  left_files: number;
  is_wal_empty: boolean;
};

export function limitsOf({ retention }: Config, now: number): Limits {
  const ago = (days: number | null) => (days === null ? null : now - days * DAY_MS);
  const recordings = ago(retention.recordings_days);
  const answers = ago(retention.answers_days);
  return {
    visits: ago(retention.days),
    // An answer contains the addresses of recordings, so the shorter of the two retention times
    // applies.
    answers: answers === null ? recordings : Math.max(answers, recordings ?? answers),
    requests: ago(retention.requests_days),
    recordings,
    processed: ago(retention.processed_days),
    rejected: ago(retention.rejected_days),
    outbox: ago(retention.outbox_days),
    logs: ago(retention.audit_days),
  };
}

export async function purgeAll(
  { config, connectors }: Place,
  store: Store,
  { limits, now, by }: { limits: Limits; now: number; by?: string },
): Promise<PurgeReport> {
  const purged = await purge(by === undefined ? store : storeOf(store, by), limits, now);
  const { path } = config.state;
  const copies =
    limits.visits === null ? 0 : deleteOldCopies(path, config.backup.folder, limits.visits);
  const files = await filesToGo(store.db, connectors, limits);
  const { deleted, left } = await deleteFiles(files.flatMap(({ old }) => old));
  const is_wal_empty = await emptyWal(store.db);
  return { ...purged, copies, files: deleted, left_files: left, is_wal_empty };
}

/** Returns the same store, but its audit trail names `actor`. */
const storeOf = (store: Store, actor: string): Store => ({
  ...store,
  write: (work) => store.write((tx) => work(actingAs(tx, actor))),
});

/** Returns what `purgeAll` would delete, without deleting; `oldest`: epoch milliseconds. */
export async function previewPurge(
  { config, connectors }: Place,
  db: Db,
  limits: Limits,
): Promise<Record<OldKind, { count: number; oldest: number | null }>> {
  const counted = await countOld(db, limits);
  const { path } = config.state;
  const copies = limits.visits === null ? [] : oldCopies(path, config.backup.folder, limits.visits);
  const files = { processed: countOf([]), rejected: countOf([]), outbox: countOf([]) };
  const to_go = await filesToGo(db, connectors, limits);
  for (const kind of ['processed', 'rejected', 'outbox'] as const)
    files[kind] = countOf(to_go.filter((each) => each.kind === kind).flatMap(({ old }) => old));
  return { ...counted, ...files, copies: countOf(copies) };
}

const countOf = (files: readonly OldFile[]) => ({
  count: files.length,
  oldest: files.reduce<number | null>((oldest, { at }) => Math.min(oldest ?? at, at), null),
});

/**
 * A file may name any patient: while one of a connector's patients is on legal hold, keep them all.
 */
async function filesToGo(
  db: Db,
  connectors: Connectors,
  limits: Limits,
): Promise<{ kind: FileKind; old: OldFile[] }[]> {
  const held = new Set((await legalHolds(db)).map(({ connector }) => connector));
  const found: { kind: FileKind; old: OldFile[] }[] = [];
  for (const { id, connector } of connectors)
    for (const kept of connector.keptFiles?.() ?? []) {
      const before = limits[kept.kind];
      if (before === null || held.has(id)) continue;
      found.push({ kind: kept.kind, old: await oldFiles(kept, before) });
    }
  return found;
}

/** Returns why deleted data may still be on the disk; null: it is gone. */
export function leftOver({ left_files, is_wal_empty }: PurgeReport): EligdError | null {
  if (left_files === 0 && is_wal_empty) return null;
  const files = left_files === 1 ? '1 file' : `${left_files} files`;
  return new EligdError('temporary', {
    what: 'Some data past its retention time is still on the disk.',
    why: is_wal_empty
      ? `${files} in the drop folders could not be deleted.`
      : 'Another program is reading the database, so the bytes are still in the write-ahead log.',
    next: is_wal_empty
      ? 'Let the user that eligd runs as write to the drop folder. eligd tries again daily.'
      : 'eligd tries again daily. You can also run "eligd purge" again when the other program ' +
        'has finished.',
  });
}

/** Runs the daily job. What could not be deleted is tried again, with increasing pauses. */
export async function purgeDaily({ options, store, connectors }: Parts): Promise<void> {
  const { config, env } = options;
  const now = env.clock.now();
  const place = { config, connectors };
  const report = await purgeAll(place, store, { limits: limitsOf(config, now), now });
  const { appointments, inquiries, copies, files, log_entries } = report;
  const answers = report.answers + report.requests + report.recordings;
  if (appointments + answers + copies + files + log_entries > 0)
    env.log('purged', { appointments, inquiries, answers, copies, files, log_entries });
  const left = leftOver(report);
  if (left !== null) throw left;
}
