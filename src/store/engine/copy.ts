/** Writes a database from scratch into another file, with the same key or another one. */
import { closeSync, openSync } from 'node:fs';
import type { DatabaseKey } from '../../domain/database-key.ts';
import { openKeyed, openWith, type Raw } from './driver.ts';
import { databaseKeys } from './keys.ts';

const WAIT = { timeout: 10_000 };

/**
 * Copies everything committed in the database at `path`, including its WAL, to one file without
 * WAL, mode 600. Encrypts it with the current key; without one, keeps the source's encryption.
 */
export function copyDatabase(path: string, to: string): void {
  // Created before SQLite writes into it, so that no other user can ever read it.
  closeSync(openSync(to, 'wx', 0o600));
  const source = openKeyed(path, { readonly: true, fileMustExist: true, ...WAIT });
  const key = databaseKeys()[0] ?? null;
  try {
    if (source.key?.id === key?.id) {
      source.raw.prepare('VACUUM INTO ?').run(to);
      return;
    }
  } finally {
    source.raw.close();
  }
  const copy = openWith(to, key);
  try {
    attachSource(copy, path, source.key);
    copyAttached(copy, 'BEGIN');
  } finally {
    copy.close();
  }
}

/** Attaches the database at `path` to `copy` as `source`. */
export function attachSource(copy: Raw, path: string, key: DatabaseKey | null): void {
  copy.pragma(`cipher = 'sqlcipher'`);
  copy.prepare('ATTACH ? AS source KEY ?').run(path, key === null ? '' : key.forCipher());
}

/**
 * Writes the attached `source` into the empty `copy`, in one transaction that starts with `begin`,
 * and compares the row counts. VACUUM INTO would use the key of its source, and changing the key
 * afterward leaves old pages in journals.
 */
export function copyAttached(copy: Raw, begin: 'BEGIN' | 'BEGIN EXCLUSIVE'): void {
  // No durability needed: after a crash the unfinished file is deleted.
  copy.pragma('main.journal_mode = memory');
  copy.pragma('main.synchronous = off');
  copy.pragma('foreign_keys = off');
  copy.exec(begin);
  const made = copy
    .prepare('select type, name, sql from source.sqlite_master where sql is not null')
    .all() as { type: string; name: string; sql: string }[];
  const tables = made.filter(({ type, name }) => type === 'table' && !name.startsWith('sqlite_'));
  for (const { sql } of tables) copy.exec(sql);
  for (const { name } of tables) copyRows(copy, name);
  if (made.some(({ name }) => name === 'sqlite_sequence')) {
    copy.exec('delete from main.sqlite_sequence');
    copyRows(copy, 'sqlite_sequence');
  }
  for (const { type, sql } of made) if (type !== 'table') copy.exec(sql);
  for (const each of ['user_version', 'application_id'])
    copy.pragma(`main.${each} = ${copy.pragma(`source.${each}`, { simple: true })}`);
  copy.exec('COMMIT');
}

function copyRows(copy: Raw, table: string): void {
  copy.exec(`insert into main."${table}" select * from source."${table}"`);
  const count = (schema: string) =>
    copy.prepare(`select count(*) from ${schema}."${table}"`).pluck().get();
  if (count('main') !== count('source')) throw new Error(`Not every row of ${table} was copied.`);
}
