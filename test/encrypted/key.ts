import { DatabaseKey } from '../../src/domain/database-key.ts';
import { useDatabaseKeys } from '../../src/store/engine/keys.ts';

const key = new DatabaseKey(Buffer.alloc(32, 'a key for tests'));

useDatabaseKeys(() => [key]);
// Processes that a test starts open the same database.
process.env.NODE_OPTIONS = `--import=${import.meta.url}`;
