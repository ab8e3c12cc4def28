import { createHash } from 'node:crypto';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { HOUR_MS, localDate, MINUTE_MS } from '../../src/domain/time.ts';
import { type ConnectorEnv, ConnectorError, type PullBatch, type PullCall, type RejectedItem } from '../contract.ts';
import { startOf, statusOf, toAppointment } from './appointment.ts';
import { Chart } from './chart.ts';
import { readClaims } from './claims.ts';
import type { FhirClient, SearchEnd } from './client.ts';
import type { FhirConfig } from './config.ts';
import { type Resource, textAt } from './element.ts';
import { FhirError, isPassing } from './failure.ts';
import { type Gathered, gather } from './gather.ts';
import { advance, type Cursor, nextReading, type Reading, readCursor, windowStart } from './reading.ts';

const BATCH_SIZE = 500;
/** A server that fails on more appointments than this is in trouble itself; nothing of such a reading is taken. */
const FAILED_ITEMS_MAX = 20;
/** Without a way to ask for changes, the whole window is read each time. */
const WINDOW_POLL_MS = HOUR_MS;

type Found = { appointments: Resource[]; unreadable: number; is_partial: boolean; ends: SearchEnd[] };
type Mapped = { appointments: AppointmentInput[]; cancelled_ids: string[]; rejected: RejectedItem[]; failed: number };

/** What becomes of an Appointment. `none`: no visit of a patient. `is_passing`: the server failed, which says nothing about the visit (G7). */
type Outcome =
  | { kind: 'appointment'; input: AppointmentInput }
  | { kind: 'cancelled'; id: string }
  | { kind: 'rejected'; item: RejectedItem; is_passing: boolean }
  | { kind: 'none' };

type Taking = { reading: Reading; cursor: Cursor; found: Found; mapped: Mapped };

/** Reads appointments and what they refer to, in the rhythm of the configuration. */
export class Puller {
  private readonly client: FhirClient;
  private readonly config: FhirConfig;
  private readonly env: ConnectorEnv;
  private read_at: number | null = null;
  private refuses_changes = false;
  private failures = 0;

  constructor(client: FhirClient, config: FhirConfig, env: ConnectorEnv) {
    this.client = client;
    this.config = config;
    this.env = env;
  }

  /** Throws a ConnectorError, also after a part was taken. */
  async pull(call: PullCall): Promise<void> {
    call.signal.throwIfAborted();
    const { clock, time_zone } = this.env;
    const capability = await this.client.capability(call.signal);
    const cursor = readCursor(call.cursor);
    const next = () =>
      nextReading(
        this.refuses_changes ? { ...cursor, window_on: null } : cursor,
        this.config,
        capability,
        time_zone,
        clock.now(),
      );
    let reading = next();
    if (!this.isDue(reading, cursor)) return;
    const chart = new Chart(this.client, capability, call.signal);
    let found: Found;
    try {
      found = await this.find(reading, chart, call.signal);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (reading.kind === 'window') throw searchRefused(error, this.config);
      this.refuses_changes = true;
      reading = next();
      found = await this.find(reading, chart, call.signal);
    }
    const mapped = await this.map(reading, found, chart, call.signal);
    const after = await this.take({ reading, cursor, found, mapped }, call);
    await this.pullClaims(after, chart, call);
  }

  /** Hands over what was read. Anything that is missing keeps the cursor where it was, and nothing counts as vanished. */
  private async take({ reading, cursor, found, mapped }: Taking, call: PullCall): Promise<Cursor> {
    const { clock, time_zone, connector_id } = this.env;
    if (mapped.failed > FAILED_ITEMS_MAX) throw failedItems(mapped.failed);
    const ended_badly = found.ends.find((end) => end !== 'end');
    const is_whole = ended_badly === undefined && mapped.failed === 0;
    const completeness = is_whole && !found.is_partial && reading.kind === 'window' ? 'full' : 'changes';
    const next = advance(cursor, reading, found.appointments, clock.now(), localDate(clock.now(), time_zone));
    await hand({ reading, mapped, completeness, next: is_whole ? JSON.stringify(next) : null }, call);
    this.read_at = clock.elapsed();
    this.failures = is_whole ? 0 : this.failures + 1;
    if (found.is_partial) this.env.log('fhir_answer_partial', { connector: connector_id });
    if (ended_badly !== undefined) throw endedBadly(ended_badly);
    if (mapped.failed > 0) throw failedItems(mapped.failed);
    return next;
  }

