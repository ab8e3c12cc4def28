import { givenNameOf, readDraft } from '../../domain/inquiry.ts';
import { canonicalExternalId } from '../../domain/matching.ts';
import { externalId } from '../../domain/needs.ts';
import { finalOutcome } from '../../domain/outcome.ts';
import type { StoredPrice } from '../../domain/price.ts';
import { DAY_MS, localDate, yearOf } from '../../domain/time.ts';
import { resolveAttention } from '../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../store/bookkeeping/audit.ts';
import { absentCallsOf, isSameCall } from '../../store/calls/absent-calls.ts';
import {
  type InquiryRow,
  inquiriesByMatch,
  mayBeOf,
  moveInquiries,
} from '../../store/calls/inquiries.ts';
import {
  extrasOf,
  type LedgerEntry,
  mainOf,
  own,
  type SeenInquiry,
  unownedMatches,
} from '../../store/calls/ledger.ts';
import { appointmentsOf, visitsOf } from '../../store/calls/links.ts';
import type { Tx } from '../../store/engine/database.ts';
import { priceNow, type SubmitContext, type SubmitDeps } from './deps.ts';
import { resolveExtra, takeLateCalls, withoutSought } from './extra.ts';

/** A call, and the pause before the next attempt, are over by then. */
const ATTEMPT_MS_MAX = 3 * DAY_MS;

/**
 * The inquiry at the service becomes the one that serves the row. A list showed its content, so the
 * id is verified.
 */
export async function bindFound(
  context: SubmitContext,
  row: InquiryRow,
  seen: SeenInquiry,
  reason: string,
): Promise<void> {
  const { tx, now } = context;
  const sent_at = row.sent_at ?? seen.created_at ?? now;
  const set = {
    service_id: seen.service_id,
    service_status: seen.service_status,
    is_verified: 1,
    was_accepted: 1,
    lookup_at: null,
    poll_at: now,
    empty_polls: 0,
    sent_at,
    ...(row.sent_at === null ? priceOfFound(context.deps, row, sent_at) : {}),
    // What is asked about from now on is found under the label that it was sent with.
    ...(canonicalExternalId(row.external_id) === seen.external_id
      ? {}
      : { external_id: seen.external_id }),
  };
  await moveInquiries(tx, [row.id], { from: row.state, to: 'open', reason, set }, now);
  await own(tx, seen, mainOf(row), now);
  await resolveAttention(tx, inquirySubject(row.id), now, ['unconfirmed']);
  await takeLateCalls(context, row);
}

/** A call that this database did not send is on the bill all the same. */
function priceOfFound(
  deps: Pick<SubmitDeps, 'settings'>,
  row: InquiryRow,
  sent_at: number,
): Partial<StoredPrice> {
  const draft = readDraft(row.draft);
  return draft === null ? {} : priceNow(deps, draft, sent_at);
}

/**
 * Before a call is made: an inquiry that the service holds already serves the need instead (G1).
 * First a call of this very inquiry that was proven absent; then a call too many of an attempt
 * before this one: both are paid for. Then one that nobody owns: under a label of this need's
 * appointments it counts always, under another label while its answer would be fresh enough. Each
 * has to name this patient: a twin's answer is not for this chart. Where a first name was corrected
 * and the database was lost, that costs a call. One that was unsuccessful counts as well: it was an
 * attempt, and the next one follows from its answer.
 */
export async function adoptExisting(
  context: SubmitContext,
  row: InquiryRow,
  external_id_template: string,
): Promise<string | null> {
  const { tx } = context;
  const alike = (await inquiriesByMatch(tx, row.specialty, row.match_key)).filter(
    ({ id }) => id !== row.id,
  );
  const unowned = await unownedMatches(tx, row.specialty, row.match_key);
  const free = await withoutSought(tx, row, row.match_key, unowned);
  const found =
    (await lateCallOf(tx, row, free)) ??
    (await extraOfSeries(tx, row, alike)) ??
    (await unownedFor(context, row, { alike, unowned, free }, external_id_template));
  if (found === null) return null;
  const reason = 'The service holds an inquiry for this already, so no call is made.';
  await bindFound(context, row, found, reason);
  if (found.inquiry !== null) await resolveExtra(tx, found.inquiry, context.now);
  return found.service_id;
}

async function lateCallOf(
  tx: Tx,
  row: InquiryRow,
  free: readonly LedgerEntry[],
): Promise<LedgerEntry | null> {
  if (free.length === 0) return null;
  const calls = await absentCallsOf(tx, row.id);
  return free.find((entry) => calls.some((call) => isSameCall(call, entry))) ?? null;
}

