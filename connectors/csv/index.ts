/**
 * The drop-folder connector: appointment exports arrive as files, and answers leave as files. The
 * path of a file:
 *
 *     inbox/ ──stable?──▶ processing/ ──read, accepted──▶ processed/
 *                                     └─nothing usable──▶ rejected/
 *
 * Next to a file with problems is <name>.reasons.csv.
 *
 * A file leaves `inbox/` by rename, so that it is read once, and `processing/` only after the last
 * `accept` (G3).
 */
import { join } from 'node:path';
import { errorCode } from '../../src/domain/errors.ts';
import type { CheckLine, Connector, ConnectorType, PullCall } from '../contract.ts';
import { checkFolder } from './check.ts';
import { type CsvConfig, csvConfigSchema } from './config.ts';
import { type CsvEnv, EVENTS } from './events.ts';
import {
  ensureFolder,
  folderAt,
  folderError,
  keptFiles,
  type Listing,
  listFiles,
  moveBack,
  moveFile,
  StabilityWatch,
  shortName,
  wasUsed,
} from './folder.ts';
import { NotAccepted, readInPlace, takeFile } from './intake.ts';
import {
  writeAttention,
  writeBatch,
  writeClaims,
  writeHeartbeat,
  writeSchedule,
} from './outbox.ts';
import { writeTable } from './schedule.ts';

const csv: ConnectorType<CsvConfig> = {
  name: 'csv',
  config: csvConfigSchema,
  events: EVENTS,
  writes_into: 'outbox/',
  has_exports: true,
  create,
};
export default csv;

function create(config: CsvConfig, env: CsvEnv): Connector {
  const folder = folderAt(env.resolvePath(config.folder));
  const inbox = new Inbox(config, env);
  return {
    pull: (call) => inbox.pull(call),
    deliver: async (batch, signal) => {
      await ensureFolder(folder);
      return writeBatch(folder, batch, env, signal);
    },
    deliverClaims: async (batch, signal) => {
      await ensureFolder(folder);
      return writeClaims(folder, batch, env.time_zone, signal);
    },
    publishAttention: async (entries, _signal, as_of) => {
      await ensureFolder(folder);
      await writeAttention(folder, entries, as_of, env.time_zone);
    },
    publishTable: async (lines, _signal, as_of) => {
      await ensureFolder(folder);
      await writeTable(folder, lines, { as_of, time_zone: env.time_zone });
    },
    publishHeartbeat: async (text) => {
      await ensureFolder(folder);
      await writeHeartbeat(folder, text);
    },
    readFile: (path, call) => readInPlace({ config, env, folder, call }, path),
    publishSchedule: async (html) => {
      await ensureFolder(folder);
      await writeSchedule(folder, html);
    },
    readAgain: (since) => moveBack(folder, since),
    keptFiles: () => keptFiles(folder),
    wasUsedBefore: () => wasUsed(folder),
    check: (): Promise<CheckLine[]> => checkFolder(folder),
  };
}

/** A file that was not accepted in this many pulls is read after the others (G7). */
const FAILURES_BEFORE_LAST = 3;

type Work = { name: string; was_left: boolean };

class Inbox {
  private readonly config: CsvConfig;
  private readonly env: CsvEnv;
  private readonly folder;
  private readonly watch: StabilityWatch;
  private readonly failures = new Map<string, number>();
  /** File names that were logged, so that each is logged only once. */
  private readonly logged = new Set<string>();

  constructor(config: CsvConfig, env: CsvEnv) {
    this.config = config;
    this.env = env;
    this.folder = folderAt(env.resolvePath(config.folder));
    this.watch = new StabilityWatch(env.clock, config.stable_seconds * 1000);
  }

  async pull(call: PullCall): Promise<void> {
    await ensureFolder(this.folder);
    const left = await this.list(this.folder.processing);
    this.logUnreadable(left);
    const { ready, listing } = await this.watch.readyFiles(
      () => this.list(this.folder.inbox),
      call.signal,
    );
    this.logNew(listing);
    // Files claimed earlier are older than waiting ones. A file that is refused repeatedly must not
    // block the rest.
    const is_stuck = ({ name }: { name: string }) =>
      (this.failures.get(name) ?? 0) >= FAILURES_BEFORE_LAST;
    const leftover = (name: string): Work => ({ name, was_left: true });
    const work: Work[] = [
      ...left.exports.filter((file) => !is_stuck(file)).map(({ name }) => leftover(name)),
      ...ready.map(({ name }) => ({ name, was_left: false })),
      ...left.exports.filter(is_stuck).map(({ name }) => leftover(name)),
    ];
    for (const item of work) {
      call.signal.throwIfAborted();
      await this.take(item, call);
    }
    const rejected = await this.list(this.folder.rejected);
    await call.stillRejected?.(rejected.exports.map(({ name }) => name));
  }

  private async list(directory: string): Promise<Listing> {
    try {
      return await listFiles(directory);
    } catch (error) {
      throw folderError(error);
    }
  }

  /**
   * Reads one file. A file that cannot be read or moved waits for the next pull; only a refused
   * batch or an abort ends this pull.
   */
  private async take({ name, was_left }: Work, call: PullCall): Promise<void> {
    let claimed = name;
    try {
      if (!was_left)
        claimed = await moveFile(
          join(this.folder.inbox, name),
          this.folder.processing,
          shortName(name),
        );
      await takeFile(
        { config: this.config, env: this.env, folder: this.folder, call },
        claimed,
        was_left,
      );
      this.failures.delete(claimed);
      this.logged.delete(`unusable ${claimed}`);
    } catch (error) {
      call.signal.throwIfAborted();
      const code = errorCode(error);
      if (error instanceof NotAccepted || code === null) {
        this.failures.set(claimed, (this.failures.get(claimed) ?? 0) + 1);
        throw error instanceof NotAccepted ? error.cause : error;
      }
      // Someone removed the file between the check and the claim, which is allowed.
      if (code === 'ENOENT') return;
      this.logUnusable(claimed, code);
    }
  }

  /** Logs each file of another kind, or that cannot be read, once. */
  private logNew(listing: Listing): void {
    const connector = this.env.connector_id;
    const fresh = (names: readonly string[]) => names.filter((name) => !this.logged.has(name));
    const other = fresh(listing.other);
    for (const name of other) this.logged.add(name);
    if (other.length > 0) this.env.log('csv_file_ignored', { connector, files: other.length });
    this.logUnreadable(listing);
  }

  private logUnreadable(listing: Listing): void {
    for (const { name, cause } of listing.unreadable) this.logUnusable(name, cause);
  }

  private logUnusable(name: string, cause: string): void {
    const mark = `unusable ${name}`;
    if (this.logged.has(mark)) return;
    this.logged.add(mark);
    this.env.log('csv_file_unusable', { connector: this.env.connector_id, cause });
  }
}
