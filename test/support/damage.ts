import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

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
