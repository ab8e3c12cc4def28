/** The daemon's payer map: adopted at the start, and again whenever the file changes. */
import { isUnmapped } from '../domain/payers.ts';
import type { ClinicProfile } from '../domain/policy.ts';
import { effectiveProvider } from '../domain/provider.ts';
import type { PayerFile } from '../ops/payer-file.ts';
import type { PlanDeps } from '../stages/plan/deps.ts';
import { raiseAttention, resolveAttention } from '../store/bookkeeping/attention.ts';
import { readLearned, writeLearned } from '../store/bookkeeping/learned-settings.ts';
import { PAYERS_SUBJECT, resolveMapped } from '../store/bookkeeping/unmapped-payers.ts';
import { planAllAgain } from '../store/calls/links.ts';
import type { Store } from '../store/engine/store.ts';
import { namedPayers } from '../store/views/payers.ts';

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
  const named = await namedPayers(store.db);
  await store.write(async (tx) => {
    await resolveMapped(
      tx,
      (payor_id, carrier) =>
        !named.some(
          ({ treated, coverage }) =>
            coverage.payor_id === payor_id &&
            coverage.carrier === carrier &&
            isUnmapped({
              specialty: effectiveProvider(treated, clinic).specialty,
              payer: payers.find(payor_id, carrier),
              coverage,
            }),
        ),
      now,
    );
    await resolveAttention(tx, PAYERS_SUBJECT, now, ['payers_unreadable']);
    if ((await readLearned(tx, FACT))?.value === hash) return;
    await writeLearned(tx, FACT, hash, now);
    await planAllAgain(tx, now);
  });
}

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
