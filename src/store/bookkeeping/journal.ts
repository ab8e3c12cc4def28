import type { Store } from '../engine/store.ts';

/**
 * The connector's notes about its own writes (the contract's Journal). `write` resolves after the
 * commit.
 */
export function connectorJournal(store: Store, connector: string, clock: { now: () => number }) {
  return {
    read: async (key: string): Promise<string | null> => {
      const row = await store.db
        .selectFrom('connector_journal')
        .select('value')
        .where('connector', '=', connector)
        .where('key', '=', key)
        .executeTakeFirst();
      return row?.value ?? null;
    },
    write: (key: string, value: string): Promise<void> =>
      store.write(async (tx) => {
        const updated_at = clock.now();
        await tx
          .insertInto('connector_journal')
          .values({ connector, key, value, updated_at })
          .onConflict((conflict) =>
            conflict.columns(['connector', 'key']).doUpdateSet({ value, updated_at }),
          )
          .execute();
      }),
  };
}
