/** Detects appointments that an export should have contained and did not. */
import { sql } from 'kysely';
import type { Attention } from '../../domain/attention.ts';
import { raiseAttention } from '../bookkeeping/attention.ts';
import { appointmentSubject } from '../bookkeeping/audit.ts';
import { AT_ONCE } from '../calls/due-at-once.ts';
import type { Tx } from '../engine/database.ts';
import { IDS_PER_STATEMENT } from './appointments.ts';

type Export = {
  connector: string;
  source: number;
  completeness: 'full' | 'changes' | 'unknown';
};

/** Where and with whom an appointment takes place, according to the export; empty: not stated. */
type Place = { location: string; provider: string };

type Missing = Place & {
  id: number;
  starts_at: number;
  missing_since: number | null;
  missed_source: number | null;
};

/**
 * The upcoming visits in an export: how many, how many of them were known before, their first and
 * last time, and their places.
 */
type Named = {
  count: number;
  known: number;
  first: number;
  last: number;
  locations: ReadonlySet<string>;
  providers: ReadonlySet<string>;
};

/**
 * Flags open, upcoming appointments that two consecutive exports should have contained and did not:
 * they were known before the export arrived, and lie within its days and its locations or
 * providers. So exports of several offices do not cancel each other's calls. An export that does
 * not say whether it is full counts as full if it contains at least half of the appointments known
 * there, and more than one. Returns how many were flagged.
 */
export async function flagVanished(tx: Tx, read: Export, now: number): Promise<number> {
  if (read.completeness === 'changes') return 0;
  const { first_seen_at } = await tx
    .selectFrom('sources')
    .select('first_seen_at')
    .where('id', '=', read.source)
    .executeTakeFirstOrThrow();
  const upcoming = { connector: read.connector, source: read.source, now };
  const candidates = await notNamed(tx, upcoming, first_seen_at);
  // Usually nothing is missing, and the content of the export need not be read.
  if (candidates.length === 0) return 0;
  const named = await namedBy(tx, upcoming, first_seen_at);
  const missing = candidates.filter(liesWithin(named));
  if (read.completeness === 'unknown' && (named.count < 2 || missing.length > named.known))
    return 0;
  const fresh = missing.filter(({ missing_since }) => missing_since === null);
  const isSecond = ({ missed_source }: Missing) =>
    missed_source !== null && missed_source !== read.source;
  const first_time = fresh.filter((each) => !isSecond(each)).map(({ id }) => id);
  for (let at = 0; at < first_time.length; at += IDS_PER_STATEMENT) {
    await tx
      .updateTable('appointments')
      .set({ missed_source: read.source })
      .where('id', 'in', first_time.slice(at, at + IDS_PER_STATEMENT))
      .execute();
  }
  const vanished = fresh.filter(isSecond);
  for (const { id } of vanished) await flag(tx, read.connector, id, now);
  return vanished.length;
}

type Upcoming = { connector: string; source: number; now: number };

/** Returns a query for upcoming appointments, including closed ones. */
function upcomingOf(tx: Tx, { connector, now }: Upcoming) {
  return tx
    .selectFrom('appointments')
    .where('connector', '=', connector)
    .where('kind', '=', sql.lit('appointment'))
    .where('superseded_at', 'is', null)
    .where('starts_at', '>=', now);
}

const LOCATION = sql<string | null>`content ->> 'location'`;
const PROVIDER = sql<string | null>`content -> 'provider' ->> 'rendering_npi'`;

const placeOf = (location: string | null, provider: string | null): Place => ({
  location: (location ?? '').trim().toLowerCase(),
  provider: provider ?? '',
});

/** Returns open appointments that were known before the export and are missing from it. */
async function notNamed(tx: Tx, upcoming: Upcoming, known_before: number): Promise<Missing[]> {
  const rows = await upcomingOf(tx, upcoming)
    .select(['id', 'starts_at', 'missing_since', 'missed_source'])
    .select([LOCATION.as('location'), PROVIDER.as('provider')])
    .where('closed_reason', 'is', null)
    .where('created_at', '<', known_before)
    .where((where) =>
      where.or([where('last_source', 'is', null), where('last_source', '<>', upcoming.source)]),
    )
    .execute();
  return rows.map(({ location, provider, ...row }) => ({ ...row, ...placeOf(location, provider) }));
}

async function namedBy(tx: Tx, upcoming: Upcoming, known_before: number): Promise<Named> {
  const named = upcomingOf(tx, upcoming).where('last_source', '=', upcoming.source);
  const counted = await named
    .select((select) => [
      select.fn.countAll<number>().as('count'),
      sql<number | null>`sum(case when created_at < ${known_before} then 1 else 0 end)`.as('known'),
      select.fn.min<number | null>('starts_at').as('first'),
      select.fn.max<number | null>('starts_at').as('last'),
    ])
    .executeTakeFirstOrThrow();
  const rows = await named
    .select([LOCATION.as('location'), PROVIDER.as('provider')])
    .distinct()
    .execute();
  const places = rows.map(({ location, provider }) => placeOf(location, provider));
  return {
    count: counted.count,
    known: counted.known ?? 0,
    first: counted.first ?? Number.POSITIVE_INFINITY,
    last: counted.last ?? Number.NEGATIVE_INFINITY,
    locations: new Set(places.map(({ location }) => location).filter(Boolean)),
    providers: new Set(places.map(({ provider }) => provider).filter(Boolean)),
  };
}

/**
 * Returns a test whether an appointment lies within the days and the locations or providers of the
 * export.
 */
function liesWithin({ first, last, locations, providers }: Named): (each: Missing) => boolean {
  return ({ starts_at, location, provider }) => {
    if (starts_at < first || starts_at > last) return false;
    if (locations.size > 0 && location !== '') return locations.has(location);
    return providers.size === 0 || provider === '' || providers.has(provider);
  };
}

async function flag(tx: Tx, connector: string, appointment: number, now: number): Promise<void> {
  await tx
    .updateTable('appointments')
    .set({ missing_since: now, plan_due_at: AT_ONCE })
    .where('id', '=', appointment)
    .execute();
  const subject = appointmentSubject(appointment);
  const entry = vanishedEntry(await progressOf(tx, appointment));
  await raiseAttention(tx, { connector, appointment, inquiry: null, subject }, entry, now);
}

type Progress = 'none' | 'called' | 'answered';

/** Returns how far the calls for an appointment have progressed. */
async function progressOf(tx: Tx, appointment: number): Promise<Progress> {
  const rows = await tx
    .selectFrom('inquiry_appointments')
    .innerJoin('inquiries', 'inquiries.id', 'inquiry_appointments.inquiry')
    .select('inquiries.state')
    .where('inquiry_appointments.appointment', '=', appointment)
    .execute();
  const states = rows.map(({ state }) => state);
  if (states.includes('answered')) return 'answered';
  const is_called = states.some((state) => !['planned', 'withdrawn', 'rejected'].includes(state));
  return is_called ? 'called' : 'none';
}

function vanishedEntry(progress: Progress): Attention {
  const calls: Record<Progress, string> = {
    none: 'eligd makes no call for it.',
    called: 'The call is already made, and its answer will be written back.',
    answered: 'The insurance company has already answered, and eligd writes the answer back.',
  };
  return {
    reason: 'vanished',
    what:
      'The appointment was missing from the last two exports, which contained the other ' +
      `appointments of those days. ${calls[progress]}`,
    next:
      'If it was canceled, cancel it in your practice software. If it takes place, export it ' +
      'again.',
  };
}
