import type { InquiryDraft } from '../../domain/inquiry.ts';
import { canonicalExternalId, givenName } from '../../domain/matching.ts';
import { externalId } from '../../domain/needs.ts';
import type { Specialty } from '../../domain/specialty.ts';
import { finalStatus } from '../../domain/states.ts';
import { DAY_MS, localDate, yearOf } from '../../domain/time.ts';
import { resolveAttention } from '../../store/attention.ts';
import { inquirySubject } from '../../store/audit.ts';
import type { Tx } from '../../store/database.ts';
import { absentCalls, type InquiryRow, inquiriesByMatch, moveInquiries } from '../../store/inquiries.ts';
import { extrasOf, type LedgerEntry, own, type SeenInquiry, unownedMatches } from '../../store/ledger.ts';
import { appointmentsOf, visitsOf } from '../../store/links.ts';

/** A call, and the pause before the next attempt, are over by then. */
const ATTEMPT_MS_MAX = 3 * DAY_MS;

/** The inquiry at the service becomes the one that serves the row. A list showed its content, so the id is verified. */
export async function bindFound(
  tx: Tx,
  specialty: Specialty,
  row: InquiryRow,
  seen: SeenInquiry,
  reason: string,
  now: number,
): Promise<void> {
  await moveInquiries(
    tx,
    [row.id],
    { from: row.state, to: 'open', reason },
    {
      service_id: seen.service_id,
      service_status: seen.service_status,
      is_verified: 1,
      was_accepted: 1,
      look_at: null,
      poll_at: now,
      empty_polls: 0,
      sent_at: row.sent_at ?? seen.created_at ?? now,
      // What is asked about from now on is found under the label that it was sent with.
      ...(canonicalExternalId(row.external_id) === seen.external_id ? {} : { external_id: seen.external_id }),
    },
    now,
  );
  await own(tx, specialty, seen, row.id, 'main', now);
  await resolveAttention(tx, inquirySubject(row.id), now, ['unconfirmed']);
}

/** `reverify_after_days`: how long an answer counts. `time_zone`: in which a visit's benefit year is told. */
export type AdoptionRules = { external_id_template: string; reverify_after_days: number; time_zone: string };

/**
 * Before a call is made: an inquiry that the service holds already serves the need instead (G1). A call too many that was made
 * for an attempt before this one comes first: it is paid for. Then one that nobody owns: under a label of this need's
 * appointments it counts always, under another label while its answer would be fresh enough. Either has to name this patient: a
 * twin's answer is not for this chart. Where a first name was corrected and the database was lost, that costs a call.
 * One that was unsuccessful counts as well: it was an attempt, and the next one follows from its answer.
 */
export async function adoptExisting(tx: Tx, row: InquiryRow, rules: AdoptionRules, now: number): Promise<string | null> {
  const alike = (await inquiriesByMatch(tx, row.specialty, row.match_key)).filter(({ id }) => id !== row.id);
  const found = (await extraOfSeries(tx, row, alike)) ?? (await unownedFor(tx, row, alike, rules, now));
  if (found === null) return null;
  await bindFound(tx, row.specialty, row, found, 'The service holds an inquiry for this already, so no call is made.', now);
  return found.service_id;
}

async function extraOfSeries(tx: Tx, row: InquiryRow, alike: readonly InquiryRow[]): Promise<LedgerEntry | null> {
  const series = alike.filter(
    ({ need_base, benefit_year, attempt }) =>
      need_base === row.need_base &&
      benefit_year === row.benefit_year &&
      attempt < row.attempt &&
      attempt >= row.attempt - row.retry,
  );
  const [oldest] = await extrasOf(
    tx,
    series.map(({ id }) => id),
  );
  return oldest ?? null;
}

async function unownedFor(
  tx: Tx,
  row: InquiryRow,
  alike: readonly InquiryRow[],
  rules: AdoptionRules,
  now: number,
): Promise<LedgerEntry | null> {
  const unowned = await unownedMatches(tx, row.specialty, row.match_key);
  if (unowned.length === 0) return null;
  const labelOf = ({ connector, source_id }: { connector: string; source_id: string }) =>
    canonicalExternalId(externalId(rules.external_id_template, connector, source_id));
  const labels = new Set([row, ...absentCalls(row)].map(({ external_id }) => canonicalExternalId(external_id)));
  for (const each of await appointmentsOf(tx, row.id)) labels.add(labelOf(each));
  const given_name = givenNameOf(row);
  const mayBeOf = (other: InquiryRow, entry: LedgerEntry) =>
    canonicalExternalId(other.external_id) === entry.external_id && ['', givenNameOf(other)].includes(entry.given_name);
  // A lost reply may have been about it: left for that inquiry's look, which would take its absence for a proof (G1).
  const sought = alike.filter(({ state }) => state === 'sending' || state === 'uncertain');
  const free = unowned.filter((entry) => !sought.some((other) => mayBeOf(other, entry)));
  // Another benefit year shares everything but the label, and so does a twin but for the name. A label may have been the twin's
  // before: the name decides, and the label where it is the same.
  const others = alike.filter((other) => other.patient_key !== row.patient_key || other.state === 'planned');
  const year_of = new Map<string, number>();
  for (const visit of await visitsOf(tx, row.patient_key))
    year_of.set(labelOf(visit), yearOf(localDate(visit.starts_at, rules.time_zone)));
  // The visit under the label may have been moved since: where its year has a call of its own, this one was for another.
  const served = new Set(
    alike.filter((other) => other.patient_key === row.patient_key && isServed(other)).map((other) => other.benefit_year),
  );
  const isOfYear = ({ external_id }: LedgerEntry) => {
    const year = year_of.get(external_id) ?? row.benefit_year;
    return year === row.benefit_year || served.has(year);
  };
  const mayServe = (entry: LedgerEntry) =>
    entry.given_name === given_name &&
    isOfYear(entry) &&
    isFreshIn(unowned, entry, rules.reverify_after_days, now) &&
    !others.some((other) => mayBeOf(other, entry));
  return (
    free.find((entry) => labels.has(entry.external_id) && ['', given_name].includes(entry.given_name)) ??
    free.find(mayServe) ??
    null
  );
}

/** An unsuccessful call is as fresh as the attempt that followed it: each of them counts, or one too many is made (G1). */
function isFreshIn(all: readonly LedgerEntry[], entry: LedgerEntry, reverify_after_days: number, now: number): boolean {
  const made_at = entry.created_at ?? 0;
  const reverify_ms = reverify_after_days * DAY_MS;
  if (made_at > now - reverify_ms) return true;
  if (finalStatus(entry.service_status) !== 'UNSUCCESSFUL') return false;
  const followers = all.filter(({ created_at, given_name }) => {
    const later_ms = (created_at ?? 0) - made_at;
    return given_name === entry.given_name && later_ms > 0 && later_ms <= ATTEMPT_MS_MAX + reverify_ms;
  });
  return followers.some((follower) => isFreshIn(all, follower, reverify_after_days, now));
}

function isServed({ service_id, service_status }: InquiryRow): boolean {
  return service_id !== null && finalStatus(service_status ?? '') !== 'UNSUCCESSFUL';
}

function givenNameOf({ draft }: InquiryRow): string {
  return givenName((JSON.parse(draft) as InquiryDraft).patient_name);
}