  /** Once a day, as a source of their own: claims change slowly, and none of them ever counts as vanished. */
  private async pullClaims(cursor: Cursor, chart: Chart, { accept, signal }: PullCall): Promise<void> {
    const { config, env } = this;
    const today = localDate(env.clock.now(), env.time_zone);
    if (config.claims_days === 0 || cursor.claims_on === today) return;
    const { claims, rejected } = await readClaims(this.client, chart, { config, time_zone: env.time_zone, today }, signal);
    const key = `claims:${createHash('sha256')
      .update(JSON.stringify([claims, rejected]))
      .digest('hex')}`;
    for (let from = 0; from === 0 || from < claims.length; from += BATCH_SIZE) {
      signal.throwIfAborted();
      const is_last = from + BATCH_SIZE >= claims.length;
      await accept({
        source: { key, name: 'claims', is_last, completeness: 'changes' },
        appointments: [],
        claims: claims.slice(from, from + BATCH_SIZE),
        rejected: is_last ? rejected : [],
        cursor: is_last ? JSON.stringify({ ...cursor, claims_on: today }) : null,
      });
    }
  }

  /** A window that is read instead of changes is large, so it is read less often; so is what the server keeps failing on. */
  private isDue(reading: Reading, cursor: Cursor): boolean {
    if (this.read_at === null) return true;
    const poll_ms = this.config.poll_minutes * MINUTE_MS;
    const is_instead = reading.kind === 'window' && cursor.window_on === localDate(this.env.clock.now(), this.env.time_zone);
    const rest_ms = is_instead ? WINDOW_POLL_MS : poll_ms * 2 ** this.failures;
    return this.env.clock.elapsed() - this.read_at >= (poll_ms === 0 ? 0 : Math.max(poll_ms, Math.min(rest_ms, WINDOW_POLL_MS)));
  }

  private async find(reading: Reading, chart: Chart, signal: AbortSignal): Promise<Found> {
    const found = new Map<string, Resource>();
    const result: Found = { appointments: [], unreadable: 0, is_partial: false, ends: [] };
    const searches = this.config.search_by.length === 0 ? [{}] : this.config.search_by;
    for (const extra of searches) {
      for await (const page of this.client.search('Appointment', [...Object.entries(extra), ...reading.query], signal)) {
        chart.keep(page.included);
        result.unreadable += page.unreadable;
        result.is_partial ||= page.is_partial;
        if (page.end !== null) result.ends.push(page.end);
        for (const appointment of page.matches) {
          const { id } = appointment;
          // Pages shift while they are read; the later version of one that stands on two of them counts.
          if (id === undefined) result.unreadable += 1;
          else if (textAt(found.get(id), 'meta', 'lastUpdated') <= textAt(appointment, 'meta', 'lastUpdated'))
            found.set(id, appointment);
        }
      }
    }
    result.appointments = [...found.values()];
    return result;
  }

  private async map(reading: Reading, found: Found, chart: Chart, signal: AbortSignal): Promise<Mapped> {
    const mapped: Mapped = { appointments: [], cancelled_ids: [], rejected: unreadableEntries(found.unreadable), failed: 0 };
    const from = windowStart(this.config, this.env.time_zone, this.env.clock.now());
    const outcomes = await Promise.all(found.appointments.map((appointment) => this.mapOne(appointment, chart, signal)));
    for (const outcome of outcomes) {
      if (outcome.kind === 'cancelled') mapped.cancelled_ids.push(outcome.id);
      if (outcome.kind === 'rejected') mapped.rejected.push(outcome.item);
      if (outcome.kind === 'rejected' && outcome.is_passing) mapped.failed += 1;
      if (outcome.kind !== 'appointment') continue;
      // What has changed may be an old visit, which nobody asks about any more.
      const { input } = outcome;
      const is_old = reading.kind === 'changes' && input.status === 'booked' && Date.parse(input.starts_at) < from;
      if (!is_old) mapped.appointments.push(input);
    }
    return mapped;
  }

  private async mapOne(appointment: Resource, chart: Chart, signal: AbortSignal): Promise<Outcome> {
    const { config, env } = this;
    const id = textAt(appointment, 'id');
    const status = statusOf(appointment, config);
    if (status === 'ignored') return { kind: 'none' };
    const starts_at = startOf(appointment, env.time_zone);
    if (starts_at === null) {
      if (status === 'cancelled') return { kind: 'cancelled', id };
      // What is proposed without a time is no visit yet; it comes again when it gets one.
      if (textAt(appointment, 'status') === 'proposed') return { kind: 'none' };
      return rejected(
        id,
        'start',
        'missing or not a time',
        'Enter date and time of the visit in the practice management system.',
      );
    }
    const gathered = await this.gather(id, appointment, chart, signal);
    if ('appointment' in gathered) {
      const today = localDate(env.clock.now(), env.time_zone);
      const place = { config, time_zone: env.time_zone, today };
      return { kind: 'appointment', input: toAppointment(gathered, id, starts_at, status, place) };
    }
    // A cancellation holds whatever else cannot be read.
    return status === 'cancelled' && gathered.kind === 'rejected' && !gathered.is_passing ? { kind: 'cancelled', id } : gathered;
  }