async function extraOfSeries(
  tx: Tx,
  row: InquiryRow,
  alike: readonly InquiryRow[],
): Promise<LedgerEntry | null> {
  const series = alike.filter(
    ({ need_base, benefit_year, attempt }) =>
      need_base === row.need_base &&
      benefit_year === row.benefit_year &&
      attempt < row.attempt &&
      attempt >= row.attempt - row.retry,
  );
  const extras = await extrasOf(
    tx,
    series.map(({ id }) => id),
  );
  const given_name = givenNameOf(row);
  const isOf = (entry: LedgerEntry) => ['', given_name].includes(entry.given_name);
  // The operator of the service may have cancelled it, so that it is not charged for.
  return (
    extras.find((entry) => isOf(entry) && finalOutcome(entry.service_status) !== 'cancelled') ??
    null
  );
}

/**
 * `alike`: other rows that ask the same. `free`: those of the `unowned` that no lost reply may have
 * been about.
 */
type Candidates = {
  alike: readonly InquiryRow[];
  unowned: readonly LedgerEntry[];
  free: readonly LedgerEntry[];
};

async function unownedFor(
  { tx, deps, now }: SubmitContext,
  row: InquiryRow,
  { alike, unowned, free }: Candidates,
  external_id_template: string,
): Promise<LedgerEntry | null> {
  const { reverify_after_days, time_zone } = deps.settings;
  if (free.length === 0) return null;
  const labelOf = ({ connector, source_id }: { connector: string; source_id: string }) =>
    canonicalExternalId(externalId(external_id_template, connector, source_id));
  const labels = new Set((await appointmentsOf(tx, row.id)).map(labelOf));
  labels.add(canonicalExternalId(row.external_id));
  const given_name = givenNameOf(row);
  // Another benefit year shares everything but the label, and so does a twin but for the name. A
  // label may have been the twin's before: the name decides, and the label where it is the same.
  const others = alike.filter(
    (other) => other.patient_key !== row.patient_key || other.state === 'planned',
  );
  const year_of = new Map<string, number>();
  for (const visit of await visitsOf(tx, row.patient_key))
    year_of.set(labelOf(visit), yearOf(localDate(visit.starts_at, time_zone)));
  // The visit under the label may have been moved since: where its year has a call of its own, this
  // one was for another, and where an earlier attempt of this need had the label, it was for this
  // one.
  const served = new Set(
    alike
      .filter((other) => other.patient_key === row.patient_key && isServed(other))
      .map((other) => other.benefit_year),
  );
  const earlier = alike.filter(
    (other) => other.need_base === row.need_base && other.benefit_year === row.benefit_year,
  );
  const earlier_labels = new Set(
    earlier.map(({ external_id }) => canonicalExternalId(external_id)),
  );
  const isOfYear = ({ external_id }: LedgerEntry) => {
    const year = year_of.get(external_id) ?? row.benefit_year;
    return year === row.benefit_year || served.has(year) || earlier_labels.has(external_id);
  };
  const fresh = freshOnes(unowned, reverify_after_days * DAY_MS, now);
  const mayServe = (entry: LedgerEntry) =>
    entry.given_name === given_name &&
    isOfYear(entry) &&
    fresh.has(entry) &&
    !others.some((other) => mayBeOf(other, entry));
  return (
    free.find(
      (entry) => labels.has(entry.external_id) && ['', given_name].includes(entry.given_name),
    ) ??
    free.find(mayServe) ??
    null
  );
}

/**
 * An unsuccessful call is as fresh as the attempt that followed it: each of them counts, or one too
 * many is made (G1). `all`: oldest first. What is further apart than an answer counts is no
 * attempt, but a question that was asked again.
 */
function freshOnes(
  all: readonly LedgerEntry[],
  reverify_ms: number,
  now: number,
): Set<LedgerEntry> {
  const fresh = new Set<LedgerEntry>();
  const next_at = new Map<string, number>();
  for (const entry of all.toReversed()) {
    const { given_name, service_status, created_at } = entry;
    const made_at = created_at ?? 0;
    const follows =
      (next_at.get(given_name) ?? Number.POSITIVE_INFINITY) - made_at <=
      Math.max(ATTEMPT_MS_MAX, reverify_ms);
    if (
      made_at <= now - reverify_ms &&
      !(follows && finalOutcome(service_status) === 'unsuccessful')
    )
      continue;
    fresh.add(entry);
    next_at.set(given_name, made_at);
  }
  return fresh;
}

function isServed({ service_id, service_status }: InquiryRow): boolean {
  return service_id !== null && finalOutcome(service_status) !== 'unsuccessful';
}
