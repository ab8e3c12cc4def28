/**
 * Loaded into a process that changes a key: every call that changes a file, and every statement, is
 * a point. The process is killed before the point POINT_KILL. POINT_IMAGES gets a copy of
 * POINT_FOLDER at each point: the state that a process leaves if it is killed there.
 */
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import type Database from 'better-sqlite3';

const CALLS = [
  'closeSync',
  'fsyncSync',
  'ftruncateSync',
  'linkSync',
  'openSync',
  'renameSync',
  'rmSync',
  'utimesSync',
  'writeSync',
] as const;

/**
 * Only a sample of the statements that copy rows, because they all change the file in the same way.
 */
const ROWS_COUNTED = 10;

const { POINT_KILL, POINT_IMAGES, POINT_FOLDER = '' } = process.env;
let count = 0;
let row_statements = 0;
let is_copying = false;
let last_seen = '';

function point(): void {
  if (is_copying) return;
  count += 1;
  if (String(count) === POINT_KILL) process.kill(process.pid, 'SIGKILL');
  if (POINT_IMAGES === undefined) return;
  is_copying = true;
  const seen = look();
  if (seen !== last_seen)
    fs.cpSync(POINT_FOLDER, join(POINT_IMAGES, String(count)), { recursive: true });
  last_seen = seen;
  is_copying = false;
}

/** Everything that matters to the next start: of an incomplete file, only that it exists. */
function look(): string {
  return fs
    .readdirSync(POINT_FOLDER, { recursive: true })
    .map((name) => {
      if (String(name).endsWith('.recoding')) return name;
      const { ino, size, mtimeMs } = fs.statSync(join(POINT_FOLDER, String(name)));
      return [name, ino, size, mtimeMs].join(' ');
    })
    .join('\n');
}

function statement(text: string): void {
  if (/^\s*(?:create|insert|select)/i.test(text) && row_statements++ % ROWS_COUNTED !== 0) return;
  point();
}

type Call = (...given: unknown[]) => unknown;
const functions = fs as unknown as Record<string, Call>;
for (const name of CALLS) {
  const original = functions[name] as Call;
  functions[name] = (...given) => {
    point();
    return original(...given);
  };
}
syncBuiltinESMExports();

const driver: typeof Database = createRequire(import.meta.url)('better-sqlite3-multiple-ciphers');
const { prepare, exec, pragma } = driver.prototype;
driver.prototype.prepare = function (this: Database.Database, text: string) {
  statement(text);
  return prepare.call(this, text);
} as typeof prepare;
driver.prototype.exec = function (this: Database.Database, text: string) {
  statement(text);
  return exec.call(this, text);
};
driver.prototype.pragma = function (this: Database.Database, text, options) {
  point();
  return pragma.call(this, text, options);
};
