/**
 * A comparison of the service's list that an earlier process made. `once` runs from cron every few
 * minutes, and the list is as long as the account is old, so a new process relies on the last
 * comparison if nothing can have been sent that its database does not contain (G1).
 */
import { z } from 'zod';
import { parsed } from '../../domain/damaged.ts';
import { SPECIALTIES, type Specialty } from '../../domain/specialty.ts';
import { DAY_MS, HOUR_MS, localDateTime } from '../../domain/time.ts';
import {
  forgetLearned,
  readLearned,
  writeLearned,
} from '../../store/bookkeeping/learned-settings.ts';
import { hasMadeCalls, lastSentAt } from '../../store/calls/calls.ts';
import { halt } from '../../store/calls/halts.ts';
import { inState } from '../../store/calls/inquiries.ts';
import type { Db, Tx } from '../../store/engine/database.ts';
import { type Reconciled, type SubmitDeps, serviceNow } from './deps.ts';

/** A comparison that is older than this does not count. */
const RELIED_ON_MS = HOUR_MS;
/**
 * How far the two clocks may differ: the service's `Date` has whole seconds, and a reply takes some
 * time.
 */
const ELAPSED_DIFFERS_MS = 5_000;
/** How much the boot clock drifts at most: 9 s a day. */
const CLOCK_DRIFT = 1e-4;
const SENDS = 'sends';
/** In place of a time: the office knows that calls are lost. */
const TOLD = 'told';
const MAY_LACK_CALLS = 'time_missing';
/** The count of sends in a new lock file. */
const NEW_FILE = 1;
/** By then, eligd has asked about the visits for which it may have lost a call. */
const LOST_MS = 7 * DAY_MS;

const KEPT = z.object({
  boot_id: z.string(),
  awake_ms: z.number(),
  service_at: z.number(),
  hides_calls: z.boolean(),
  /** Null: an earlier version did not count the releases, and there may have been one since. */
  releases: z.number().nullable().default(null),
});

type Kept = z.infer<typeof KEPT>;

const nameOf = (specialty: Specialty) => `comparison:${specialty}`;
/**
 * Since when the database lacks calls of the specialty: the time of the last call that it knew when
 * eligd noticed, or empty if it knew none.
 */
const lostOf = (specialty: Specialty) => `sends_lost:${specialty}`;

async function countedSends(db: Db | Tx): Promise<number> {
  return Number((await readLearned(db, SENDS))?.value ?? 0);
}

/** Counts a send. Returns the count, which the caller writes to the lock file after the commit. */
export async function countSend(tx: Tx, now: number): Promise<number> {
  const count = (await countedSends(tx)) + 1;
  await writeLearned(tx, SENDS, String(count), now);
  return count;
}

/**
 * Returns whether the count of sends in the database agrees with the one in the lock file. If not,
 * an older database may have been put in its place.
 */
export async function hasEverySend({ store, sends }: Pick<SubmitDeps, 'store' | 'sends'>) {
  return (await countedSends(store.db)) === sends.read();
}

/**
 * Makes the two counts of sends agree after a comparison; until then, every process reads the list.
 * Notes whether the database lacks calls: it is older than the lock file, or the list shows
 * inquiries of a specialty for which it has made no call. An older database's comparisons are
 * forgotten, since the lists of other specialties are still to be compared. `listed`: the number of
 * inquiries in the list.
 */
export async function agreeOnSends(
  deps: SubmitDeps,
  specialty: Specialty,
  listed: number,
): Promise<void> {
  const { store, sends, settings } = deps;
  const [counted, in_file] = [await countedSends(store.db), sends.read()];
  const count = Math.max(counted, in_file);
  // A crash came after the commit of a send, before it was counted in the file.
  const was_interrupted =
    counted === in_file + 1 && (await inState(store.db, 'uncertain')).length > 0;
  const differ = counted !== in_file && !was_interrupted;
  // An early version did not count its sends.
  const is_older = differ && count > NEW_FILE && (in_file <= NEW_FILE || counted < in_file);
  const is_lost =
    listed > 0 &&
    // Others may have made the calls of a shared account.
    !settings.is_shared_account &&
    (await readLearned(store.db, lostOf(specialty))) === null &&
    !(await hasMadeCalls(store.db, specialty));
  if (differ || is_lost)
    await store.write(async (tx) => {
      const now = serviceNow(deps);
      if (differ) {
        for (const each of SPECIALTIES) await forgetLearned(tx, nameOf(each));
        await writeLearned(tx, SENDS, String(count), now);
      }
      if (is_lost) await writeLearned(tx, lostOf(specialty), '', now);
      if (!is_older) return;
      await writeLearned(tx, MAY_LACK_CALLS, '1', now);
      const since = String((await lastSentAt(tx)) ?? '');
      for (const each of SPECIALTIES) await writeLearned(tx, lostOf(each), since, now);
    });
  if (counted !== in_file) sends.write(count);
}

/** Returns the loss of calls of which the office does not know yet; null: none lately. */
export async function untoldLoss(deps: SubmitDeps, specialty: Specialty) {
  const noted = await readLearned(deps.store.db, lostOf(specialty));
  return noted !== null && noted.value !== TOLD && isRecent(deps, noted) ? noted : null;
}

/**
 * Returns when eligd noted last, by the service's clock, that the database may lack calls. Null:
 * not lately.
 */
