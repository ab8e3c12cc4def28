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

/**
 * How eligd sends the next inquiries: singly, or in a bulk of this form with at most `claim_size`.
 */
export type BulkPlan = {
  kind: 'single' | 'array' | 'object';
  claim_size: number;
  is_proven: boolean;
};

/** How many single creates are claimed together; a crash makes at most this many uncertain. */
const SINGLES_PER_CLAIM = 20;

const settingNames = (specialty: Specialty) => ({
  absent: `bulk_absent:${specialty}`,
  shape: `bulk_shape:${specialty}`,
  /** The largest batch to try, learned when the service refused a larger one. */
  size: `bulk_size:${specialty}`,
  /**
   * True once the service has accepted a bulk and eligd has understood the reply. Until then a bulk
   * carries one item, to limit the risk.
   */
  proven: `bulk_proven:${specialty}`,
});

/**
 * Returns the form of the next send, according to the learned settings of the bulk endpoint
 * (docs/service.md "Bulk requests").
 */
export async function planBulk(
  { store, settings, env }: SubmitDeps,
  specialty: Specialty,
): Promise<BulkPlan> {
  const names = settingNames(specialty);
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

/** Saves what a bulk reply shows about the endpoint. */
export async function learnFromBulk(
  context: SubmitContext,
  { specialty, result, size, bulk }: Lesson,
): Promise<void> {
  const { tx, now } = context;
  const { env, settings } = context.deps;
  const names = settingNames(specialty);
  if (result.ok) {
    if (bulk.is_proven) return;
    if (result.items.some(({ outcome }) => outcome === 'created')) {
      await writeLearned(tx, names.proven, '1', now);
      await writeLearned(tx, names.shape, bulk.kind, now);
      tx.after(() => env.log('bulk_learned', { specialty, shape: bulk.kind }));
    } else if (result.items.some((item) => item.outcome === 'unknown' && item.accepted)) {
      // The endpoint takes batches but returns no IDs, so each inquiry would need a lookup. Single
      // creates are cheaper.
      await giveUpBulk(context, specialty);
    }
    return;
  }
  if (result.failure.class === 'refused') await giveUpBulk(context, specialty);
  if (result.failure.class !== 'unsent') return;
  const { cause } = result.failure;
  if (cause === 'bulk_absent') {
    await giveUpBulk(context, specialty);
  } else if (size > 1 && (cause === 'bulk_too_large' || cause === 'bulk_body_refused')) {
    const half = Math.floor(size / 2);
    await writeLearned(tx, names.size, String(half), now);
    tx.after(() => env.log('bulk_learned', { specialty, size: half }));
  } else if (cause === 'bulk_shape' || cause === 'bulk_too_large') {
    const other_was_tried = (await readLearned(tx, names.shape)) !== null;
    if (settings.bulk_shape !== 'auto' || other_was_tried) {
      await forgetLearned(tx, names.shape);
      await giveUpBulk(context, specialty);
    } else {
      // The first one was an array.
      const shape = 'object';
      await writeLearned(tx, names.shape, shape, now);
      tx.after(() => env.log('bulk_learned', { specialty, shape }));
    }
  }
}

/** Sends singly for a day; then tries the bulk endpoint again. */
async function giveUpBulk({ tx, deps, now }: SubmitContext, specialty: Specialty): Promise<void> {
  await writeLearned(tx, settingNames(specialty).absent, '1', now);
  tx.after(() => deps.env.log('bulk_learned', { specialty, shape: 'single' }));
}
