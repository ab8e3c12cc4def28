import { type Holder, NotedFile } from './closing-note.ts';
import { type Db, databaseBelow, openDatabase, type Tx } from './database.ts';
import { openWriteQueue } from './write-queue.ts';

/**
 * The state of one installation. Reads use `db`; every change uses `write`, which resolves after
 * the commit. `work` may await only the store (docs/design.md "Transactions").
 */
export type Store = {
  db: Db;
  write: <Value>(work: (tx: Tx) => Promise<Value>) => Promise<Value>;
  /** Names what runs after each commit that makes a visit or a claim due for planning. */
  onPlanDue: (wake: () => void) => void;
  close: () => Promise<void>;
};

/**
 * Opens and migrates the database at `path`; throws like `openDatabase`. The holder of the instance
 * lock names itself, so that the check of the whole file need not be repeated at each start.
 */
export async function openStore(path: string, holder?: Holder): Promise<Store> {
  const file = holder && new NotedFile(path, holder);
  const db = await openDatabase(path, file);
  const queue = openWriteQueue(db);
  return {
    db,
    write: queue.write,
    onPlanDue: queue.onPlanDue,
    close: async () => {
      await queue.idle();
      await db.destroy();
      // Kysely does not close a database that it has never used.
      databaseBelow(db)?.close();
      file?.leaveNote();
    },
  };
}
