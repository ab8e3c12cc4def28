import { mayBeCallOf } from '../../domain/attribution.ts';
import { givenNameOf } from '../../domain/inquiry.ts';
import { canonicalExternalId } from '../../domain/matching.ts';
import { HOUR_MS, MINUTE_MS } from '../../domain/time.ts';
import type { ListedInquiry } from '../../service/api.ts';
import { resolveAttention } from '../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../store/bookkeeping/audit.ts';
import { readLearned, writeLearned } from '../../store/bookkeeping/learned-settings.ts';
import { servedByOthers } from '../../store/calls/attempts.ts';
import { ownersOf, type SeenInquiry } from '../../store/calls/calls.ts';
import {
  type InquiryRow,
  inquiryById,
  inState,
  moveInquiries,
  updateInquiry,
} from '../../store/calls/inquiries.ts';
import { raiseForInquiry, raiseForVisits } from '../../store/calls/inquiry-attention.ts';
import { appointmentsOf } from '../../store/calls/links.ts';
import {
  describeCalls,
  inquiriesToBeListed,
  noteSeen,
  sampleOfOurs,
} from '../../store/calls/listed-calls.ts';
import type { Tx } from '../../store/engine/database.ts';
import { attributeCalls } from './attribute.ts';
import type { SubmitContext, SubmitDeps } from './deps.ts';
import { isEndDoubtful } from './list-end.ts';
import { noticeClock } from './notice-clock.ts';
import { backToPlanned } from './outcome.ts';
import { seenInquiry } from './seen.ts';

/** How long a filtered query that returned one of our inquiries is trusted to return the others. */
const FILTER_PROOF_MS = 60 * MINUTE_MS;
/** Waits after a lookup that failed or proved nothing. */
const NEXT_LOOKUP_MS_MIN = 10_000;
/** A list that could not be read may be readable soon; one that proves nothing rarely changes. */
const NEXT_LOOKUP_MS_MAX = { unread: HOUR_MS, inconclusive: 4 * HOUR_MS };
/** A row that stays uncertain longer than this goes on the attention list (G2). */
const UNCONFIRMED_MS = 60 * MINUTE_MS;
/** Absence is proven by two lookups (G1). */
const LOOKUPS_FOR_ABSENCE = 2;

type LookupResult =
  | { kind: 'found' }
  | { kind: 'absent' }
  /** `unread`: the list could not be read; `inconclusive`: it proves nothing. */
  | { kind: 'unread' | 'inconclusive'; why: string };

/**
 * Does one lookup for an inquiry whose reply was lost: adopts a matching inquiry, counts a lookup
 * that proves absence, and decides after the second one. Never sends.
 */
export async function lookUp(deps: SubmitDeps, row: InquiryRow): Promise<void> {
  const { store, env, settings } = deps;
  const asked_at = env.clock.now();
  const result = await search(deps, row);
  await noticeClock(deps);
  const now = env.clock.now();
  if (result.kind === 'found') return;
  if (result.kind === 'absent') {
    // The clock may have been set back meanwhile.
    const absent_at = Math.min(asked_at, now);
    await store.write((tx) => countAbsence({ tx, deps, now }, row, absent_at));
  } else {
    env.log('lookup_inconclusive', { inquiry: row.id, reason: result.why });
    const age_ms = now - (row.sent_at ?? now);
    await store.write(async (tx) => {
      await updateInquiry(
        tx,
        row.id,
        { lookup_at: now + nextLookupIn(result.kind, settings.settle_ms, age_ms) },
        now,
      );
      if (now - (row.sent_at ?? row.created_at) > UNCONFIRMED_MS)
        await raiseUnconfirmed(tx, row, result.why, now);
    });
  }
}

/**
 * Returns the wait before the next lookup. It grows with the age of the inquiry, because a list may
 * hold thousands of inquiries and each lookup may read all of them.
 */
function nextLookupIn(kind: 'unread' | 'inconclusive', settle_ms: number, age_ms: number): number {
  const wait_ms = Math.min(Math.round(age_ms / 6), NEXT_LOOKUP_MS_MAX[kind]);
  return Math.max(settle_ms, NEXT_LOOKUP_MS_MIN, wait_ms);
}

