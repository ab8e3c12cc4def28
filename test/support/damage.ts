import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import Sqlite from 'better-sqlite3';

/** Damages the page of a table that has `text`. */
export function damagePage(path: string, text: string): void {
  const bytes = readFileSync(path);
  const page_size = bytes.readUInt16BE(16);
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
    const page = Math.floor(at / page_size) * page_size;
    // A leaf of a table.
    if (bytes[page] !== 13) continue;
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.from([0xee]), 0, 1, page);
    closeSync(file);
    return;
  }
  throw new Error('No page has this text.');
}

/**
 * Takes the entries of rows out of an index, as a lost write does: a change of such a row fails,
 * and the check at the start does not find it. `change` changes the indexed column of the rows.
 */
export function loseEntries(path: string, index: string, change: string): void {
  const schema = (work: (raw: Sqlite.Database) => void) => {
    const raw = new Sqlite(path);
    raw.unsafeMode(true);
    raw.pragma('writable_schema = on');
    work(raw);
    raw.pragma(`schema_version = ${Number(raw.pragma('schema_version', { simple: true })) + 1}`);
    raw.close();
  };
  let row: unknown[] = [];
  schema((raw) => {
    row = raw.prepare('select * from sqlite_schema where name = ?').raw().get(index) as unknown[];
    raw.prepare('delete from sqlite_schema where name = ?').run(index);
  });
  const raw = new Sqlite(path);
  raw.exec(change);
  raw.close();
  schema((raw) => raw.prepare('insert into sqlite_schema values (?, ?, ?, ?, ?)').run(...row));
}
