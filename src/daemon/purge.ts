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
import type { Rewritten } from '../store/engine/rewrite.ts';
import type { Store } from '../store/engine/store.ts';
import { isRewrittenByHand, removeOldBytes } from './old-bytes.ts';
import type { Parts } from './parts.ts';

type FileKind = KeptFiles['kind'];

export type OldKind = PurgedKind | FileKind | 'copies';

/** Data from before these times (epoch milliseconds) is deleted; null: the data is kept. */
export type Limits = PurgeLimits & Record<FileKind, number | null>;

type Connectors = readonly { id: string; connector: Pick<Connector, 'keptFiles'> }[];

type Place = { config: Config; connectors: Connectors };

/**
 * `left_files`: files that could not be deleted. `rewritten`: whether the deleted bytes are gone
 * from the database, too, with its write-ahead log.
 */
export type PurgeReport = Purged & {
  copies: number;
  files: number;
  left_files: number;
  rewritten: Rewritten;
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

/** `by`: who ran the command, if anyone did. */
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
  const has_deleted = Object.values(purged).some((count) => count > 0);
  const rewritten = await removeOldBytes(store, path, { now, has_deleted });
  return { ...purged, copies, files: deleted, left_files: left, rewritten };
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
export function leftOver({ left_files, rewritten }: PurgeReport): EligdError | null {
  const left = LEFT[rewritten];
  if (left === undefined && left_files === 0) return null;
  const files = left_files === 1 ? '1 file' : `${left_files} files`;
  return new EligdError('temporary', {
    what: 'Some data past its retention time is still on the disk.',
    ...(left ?? {
      why: `${files} in the drop folders could not be deleted.`,
      next: 'Let the user that eligd runs as write to the drop folder. eligd tries again daily.',
    }),
  });
}

const LEFT: { [how in Rewritten]?: { why: string; next: string } } = {
  busy: {
    why:
      'Another program is using the database, so the bytes of deleted data are still in its ' +
      'files.',
    next:
      'eligd tries again daily. You can also run "eligd purge" again when the other program has ' +
      'finished.',
  },
  no_room: {
    why:
      'To remove the bytes of deleted data, eligd rewrites the whole database. The disk ' +
      'has less room than that takes.',
    next: 'Make room on the disk of the database. eligd tries again daily.',
  },
  too_large: {
    why:
      'To remove the bytes of deleted data, eligd rewrites the whole database, and keeps a copy ' +
      'in memory. While it runs, it does so up to 250 MB, and otherwise up to half of the free ' +
      'memory. The database is larger.',
    next:
      'About once a month, stop eligd, run "eligd purge", and start eligd again. If it is ' +
      'stopped already, free some memory first.',
  },
};

type Daily = Pick<Parts, 'store'> & {
  options: { config: Config; env: Pick<Parts['options']['env'], 'clock' | 'log'> };
  connectors: Connectors;
};

/** Runs the daily job. What could not be deleted is tried again, with increasing pauses. */
export async function purgeDaily({
  options: { config, env },
  store,
  connectors,
}: Daily): Promise<void> {
  const now = env.clock.now();
  const place = { config, connectors };
  const report = await purgeAll(place, store, { limits: limitsOf(config, now), now });
  const { appointments, inquiries, copies, files, log_entries, rewritten } = report;
  const answers = report.answers + report.requests + report.recordings;
  if (appointments + answers + copies + files + log_entries > 0)
    env.log('purged', { appointments, inquiries, answers, copies, files, log_entries, rewritten });
  const left = leftOver(report);
  if (left === null) return;
  const is_by_hand = report.left_files === 0 && rewritten === 'too_large';
  if (!is_by_hand || !(await isRewrittenByHand(store.db, now))) throw left;
}
