/** How many pages of the database SQLite keeps in the memory of the process. */
import type { Raw } from './driver.ts';
import { databaseKeys } from './keys.ts';

/**
 * The system keeps the pages of the file as well, and getting one from it costs microseconds. A
 * page of an encrypted file must also be decrypted.
 */
const CACHE_KB = { plain: 2_000, encrypted: 16_000 };
/** While the whole file is read once. */
const CHECK_CACHE_KB = 500;

/** With a key, every database that eligd opens for writing is encrypted. */
const cacheKb = () => (databaseKeys().length === 0 ? CACHE_KB.plain : CACHE_KB.encrypted);

/** Limits the cache of this connection. */
export function limitCache(raw: Raw): void {
  raw.pragma(`cache_size = -${cacheKb()}`);
}

/**
 * Reads the whole file and returns whether it is undamaged. Keeps a file that fits into the cache
 * there; for a larger one, it would only take memory.
 */
export function isSound(raw: Raw): boolean {
  const [bytes_per_page = 0, pages = 0] = ['page_size', 'page_count'].map(
    (name) => raw.pragma(name, { simple: true }) as number,
  );
  if (bytes_per_page * pages > cacheKb() * 1_024) raw.pragma(`cache_size = -${CHECK_CACHE_KB}`);
  const found = raw.pragma('quick_check(1)', { simple: true });
  limitCache(raw);
  return found === 'ok';
}