  private async gather(id: string, appointment: Resource, chart: Chart, signal: AbortSignal): Promise<Gathered | Outcome> {
    try {
      const gathered = await gather(appointment, chart, this.config);
      if ('appointment' in gathered) return gathered;
      if (gathered.why === 'no_patient') return { kind: 'none' };
      const remedy = "Look whether the appointment's patient has a record that the client of eligd may read.";
      return rejected(id, 'participant', 'a patient who cannot be read', remedy);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FhirError) || error.kind === 'unreachable' || error.kind === 'unauthorized') throw error;
      if (!isPassing(error)) {
        const remedy =
          'Have the client of eligd allowed to search Coverage by patient at the FHIR server; "eligd check" looks for the cause.';
        return rejected(id, 'Coverage', 'not readable', remedy);
      }
      const remedy = 'It is read again by itself; if it lasts, ask whoever runs the FHIR server.';
      return { ...rejected(id, 'what it refers to', 'something that the FHIR server failed on', remedy), is_passing: true };
    }
  }
}

function rejected(source_id: string, field: string, value_class: string, remedy: string) {
  const item: RejectedItem = { position: `Appointment/${source_id}`, source_id, field, value_class, remedy };
  return { kind: 'rejected' as const, item, is_passing: false };
}

function isRefusal(error: unknown): error is FhirError {
  return error instanceof FhirError && ['refused', 'forbidden', 'unsupported'].includes(error.kind);
}

type Handing = { reading: Reading; mapped: Mapped; completeness: 'full' | 'changes'; next: string | null };

/**
 * Hands a reading over in batches, under a key made of its content: after a crash the same content comes under the same key. The cursor
 * moves with the last batch (G3).
 */
async function hand({ reading, mapped, completeness, next }: Handing, { accept, isAccepted, signal }: PullCall): Promise<void> {
  const { appointments, cancelled_ids, rejected } = mapped;
  const is_empty = appointments.length + cancelled_ids.length + rejected.length === 0;
  const key = `${reading.kind}:${createHash('sha256')
    .update(JSON.stringify([appointments, cancelled_ids, rejected]))
    .digest('hex')}`;
  if (reading.kind === 'changes' && (is_empty || (await isAccepted(key)))) return;
  for (let from = 0; from === 0 || from < appointments.length; from += BATCH_SIZE) {
    signal.throwIfAborted();
    const is_last = from + BATCH_SIZE >= appointments.length;
    const batch: PullBatch = {
      source: { key, name: reading.name, is_last, completeness },
      appointments: appointments.slice(from, from + BATCH_SIZE),
      cancelled_ids: is_last ? cancelled_ids : [],
      rejected: is_last ? rejected : [],
      cursor: is_last ? next : null,
    };
    await accept(batch);
  }
}

function unreadableEntries(count: number): RejectedItem[] {
  return Array.from({ length: count }, (_, index) => ({
    position: `entry ${index + 1} without a usable resource`,
    field: 'Bundle.entry',
    value_class: 'not a resource with an id',
    remedy: 'Ask whoever runs the FHIR server; the other appointments were read.',
  }));
}

function searchRefused(error: FhirError, { search_by }: FhirConfig): ConnectorError {
  const next =
    search_by.length === 0
      ? 'Most servers that refuse this want a place or a person: name them in search_by: of the connector, e.g. "- location: Location/12", one line each. Otherwise have the client of eligd allowed to search Appointment.'
      : 'Check the names and values in search_by: of the connector, and whether the client of eligd may search Appointment.';
  return new ConnectorError('permanent', {
    what: `${error.message} It does not allow this search for appointments.`,
    next,
    cause: error,
  });
}

function endedBadly(end: Exclude<SearchEnd, 'end'>): ConnectorError {
  const told = {
    loop: 'The pages of the FHIR server go round in a circle, so its list of appointments has no end.',
    foreign_link: 'The FHIR server names another server for the next page, and credentials are not sent there.',
    too_many_pages: 'The list of appointments of the FHIR server has more than 10,000 pages.',
  }[end];
  const next =
    end === 'foreign_link'
      ? 'Write the address that the server calls itself into base_url:, or have it set to the one that is used.'
      : 'Ask whoever runs the FHIR server; a larger page_size: or a smaller days_ahead: may help.';
  return new ConnectorError('permanent', { what: `${told} What was read is taken.`, next });
}

function failedItems(count: number): ConnectorError {
  const what = `The FHIR server failed on what belongs to ${count === 1 ? 'an appointment' : `${count} appointments`}; the others were taken.`;
  return new ConnectorError('transient', {
    what,
    next: 'It is tried again by itself; if it lasts, ask whoever runs the FHIR server.',
  });
}
