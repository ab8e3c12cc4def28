import { chmodSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Kysely, SqliteDialect } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { openSqlite, type Raw } from '../../src/store/engine/driver.ts';

const FOLDER = resolve(import.meta.dirname, '../../migrations');

/** A database at `path` as the version before migration `number` (four digits) left it. */
export async function databaseBefore(path: string, number: string): Promise<Raw> {
  const names = readdirSync(FOLDER)
    .map((name) => name.replace('.ts', ''))
    .filter((name) => name < number);
  const migrations: Record<string, Migration> = {};
  for (const name of names) migrations[name] = await import(join(FOLDER, `${name}.ts`));
  const raw = openSqlite(path);
  chmodSync(path, 0o600);
  const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: raw }) });
  const provider = { getMigrations: async () => migrations };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error !== undefined) throw error;
  return raw;
}