async function search(deps: SubmitDeps, row: InquiryRow): Promise<LookupResult> {
  const { client, store } = deps;
  const filtered = await client.list(
    row.specialty,
    { external_id: row.external_id },
    { priority: 'urgent' },
  );
  if (!filtered.ok)
    return { kind: 'unread', why: `the list could not be read (${filtered.failure.class})` };
  const shown = await find(deps, row, filtered.value.inquiries);
  if (shown !== null) return shown;
  const is_filter_trusted =
    filtered.value.is_complete &&
    filtered.value.filter === 'none_or_applied' &&
    (await showsOursOfLabel(store, row, filtered.value.inquiries)) &&
    (await filterShowsOurs(deps, row));
  if (is_filter_trusted) return { kind: 'absent' };
  const all = await client.list(row.specialty, {}, { priority: 'urgent' });
  if (!all.ok) return { kind: 'unread', why: `the list could not be read (${all.failure.class})` };
  const found = await find(deps, row, all.value.inquiries);
  if (found !== null) return found;
  // The filter proves nothing here, so a fixed cap could hide the call for good (G1).
  if (isEndDoubtful(all.value))
    return { kind: 'inconclusive', why: 'the end of the list is uncertain' };
  return (await listShowsOurs(store, row, all.value.inquiries))
    ? { kind: 'absent' }
    : { kind: 'inconclusive', why: 'the list omits inquiries that the service is known to have' };
}

/**
 * Returns whether the whole list is known to show our inquiries. It must show the open ones and
 * those sent last; if there are none, one of ours; and before the service has accepted any, it must
 * be empty (docs/design.md "Absence is proven").
 */
async function listShowsOurs(
  store: SubmitDeps['store'],
  row: InquiryRow,
  listed: readonly ListedInquiry[],
): Promise<boolean> {
  const shown = new Set<string>(listed.map(({ id }) => id));
  const must_show = await inquiriesToBeListed(store.db, row.specialty);
  if (must_show.length > 0) return must_show.every(({ service_id }) => shown.has(service_id));
  const owners = await ownersOf(store.db, [...shown]);
  if ([...owners.values()].some((owner) => owner !== null)) return true;
  return shown.size === 0 && !(await isOtherAccepted(store, row));
}

/**
 * Returns whether the service said that it accepted another call, also one without an ID. If it
 * accepted the row's own, absence leads to the attention list and never to a call: no check needed.
 */
async function isOtherAccepted(store: SubmitDeps['store'], row: InquiryRow): Promise<boolean> {
  if (row.was_accepted === 1) return false;
  for (const state of ['open', 'uncertain', 'undecidable'] as const) {
    const others = await inState(store.db, state);
    if (others.some((each) => each.specialty === row.specialty && each.was_accepted === 1))
      return true;
  }
  return false;
}

/**
 * Returns whether the list of one label looks complete: it shows every inquiry that is known to
 * exist under the label.
 */
async function showsOursOfLabel(
  store: SubmitDeps['store'],
  row: InquiryRow,
  listed: readonly ListedInquiry[],
): Promise<boolean> {
  const label = canonicalExternalId(row.external_id);
  const must_show = (await inquiriesToBeListed(store.db, row.specialty)).filter(
    ({ external_id }) => canonicalExternalId(external_id) === label,
  );
  return must_show.every(({ service_id }) => listed.some(({ id }) => id === service_id));
}

/**
 * Returns whether a query by external ID is known to return our inquiries: it returned one
 * recently, or does so now.
 */
async function filterShowsOurs(
  { client, store, env }: SubmitDeps,
  row: InquiryRow,
): Promise<boolean> {
  const setting = `filter_shows_ours:${row.specialty}`;
  const known = await readLearned(store.db, setting);
  if (known !== null && known.updated_at > env.clock.now() - FILTER_PROOF_MS) return true;
  const sample = await sampleOfOurs(store.db, row.specialty);
  if (sample === null) return false;
  const listed = await client.list(
    row.specialty,
    { external_id: sample.external_id },
    { priority: 'urgent' },
  );
  const is_shown =
    listed.ok &&
    listed.value.filter === 'none_or_applied' &&
    listed.value.inquiries.some(({ id }) => id === sample.service_id);
  if (is_shown)
    await store.write((tx) => writeLearned(tx, setting, sample.service_id, env.clock.now()));
  return is_shown;
}

/**
 * Looks for the call of the inquiry under the label that it was sent with. Attribution judges the
 * listed inquiries whose echo tells the label and the question. If none of them is the call, one
 * that nobody has and whose echo leaves out either may be it (inconclusive). Null: the list does
 * not show the call.
 */
async function find(
  deps: SubmitDeps,
  row: InquiryRow,
  listed: readonly ListedInquiry[],
): Promise<LookupResult | null> {
  const label = canonicalExternalId(row.external_id);
  const seen = listed.map(seenInquiry);
  const alike = seen.filter(
    ({ external_id, match_key }) => external_id === label && match_key === row.match_key,
  );
  if (alike.length > 0 && (await serveFrom(deps, row, alike))) return { kind: 'found' };
  const call = { ...row, external_id: label, given_name: givenNameOf(row) };
  const possible = seen.filter((each) => mayBeCallOf(call, each));
  const owners = await ownersOf(
    deps.store.db,
    possible.map(({ service_id }) => service_id),
  );
  return possible.some(({ service_id }) => (owners.get(service_id) ?? null) === null)
    ? { kind: 'inconclusive', why: 'the list shows a call that may be this one' }
    : null;
}

