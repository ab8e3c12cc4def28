import type { MadeCall } from '../../domain/attribution-account.ts';
import { CLOCKS_DIFFER_MS } from '../../domain/clock-watch.ts';
import type { Specialty } from '../../domain/specialty.ts';
import { DAY_MS } from '../../domain/time.ts';
import {
  forgetLearned,
  readLearned,
  writeLearned,
} from '../../store/bookkeeping/learned-settings.ts';
import { absentCalls } from '../../store/calls/absent-calls.ts';
import { callsOf, IDS_PER_STATEMENT, type SeenInquiry } from '../../store/calls/calls.ts';
import { currentHalts, endHalt, halt, releaseCount, releasedAt } from '../../store/calls/halts.ts';
import { inState } from '../../store/calls/inquiries.ts';
import { noteSeen } from '../../store/calls/listed-calls.ts';
import type { Db } from '../../store/engine/database.ts';
import type { Store } from '../../store/engine/store.ts';
import { attributeCalls, madeCallOf } from './attribute.ts';
import { type Reconciled, type SubmitContext, type SubmitDeps, serviceNow } from './deps.ts';
import {
  agreeOnSends,
  earlierComparison,
  keepComparison,
  lossNotedAt,
  noteMissingTime,
} from './earlier-comparison.ts';
import { mayHideCalls } from './list-end.ts';
import { seenInquiry } from './seen.ts';
import { mustWait, noteUnread, resolveUnread } from './unread-lists.ts';

/**
 * Reconciles the service's whole list with the calls before the next send: at a start, unless an
 * earlier comparison still counts, after a clock jump, and daily (docs/design.md "Reconciliation").
 * Unclaimed inquiries are saved and checked before any call, so that a restored or lost database
 * does not call twice (G1). Returns whether eligd may send inquiries of the specialty.
 */
export async function ensureReconciled(deps: SubmitDeps, specialty: Specialty): Promise<boolean> {
  const { env, store, client, memory } = deps;
  const last = await lastComparison(deps, specialty);
  const at = last?.at ?? null;
  const started_at = env.clock.now();
  const releases = await releaseCount(store.db);
  const is_known =
    at !== null &&
    last?.is_due === false &&
    at > started_at - DAY_MS &&
    // While submission was stopped, others may have made the calls (G1).
    last.releases === releases;
  if (is_known) return true;
  if (mustWait(memory, specialty, started_at)) return false;
  const listed = await client.list(specialty, {}, { priority: 'send' });
  if (!listed.ok) {
    await noteUnread(deps, specialty, listed.failure);
    return false;
  }
  if (!listed.value.is_complete)
    env.log('reconciliation_incomplete', {
      specialty,
      unreadable_inquiries: listed.value.unreadable_count,
    });
  const seen = listed.value.inquiries.map(seenInquiry);
  const { fresh } = await store.write(async (tx) => {
    await resolveUnread(tx, { specialty, are_labels: false }, started_at);
    await writeLearned(tx, reconciledSetting(specialty), String(seen.length), started_at);
    return await compare({ tx, deps, now: started_at }, { specialty, seen, is_whole: true });
  });
  env.log('reconciliation_done', {
    specialty,
    listed_inquiries: seen.length,
    unknown_inquiries: fresh,
  });
  await agreeOnSends(deps, specialty, seen.length);
  await noteMissingTime(deps, specialty, seen.length);
  const skew_ms = deps.clockSkew();
  const reconciled = {
    at: started_at,
    service_at: skew_ms === null ? null : started_at - skew_ms,
    is_due: false,
    releases,
    // No end of a list proves anything about calls that an older database lacks.
    hides_calls:
      (await lossNotedAt(store.db, deps)) !== null ||
      (await mayHideCalls(store.db, specialty, listed.value)),
  };
  memory.reconciled.set(specialty, reconciled);
  await keepComparison(deps, specialty, reconciled);
  memory.failures.whole.delete(specialty);
  return true;
}

/**
 * Returns what this process knows of the last comparison. Takes over the one of the process before
 * it if this process has made none and relies on that one.
 */
