/**
 * A layer between eligd and better-sqlite3: every statement is a point at which the process may
 * die, and fails when the disk is full. The database itself is a real one in a real file.
 *
 * The files are on a memory disk if there is one, so the flush of synchronous FULL costs nothing.
 * `test/scenarios/power-cut/main.ts` shows that a flush really reaches a disk.
 */
import Database from 'better-sqlite3';
import { Life } from './machine.ts';
import { owners } from './scheduler.ts';

const WRITES = /^\s*(insert|update|delete|commit|create|release)/i;

type Statement = Database.Statement<unknown[]>;

/**
 * Patches the package permanently; connections without an owner (the oracle's) are not affected.
 */
export function watchDisk(): void {
  const { prepare, exec } = Database.prototype;
  Database.prototype.prepare = function (this: Database.Database, text: string) {
    const life = owners.getStore();
    if (!(life instanceof Life)) return prepare.call(this, text);
    const statement = prepare.call(this, compiledOnce(text)) as Statement;
    life.connections.add(this);
    return watched(statement, text, life) as never;
  } as typeof prepare;
  Database.prototype.exec = function (this: Database.Database, text: string) {
    const life = owners.getStore();
    if (!(life instanceof Life)) return exec.call(this, text);
    life.connections.add(this);
    return around(life, kindOf(text), () => exec.call(this, text));
  } as typeof exec;
}

/**
 * The same statement, which SQLite compiles once: it compiles a query with an order again whenever
 * a bare parameter is bound, which takes ten times as long as running it on a small database.
 */
function compiledOnce(text: string): string {
  if (!/^\s*(select|with)\b/i.test(text)) return text;
  return text.replaceAll(/'[^']*'|"[^"]*"|\?/g, (found) => (found === '?' ? '+?' : found));
}

function watched(statement: Statement, text: string, life: Life) {
  const kind = kindOf(text);
  return {
    reader: statement.reader,
    get: (...given: unknown[]) => around(life, kind, () => statement.get(...given)),
    all: (...given: unknown[]) => around(life, kind, () => statement.all(...given)),
    run: (...given: unknown[]) => around(life, kind, () => statement.run(...given)),
    iterate: (...given: unknown[]) => statement.iterate(...given),
    pluck() {
      statement.pluck();
      return this;
    },
  };
}

type Kind = { writes: boolean; commits: boolean };

function kindOf(text: string): Kind {
  return { writes: WRITES.test(text), commits: /^\s*commit/i.test(text) };
}

function around<Value>(life: Life, { writes, commits }: Kind, perform: () => Value): Value {
  if (life.is_dead || life.point('statement')) throw new Error('The process is dead.');
  if (writes && life.machine.isDiskFull()) {
    life.refuse();
    throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL');
  }
  const value = perform();
  // A commit stays, whatever happens to the process now.
  if (commits && life.point('committed')) throw new Error('The process is dead.');
  return value;
}
