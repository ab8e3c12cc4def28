import { type Db, openDatabase, type Tx } from './database.ts';
import { openWriteQueue } from './write-queue.ts';

/**
 * The state of one installation. Reads use `db`; every change uses `write`, which resolves after
 * the commit. `work` may await only the store (docs/design.md "Transactions").
 */
export type Store = {
  db: Db;
  write: <Value>(work: (tx: Tx) => Promise<Value>) => Promise<Value>;
  close: () => Promise<void>;
};

/** Opens and migrates the database at `path`; throws like `openDatabase`. */
export async function openStore(path: string): Promise<Store> {
  const db = await openDatabase(path);
  const queue = openWriteQueue(db);
  return {
    db,
    write: queue.write,
    close: async () => {
      await queue.idle();
      await db.destroy();
    },
  };
}
