/**
 * Opens the database as the daemon does, which checks it and refuses a damaged one, and prints its
 * appointments.
 */
import { openStore } from '../../../src/store/engine/store.ts';

const store = await openStore(process.argv[2] ?? '');
const rows = await store.db.selectFrom('appointments').select('source_id').execute();
console.log(JSON.stringify(rows.map(({ source_id }) => Number(source_id.slice(1)))));
await store.close();