async function lastComparison(deps: SubmitDeps, specialty: Specialty): Promise<Reconciled | null> {
  const known = deps.memory.reconciled.get(specialty) ?? null;
  if (known !== null && known.at !== null) return known;
  // Relying on the earlier one takes a request. After a failure, it waits like the list.
  const { memory, store, env } = deps;
  if (mustWait(memory, specialty, env.clock.now())) return known;
  const earlier = await earlierComparison(deps, specialty);
  if (earlier === null) return known;
  memory.reconciled.set(specialty, earlier);
  memory.failures.whole.delete(specialty);
  const lists = { specialty, are_labels: false };
  await store.write((tx) => resolveUnread(tx, lists, env.clock.now()));
  return earlier;
}

/**
 * Begins a process that has nothing to send without a comparison. Inquiries that the service
 * creates after that count as new. Returns false without the service's clock: then the list must be
 * compared.
 */
export async function beginWithoutComparison(
  deps: SubmitDeps,
  specialty: Specialty,
): Promise<boolean> {
  const skew_ms = deps.clockSkew();
  if (skew_ms === null) return false;
  // The comparison subtracts the difference of the clocks once. Calls that a database made shortly
  // before an older copy replaced it must not look like those of another installation.
  const service_at = deps.env.clock.now() - skew_ms + 2 * CLOCKS_DIFFER_MS;
  const releases = await releaseCount(deps.store.db);
  const begun = { at: null, service_at, is_due: false, releases, hides_calls: true };
  deps.memory.reconciled.set(specialty, begun);
  return true;
}

const reconciledSetting = (specialty: Specialty) => `reconciled:${specialty}`;

/** Returns whether any process compared the list with this database within the last day. */
export async function wasReconciled(db: Db, specialty: Specialty, now: number): Promise<boolean> {
  const setting = await readLearned(db, reconciledSetting(specialty));
  return setting !== null && setting.updated_at <= now && now - setting.updated_at < DAY_MS;
}

/** Returns how many inquiries the list had when it was last compared. */
export async function listedCount(db: Db, specialty: Specialty): Promise<number> {
  return Number((await readLearned(db, reconciledSetting(specialty)))?.value ?? 0);
}

/** Requires a new comparison, even when nothing is due: the list could not be read. */
export async function forgetReconciled(store: Store, specialty: Specialty): Promise<void> {
  await store.write((tx) => forgetLearned(tx, reconciledSetting(specialty)));
}

/**
 * Requires a reconciliation of every specialty before the next send. The time of the last one is
 * kept, so inquiries that appeared since then count as unknown.
 */
export function demandReconciliation(deps: Pick<SubmitDeps, 'memory'>): void {
  for (const last of deps.memory.reconciled.values()) last.is_due = true;
}

/**
 * Returns the specialties to reconcile even when nothing is due: the list may show a duplicate call
 * or a call that eligd was looking for. Includes lists that could not be read, for example at
 * startup.
 */
export function reconciliationsDemanded({ memory }: Pick<SubmitDeps, 'memory'>): Specialty[] {
  const due = [...memory.reconciled].filter(([, { is_due }]) => is_due);
  return [...new Set([...due.map(([specialty]) => specialty), ...memory.failures.whole.keys()])];
}

/**
 * Ends a halt over unknown inquiries when the configuration now allows other users of the account.
 */
export async function allowStrangers({ store, env, settings }: SubmitDeps): Promise<void> {
  if (!settings.is_shared_account) return;
  if (!(await currentHalts(store.db)).some(({ reason }) => reason === 'foreign')) return;
  await store.write((tx) => endHalt(tx, 'foreign', env.clock.now()));
  env.log('submission_resumed');
}

/** `is_whole`: not the list of a label. */
type ShownList = { specialty: Specialty; seen: SeenInquiry[]; is_whole: boolean };

/**
 * Saves the listed inquiries, and attributes those that are new and those that a list shows in full
 * at last. Returns how many were new, and whether submission is stopped because of them.
 */
export async function compare(
  context: SubmitContext,
  { specialty, seen, is_whole }: ShownList,
): Promise<{ fresh: number; is_stopped: boolean }> {
  const { tx, deps, now } = context;
  const { fresh, completed } = await noteSeen(tx, specialty, seen, now);
  const last = deps.memory.reconciled.get(specialty);
  const compared_at = last === undefined ? null : await judgedSince(context, last, is_whole);
  const comparison = {
    unseen: new Set(fresh.map(({ service_id }) => service_id)),
    // Those of a label are judged without them.
    sought: is_whole ? await soughtCalls(context) : [],
    is_whole,
    compared_at,
    is_released: last?.releases !== (await releaseCount(tx)),
  };
  let strangers = 0;
  for (const match_keys of relatedKeys([...fresh, ...completed]))
    strangers += (await attributeCalls(context, { specialty, match_keys, comparison })).strangers;
  const is_stopped = strangers > 0 && !deps.settings.is_shared_account;
  if (is_stopped) await stopForStrangers(context, strangers);
  return { fresh: fresh.length, is_stopped };
}

