/** Appointments that an export should have named and did not. */
import { sql } from 'kysely';
import type { Attention } from '../../domain/attention.ts';
import type { ClosedReason } from '../../domain/explanation.ts';
import { raiseAttention } from '../bookkeeping/attention.ts';
import { appointmentSubject } from '../bookkeeping/audit.ts';
import type { Tx } from '../engine/database.ts';
import { IDS_PER_STATEMENT } from './appointments.ts';

type Export = {
  connector: string;
  source: number;
  completeness: 'full' | 'changes' | 'unknown';
};

/** Where and by whom an appointment takes place, as the export says it; empty: it does not. */
type Place = { location: string; provider: string };

type Upcoming = Place & {
  id: number;
  starts_at: number;
  created_at: number;
  last_source: number | null;
  missing_since: number | null;
  missed_source: number | null;
  closed_reason: ClosedReason | null;
};

/**
 * Flags open, upcoming appointments that two exports in a row should have named and did not: they
 * were known before the export arrived, and lie within its days and its locations or providers. So
 * exports of several offices do not cancel each other's calls. An export that does not say whether
 * it is full counts as full when it names at least half of what was known there, and more than one
 * appointment.
 */
export async function flagVanished(tx: Tx, read: Export, now: number): Promise<number> {
  if (read.completeness === 'changes') return 0;
  const { first_seen_at } = await tx
    .selectFrom('sources')
    .select('first_seen_at')
    .where('id', '=', read.source)
    .executeTakeFirstOrThrow();
  const upcoming = await upcomingOf(tx, read.connector, now);
  const named = upcoming.filter(({ last_source }) => last_source === read.source);
  const covers = coverage(named);
  const known = upcoming.filter((each) => each.created_at < first_seen_at && covers(each));
  const missing = known.filter(
    ({ last_source, closed_reason }) => last_source !== read.source && closed_reason === null,
  );
  const named_known = known.filter(({ last_source }) => last_source === read.source).length;
  if (read.completeness === 'unknown' && (named.length < 2 || missing.length > named_known))
    return 0;
  const fresh = missing.filter(({ missing_since }) => missing_since === null);
  const isSecond = ({ missed_source }: Upcoming) =>
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

/** Appointments that are not over, closed ones too, with where they take place. */
async function upcomingOf(tx: Tx, connector: string, now: number): Promise<Upcoming[]> {
  const rows = await tx
    .selectFrom('appointments')
    .select(['id', 'starts_at', 'created_at', 'last_source'])
    .select(['missing_since', 'missed_source', 'closed_reason'])
    .select([
      sql<string | null>`json_extract(content, '$.location')`.as('location'),
      sql<string | null>`json_extract(content, '$.provider.rendering_npi')`.as('provider'),
    ])
    .where('connector', '=', connector)
    .where('kind', '=', 'appointment')
    .where('superseded_at', 'is', null)
    .where('starts_at', '>=', now)
    .execute();
  return rows.map(({ location, provider, ...row }) => ({
    ...row,
    location: (location ?? '').trim().toLowerCase(),
    provider: provider ?? '',
  }));
}

/** Whether an appointment lies within the days and the locations or providers of the export. */
function coverage(named: readonly Upcoming[]): (each: Upcoming) => boolean {
  const starts = named.map(({ starts_at }) => starts_at);
  const [first, last] = [Math.min(...starts), Math.max(...starts)];
  const locations = new Set(named.map(({ location }) => location).filter(Boolean));
  const providers = new Set(named.map(({ provider }) => provider).filter(Boolean));
  return ({ starts_at, location, provider }) => {
    if (starts_at < first || starts_at > last) return false;
    if (locations.size > 0 && location !== '') return locations.has(location);
    return providers.size === 0 || provider === '' || providers.has(provider);
  };
}

async function flag(tx: Tx, connector: string, appointment: number, now: number): Promise<void> {
  await tx
    .updateTable('appointments')
    .set({ missing_since: now, plan_due_at: now })
    .where('id', '=', appointment)
    .execute();
  const subject = appointmentSubject(appointment);
  const entry = vanished(await progressOf(tx, appointment));
  await raiseAttention(tx, { connector, appointment, inquiry: null, subject }, entry, now);
}

type Progress = 'none' | 'called' | 'answered';

/** How far the calls for an appointment have come. */
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

function vanished(progress: Progress): Attention {
  const calls: Record<Progress, string> = {
    none: 'eligd makes no call for it.',
    called: 'The call is already made, and its answer will be written back.',
    answered: 'The payer has already answered, and eligd writes the answer back.',
  };
  return {
    reason: 'vanished',
    what:
      'The appointment was missing from the last two exports, which contained the other ' +
      `appointments of those days. ${calls[progress]}`,
    next:
      'If it was cancelled, cancel it in your practice software. If it takes place, export it ' +
      'again.',
  };
}