export async function lossNotedAt(db: Db | Tx, deps: SubmitDeps): Promise<number | null> {
  const noted = await readLearned(db, MAY_LACK_CALLS);
  return noted !== null && isRecent(deps, noted) ? noted.updated_at : null;
}

/**
 * Stops submission until a person has looked if the database lacks calls: it is older than the lock
 * file, or was lost. For a service that can show neither all inquiries nor those of one visit.
 * After the release, eligd makes the calls (G2). Returns whether submission is stopped.
 */
export async function stopForLostSends(deps: SubmitDeps, specialty: Specialty): Promise<boolean> {
  const { store, env, settings } = deps;
  const lost = await untoldLoss(deps, specialty);
  if (lost === null) return false;
  const now = env.clock.now();
  const which =
    lost.value === ''
      ? 'for all of its inquiries'
      : 'for the inquiries that it has received since ' +
        `${localDateTime(Number(lost.value), settings.time_zone).replace('T', ' ')} (the last ` +
        'call that this database knew then)';
  const detail =
    'The database lacks calls (an older one was put back, it was lost, or others made them), and ' +
    'the calling service cannot show which: the end of its list is uncertain, and it does not ' +
    'filter the list by visit.';
  await store.write(async (tx) => {
    for (const each of SPECIALTIES) await writeLearned(tx, lostOf(each), TOLD, now);
    await halt(
      tx,
      { reason: 'calls_lost', detail, next_try_at: null },
      {
        what: `eligd is not sending anything. ${detail}`,
        next:
          'If a newer database exists, stop eligd and put that one back ("eligd restore"). If ' +
          `not, ask the calling service ${which}, hold the visits that it has called about ` +
          '("eligd hold"), and run "eligd release submission".',
      },
      now,
    );
    tx.after(() => env.log('submission_stopped', { reason: 'calls_lost' }));
  });
  return true;
}

/**
 * Notes, after the list was read, when the machine may have been rolled back to a snapshot since
 * the last comparison, also when nobody can tell. Then the lock file went back, too, and the counts
 * of sends agree. `listed`: the number of inquiries in the list; an account without any is new if
 * no comparison is kept.
 */
export async function noteMissingTime(
  deps: SubmitDeps,
  specialty: Specialty,
  listed: number,
): Promise<void> {
  const kept = await readKept(deps, specialty);
  if (awakeSince(kept, deps) !== null || (kept === null && listed === 0)) return;
  await deps.store.write((tx) => writeLearned(tx, MAY_LACK_CALLS, '1', serviceNow(deps)));
}

function isRecent(deps: SubmitDeps, noted: { updated_at: number }): boolean {
  return Math.abs(serviceNow(deps) - noted.updated_at) < LOST_MS;
}

/** Keeps a comparison for the next process, if the boot ID and the service's clock are known. */
export async function keepComparison(
  deps: SubmitDeps,
  specialty: Specialty,
  { at, service_at, hides_calls, releases }: Reconciled & { at: number },
): Promise<void> {
  const { store, env } = deps;
  const boot = env.boot?.() ?? null;
  if (boot === null || service_at === null) return;
  // `at` is when the list was asked for, and the machine was awake since.
  const awake_ms = boot.awake_ms - (env.clock.now() - at);
  const kept = { boot_id: boot.id, awake_ms, service_at, hides_calls, releases };
  await store.write((tx) => writeLearned(tx, nameOf(specialty), JSON.stringify(kept), at));
}

/**
 * Returns the comparison that an earlier process made, or null when it does not count. It counts
 * within an hour, in the same boot, while the count of sends in the database agrees with the one
 * in the lock file (an older database was not put in its place), and while as much time has passed
 * by the service's clock as on this machine (the machine was not rolled back to a snapshot, and
 * did not sleep).
 */
export async function earlierComparison(
  deps: SubmitDeps,
  specialty: Specialty,
): Promise<Reconciled | null> {
  const { env, client } = deps;
  const kept = await readKept(deps, specialty);
  if (kept === null || kept.releases === null || !(await hasEverySend(deps))) return null;
  // A small request shows whether the service answers, and the time by its clock.
  if (!(await client.getSubscription({ priority: 'send' })).ok) return null;
  const awake_ms = awakeSince(kept, deps);
  if (awake_ms === null || awake_ms > RELIED_ON_MS) return null;
  return {
    at: env.clock.now() - awake_ms,
    service_at: kept.service_at,
    is_due: false,
    hides_calls: kept.hides_calls,
    releases: kept.releases,
  };
}

async function readKept({ store }: SubmitDeps, specialty: Specialty): Promise<Kept | null> {
  const stored = await readLearned(store.db, nameOf(specialty));
  return stored === null ? null : (KEPT.safeParse(parsed(stored.value)).data ?? null);
}

/**
 * Returns the milliseconds since the kept comparison, in which the machine was always awake. Null
 * when the machine was started again, slept, or was rolled back, or when nobody can tell.
 */
function awakeSince(kept: Kept | null, { env, clockSkew }: SubmitDeps): number | null {
  const [boot, skew_ms] = [env.boot?.() ?? null, clockSkew()];
  if (kept === null || boot?.id !== kept.boot_id || skew_ms === null) return null;
  const awake_ms = boot.awake_ms - kept.awake_ms;
  const by_service_ms = env.clock.now() - skew_ms - kept.service_at;
  const differs_ms = Math.abs(by_service_ms - awake_ms) - awake_ms * CLOCK_DRIFT;
  return differs_ms <= ELAPSED_DIFFERS_MS ? awake_ms : null;
}