/**
 * Lets one of the listed inquiries serve the row. Returns whether the lookup is over: one does, or
 * the row waits for none anymore.
 */
async function serveFrom(
  deps: SubmitDeps,
  row: InquiryRow,
  alike: readonly SeenInquiry[],
): Promise<boolean> {
  await noticeClock(deps);
  const now = deps.env.clock.now();
  return await deps.store.write(async (tx) => {
    const current = await inquiryById(tx, row.id);
    if (current?.state !== 'uncertain') return true;
    const { specialty, match_key } = row;
    const shown = new Set(alike.map(({ service_id }) => service_id));
    await noteSeen(tx, specialty, alike, now);
    // An earlier list may have shown them without the fields that tell whose they are.
    await describeCalls(tx, alike);
    const question = { specialty, match_keys: [match_key], shown };
    return (await attributeCalls({ tx, deps, now }, question)).served.has(row.id);
  });
}

/**
 * Counts a lookup that did not find the call. Two of them prove its absence: the first at least one
 * settle time after its request has ended, the second one settle time later (G1).
 */
async function countAbsence(
  context: SubmitContext,
  row: InquiryRow,
  absent_at: number,
): Promise<void> {
  const { tx, deps, now } = context;
  const current = await inquiryById(tx, row.id);
  if (current?.state !== 'uncertain') return;
  if (current.absence_at !== null && absent_at < current.absence_at) {
    const { settle_ms, timeout_ms } = deps.settings;
    // The clock may have been ahead when the time was set.
    const absence_at = Math.min(current.absence_at, now + timeout_ms + settle_ms);
    await updateInquiry(tx, row.id, { lookup_at: absence_at, absence_at }, now);
    return;
  }
  await resolveAttention(tx, inquirySubject(row.id), now, ['unconfirmed']);
  const empty_lookups = current.empty_lookups + 1;
  if (empty_lookups < LOOKUPS_FOR_ABSENCE) {
    const again_at = now + deps.settings.settle_ms;
    await updateInquiry(
      tx,
      row.id,
      { empty_lookups, lookup_at: again_at, absence_at: again_at },
      now,
    );
  } else if (current.was_accepted === 1) {
    await moveInquiries(
      tx,
      [row.id],
      {
        from: 'uncertain',
        to: 'undecidable',
        reason: 'The service said it accepted the inquiry, but does not list it.',
        set: { lookup_at: null },
      },
      now,
    );
    tx.after(() => deps.env.log('inquiry_undecidable', { inquiry: row.id }));
    await raiseUndecidable(tx, current, now);
    // The call for a record that was merged meanwhile may bring the answer.
    await servedByOthers(tx, [row.id], now);
  } else {
    const reason = 'Two lookups showed that the service did not accept it.';
    await backToPlanned(context, [row.id], { reason, due_at: now, from: 'uncertain' });
    tx.after(() => deps.env.log('inquiry_absent', { inquiry: row.id }));
  }
}

/**
 * Puts the inquiry on the attention list. It may stay uncertain for days, and the office must know
 * before the visit. When no visit is open anymore, the office need not act on it.
 */
async function raiseUnconfirmed(tx: Tx, row: InquiryRow, why: string, now: number): Promise<void> {
  const visits = await appointmentsOf(tx, row.id);
  if (visits.every(({ closed_reason }) => closed_reason !== null)) return;
  await raiseForInquiry(
    tx,
    row,
    {
      reason: 'unconfirmed',
      what:
        'The reply to the inquiry was lost, and eligd does not know yet whether the ' +
        `service has it: ${why}. eligd does another lookup automatically. It does not send the ` +
        'inquiry again, because that could be a second paid call.',
      next:
        'Ask the calling service whether the inquiry exists. If the visit is close, call the ' +
        'insurance company yourself.',
    },
    now,
  );
}

async function raiseUndecidable(tx: Tx, row: InquiryRow, now: number): Promise<void> {
  await raiseForVisits(
    tx,
    row,
    {
      reason: 'undecidable',
      what:
        'The service said that it accepted the inquiry but gave no ID, and its list does not ' +
        'show it. eligd does not send it again, because that could be a second paid call.',
      next:
        'Ask the calling service whether the inquiry exists; if not, call the insurance company ' +
        'yourself.',
    },
    now,
  );
}