/**
 * Returns the match keys, each once. Those that share a label are together, and with them those of
 * other labels that share one: they may be of calls for one inquiry, whose question has changed. A
 * group that is too large for a statement is cut.
 */
function relatedKeys(seen: readonly SeenInquiry[]): string[][] {
  const of_key = Map.groupBy(seen, ({ match_key }) => match_key);
  const of_label = Map.groupBy(seen, ({ external_id }) => external_id);
  // Nothing relates inquiries without a label.
  of_label.delete('');
  const done = new Set<string>();
  return [...of_key.keys()].flatMap((first) => {
    const group: string[] = [];
    const add = (key: string) => {
      if (!done.has(key)) group.push(key);
      done.add(key);
    };
    add(first);
    for (const key of group)
      for (const { external_id } of of_key.get(key) ?? []) {
        for (const { match_key } of of_label.get(external_id) ?? []) add(match_key);
        of_label.delete(external_id);
      }
    const parts = Math.ceil(group.length / IDS_PER_STATEMENT);
    return Array.from({ length: parts }, (_, part) =>
      group.slice(part * IDS_PER_STATEMENT, (part + 1) * IDS_PER_STATEMENT),
    );
  });
}

/**
 * Returns since when, by the service's clock, new inquiries are another installation's. Null: this
 * list does not show whose they are, because it has no times and calls of ours may be listed late,
 * or because nobody knows what the last comparison could not see of a label's.
 */
async function judgedSince(
  { tx, deps }: SubmitContext,
  { service_at }: Reconciled,
  is_whole: boolean,
): Promise<number | null> {
  if (!is_whole && service_at === null) return null;
  // Without the service's clock, any new inquiry may have been created since.
  let since = service_at ?? Number.NEGATIVE_INFINITY;
  // Attribution takes this difference off once. The whole list may have hidden what is as old.
  if (!is_whole) since += 2 * CLOCKS_DIFFER_MS;
  const released_at = await releasedAt(tx, deps.env.clock.now());
  if (released_at !== null)
    since = Math.max(since, released_at - (deps.clockSkew() ?? 0) + CLOCKS_DIFFER_MS);
  const noted_at = await lossNotedAt(tx, deps);
  if (noted_at === null) return since;
  const listed_until = noted_at + Math.max(CLOCKS_DIFFER_MS, 2 * deps.settings.settle_ms);
  if (serviceNow(deps) <= listed_until) return null;
  return Math.max(since, listed_until + CLOCKS_DIFFER_MS);
}

/**
 * Returns our calls, also of other specialties, that a list may show under an ID that eligd does
 * not know: all of inquiries that it looks for, and those that it could not find. One of a
 * withdrawn inquiry counts as absent.
 */
async function soughtCalls({ tx, now }: SubmitContext): Promise<MadeCall[]> {
  const rows = [...(await inState(tx, 'uncertain')), ...(await inState(tx, 'undecidable'))];
  const calls = await callsOf(
    tx,
    rows.map(({ id }) => id),
  );
  return [
    ...calls.flatMap((call) => madeCallOf(call, now)),
    ...(await absentCalls(tx)).flatMap((call) => madeCallOf(call, now, true)),
  ];
}

/**
 * Stops submission after new inquiries appeared that this database did not send: another
 * installation may be calling for the same patients.
 */
async function stopForStrangers(
  { tx, deps, now }: SubmitContext,
  strangers: number,
): Promise<void> {
  const detail = `${strangers} new inquiries on the account were not sent by this installation.`;
  await halt(
    tx,
    { reason: 'foreign', detail, next_try_at: null },
    {
      what:
        `eligd is not sending anything: ${strangers} new inquiries on the account were not ` +
        'sent by this installation, so another installation may be calling for the same ' +
        'patients.',
      next:
        'Stop the other installation and run "eligd release submission"; if others are meant ' +
        'to use the account, set service.shared_account: true.',
    },
    now,
  );
  tx.after(() =>
    deps.env.log('submission_stopped', { reason: 'foreign', unknown_inquiries: strangers }),
  );
}
