/** The daemon's payer map: adopted at the start, and again whenever the file changes. */
import { isUnmapped } from '../domain/payers.ts';
import type { ClinicProfile } from '../domain/policy.ts';
import { effectiveProvider } from '../domain/provider.ts';
import type { PayerFile } from '../ops/payer-file.ts';
import type { PlanDeps } from '../stages/plan/deps.ts';
import { raiseAttention, resolveAttention } from '../store/bookkeeping/attention.ts';
import { readLearned, writeLearned } from '../store/bookkeeping/learned-settings.ts';
import {
  listedPayers,
  PAYERS_SUBJECT,
  resolveMapped,
} from '../store/bookkeeping/unmapped-payers.ts';
import { planAllAgain } from '../store/calls/plan-due.ts';
import type { Db } from '../store/engine/database.ts';
import type { Store } from '../store/engine/store.ts';
import { namedPayerPages } from '../store/views/payers.ts';

const FACT = 'payers_hash';

/**
 * Adopts the payer map. Payers that it contains, or that no visit names any more, leave the
 * attention list. If the map has changed since last time, every open visit is planned again.
 */
export async function adoptPayers(
  store: Store,
  payers: PayerFile,
  clinic: ClinicProfile,
  now: number,
): Promise<void> {
  const hash = payers.contentHash();
  const settled = await settledPayers(store.db, payers, clinic);
  await store.write(async (tx) => {
    await resolveMapped(tx, (payor_id, carrier) => settled.has(keyOf({ payor_id, carrier })), now);
    await resolveAttention(tx, PAYERS_SUBJECT, now, ['payers_unreadable']);
    if ((await readLearned(tx, FACT))?.value === hash) return;
    await writeLearned(tx, FACT, hash, now);
    await planAllAgain(tx, now);
  });
}

/**
 * Returns which of the listed payers need no line in the map any more. Reads open visits only until
 * each listed payer is found in one, and none if no payer is listed.
 */
async function settledPayers(
  db: Db,
  payers: PayerFile,
  clinic: ClinicProfile,
): Promise<ReadonlySet<string>> {
  const settled = new Set((await listedPayers(db)).map(keyOf));
  if (settled.size === 0) return settled;
  for await (const named of namedPayerPages(db)) {
    for (const { treated, coverage } of named) {
      if (!settled.has(keyOf(coverage))) continue;
      const { specialty } = effectiveProvider(treated, clinic);
      const payer = payers.find(coverage.payor_id, coverage.carrier);
      if (isUnmapped({ specialty, payer, coverage })) settled.delete(keyOf(coverage));
    }
    if (settled.size === 0) break;
  }
  return settled;
}

const keyOf = ({ payor_id, carrier }: { payor_id: string; carrier: string }): string =>
  JSON.stringify([payor_id, carrier]);

/** Reads the file again if it has changed. If it has errors, raises an item and keeps the map. */
export async function followPayers(deps: PlanDeps, payers: PayerFile): Promise<void> {
  const { store, env } = deps;
  const change = payers.refresh();
  if (change.kind === 'same') return;
  const now = env.clock.now();
  if (change.kind === 'changed') {
    env.log('payers_changed');
    await adoptPayers(store, payers, deps.facts().clinic, now);
    return;
  }
  env.log('payers_unreadable');
  const { what, why } = change.error;
  await store.write((tx) =>
    raiseAttention(
      tx,
      { connector: null, appointment: null, inquiry: null, subject: PAYERS_SUBJECT },
      {
        reason: 'payers_unreadable',
        what: `${what} ${why} eligd keeps using the previous payer map.`,
        next: 'Ask IT to correct the file; eligd reads it again when it changes.',
      },
      now,
    ),
  );
}
