/** Faults of a computer: a disk that refuses writes, and space that runs out. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import Database from 'better-sqlite3';

const WRITES = /^\s*(insert|update|delete|commit|create|begin immediate)/i;

/** The disk's error for every write to a database; null: it works. */
let refusal: string | null = null;

const { prepare } = Database.prototype;
Database.prototype.prepare = function (this: Database.Database, text: string) {
  const statement = prepare.call(this, text);
  if (!WRITES.test(text)) return statement;
  const { run, all, get } = statement;
  for (const [name, method] of Object.entries({ run, all, get }))
    Object.defineProperty(statement, name, {
      value: (...given: unknown[]) => {
        if (refusal !== null) throw new Database.SqliteError('The disk refuses.', refusal);
        return (method as (...all: unknown[]) => unknown).apply(statement, given);
      },
    });
  return statement;
} as typeof prepare;

/** `SQLITE_FULL`, `SQLITE_READONLY`, `SQLITE_BUSY` … */
export function refuseWrites(code: string | null): void {
  refusal = code;
}

const { statfsSync } = fs;

/** null: unchanged. */
export function showFreeBytes(free_bytes: number | null): void {
  const shown = (...given: Parameters<typeof statfsSync>) => {
    const real = statfsSync(...given);
    return { ...real, bsize: 1, bavail: free_bytes ?? 0 };
  };
  fs.statfsSync = (free_bytes === null ? statfsSync : shown) as typeof statfsSync;
  syncBuiltinESMExports();
}

// Memory disks are small, and every world begins on a computer with free space.
showFreeBytes(100_000_000_000);
