import type { Specialty } from '../../domain/specialty.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { BulkResult } from '../../service/api.ts';
import {
  forgetLearned,
  readLearned,
  readLearnedAll,
  writeLearned,
} from '../../store/bookkeeping/learned-settings.ts';
import type { SubmitContext, SubmitDeps } from './deps.ts';

/** How the next inquiries go: one by one, or as a bulk of a form and of at most `claim_size`. */
export type BulkPlan = {
  kind: 'single' | 'array' | 'object';
  claim_size: number;
  is_proven: boolean;
};

/** How many single creates are claimed at once; a crash makes at most so many uncertain. */
const SINGLES_PER_CLAIM = 20;

const factNames = (specialty: Specialty) => ({
  absent: `bulk_absent:${specialty}`,
  shape: `bulk_shape:${specialty}`,
  /** The largest batch that the service may take, after it refused a larger one. */
  size: `bulk_size:${specialty}`,
  /**
   * A bulk was accepted and understood once. Until then a bulk carries one item, so that little is
   * at stake.
   */
  proven: `bulk_proven:${specialty}`,
});

/**
 * What the installation has learned about the bulk endpoint decides (docs/service.md "Bulk
 * requests").
 */
export async function planBulk(
  { store, settings, env }: SubmitDeps,
  specialty: Specialty,
): Promise<BulkPlan> {
  const names = factNames(specialty);
  const single: BulkPlan = {
    kind: 'single',
    claim_size: Math.max(settings.concurrency, SINGLES_PER_CLAIM),
    is_proven: false,
  };
  if (settings.mode === 'single') return single;
  const known = await readLearnedAll(store.db, Object.values(names));
  const absent = known.get(names.absent);
  if (absent !== undefined && absent.updated_at > env.clock.now() - DAY_MS) return single;
  const learned = known.get(names.shape)?.value;
  const is_proven = known.has(names.proven);
  const size = Number(known.get(names.size)?.value ?? settings.batch_size);
  const kind =
    settings.bulk_shape !== 'auto'
      ? settings.bulk_shape
      : learned === 'object'
        ? 'object'
        : 'array';
  return { kind, claim_size: is_proven ? Math.min(size, settings.batch_size) : 1, is_proven };
}

type Lesson = { specialty: Specialty; result: BulkResult; size: number; bulk: BulkPlan };

/** Keeps what a bulk reply says about the endpoint. */
export async function learnFromBulk(
  context: SubmitContext,
  { specialty, result, size, bulk }: Lesson,
): Promise<void> {
  const { tx, now } = context;
  const { env, settings } = context.deps;
  const names = factNames(specialty);
  if (result.ok) {
    if (!bulk.is_proven && result.items.some(({ outcome }) => outcome === 'created')) {
      await writeLearned(tx, names.proven, '1', now);
      await writeLearned(tx, names.shape, bulk.kind, now);
      tx.after(() => env.log('bulk_learned', { specialty, shape: bulk.kind }));
    } else if (
      !bulk.is_proven &&
      result.items.some((item) => item.outcome === 'unknown' && item.accepted)
    ) {
      // It takes batches but names no ids: every one of them would have to be looked up. One by one
      // is cheaper.
      await giveUpBulk(context, specialty);
    }
    return;
  }
  if (result.failure.class === 'refused' && size > 1) await giveUpBulk(context, specialty);
  if (result.failure.class !== 'unsent') return;
  const { cause } = result.failure;
  if (cause === 'bulk_absent') {
    await giveUpBulk(context, specialty);
  } else if (
    size > 1 &&
    (cause === 'bulk_too_large' || (cause === 'bulk_body_refused' && bulk.is_proven))
  ) {
    const half = Math.max(1, Math.floor(size / 2));
    await writeLearned(tx, names.size, String(half), now);
    tx.after(() => env.log('bulk_learned', { specialty, size: half }));
  } else if (
    cause === 'bulk_shape' ||
    cause === 'bulk_body_refused' ||
    cause === 'bulk_too_large'
  ) {
    const other_was_tried = (await readLearned(tx, names.shape)) !== null;
    if (settings.bulk_shape !== 'auto' || other_was_tried) {
      await forgetLearned(tx, names.shape);
      await giveUpBulk(context, specialty);
    } else {
      const shape = bulk.kind === 'array' ? 'object' : 'array';
      await writeLearned(tx, names.shape, shape, now);
      tx.after(() => env.log('bulk_learned', { specialty, shape }));
    }
  }
}

/** One by one for a day; then the bulk endpoint gets another chance. */
async function giveUpBulk({ tx, deps, now }: SubmitContext, specialty: Specialty): Promise<void> {
  await writeLearned(tx, factNames(specialty).absent, '1', now);
  tx.after(() => deps.env.log('bulk_learned', { specialty, shape: 'single' }));
}
