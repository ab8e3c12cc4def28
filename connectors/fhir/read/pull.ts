import { createHash } from 'node:crypto';
import { HOUR_MS, localDate, MINUTE_MS } from '../../../src/domain/time.ts';
import type { ConnectorError, PullCall } from '../../contract.ts';
import type { FhirConfig } from '../config.ts';
import { type Resource, textAt } from '../element.ts';
import type { FhirEnv } from '../events.ts';
import type { FhirClient } from '../server/client.ts';
import { concernsAll, FhirError, isPassing, isRefusal } from '../server/failure.ts';
import { isReadOnly } from '../write/fallbacks.ts';
import { startOf, statusReader, toAppointment } from './appointment.ts';
import { Chart } from './chart.ts';
import { readClaims } from './claims.ts';
import {
  FAILED_ITEMS_MAX,
  type Found,
  failedItems,
  failureOf,
  type Mapped,
  named,
  type Outcome,
  othersOf,
  rejected,
  searchRefused,
  unreadableEntries,
} from './findings.ts';
import { type Gathered, gather } from './gather.ts';
import { BATCH_SIZE, handOver } from './hand-over.ts';
import {
  advance,
  type Cursor,
  isWithin,
  nextReading,
  type Reading,
  readCursor,
  type Today,
  windowStart,
  withOneDate,
  withWritability,
} from './reading.ts';

/** If changes cannot be searched, the whole window is read each time. */
const WINDOW_POLL_MS = HOUR_MS;

type Taking = { reading: Reading; cursor: Cursor; found: Found; mapped: Mapped };

/** `failure`: something is missing, which is reported after the rest is done. */
type Taken = { cursor: Cursor; failure: ConnectorError | null };

/** Reads appointments and the resources that they refer to, on the configured schedule. */
export class Puller {
  private readonly client: FhirClient;
  private readonly config: FhirConfig;
  private readonly env: FhirEnv;
  private readonly statusOf: ReturnType<typeof statusReader>;
  private read_at: number | null = null;
  private refuses_changes = false;
  /** The server accepts only one `date` parameter, so later visits are filtered out here. */
  private takes_one_date = false;
  private failures = 0;

  constructor(client: FhirClient, config: FhirConfig, env: FhirEnv) {
    this.client = client;
    this.config = config;
    this.env = env;
    this.statusOf = statusReader(config);
  }

  /** Does one pull if it is due. Throws a ConnectorError, even after it has passed on a part. */
  async pull(call: PullCall): Promise<void> {
    call.signal.throwIfAborted();
    // Stops the other requests after a failure.
    const ending = new AbortController();
    const end = () => ending.abort(call.signal.reason);
    call.signal.addEventListener('abort', end, { once: true });
    try {
      await this.read({ ...call, signal: ending.signal });
    } finally {
      call.signal.removeEventListener('abort', end);
      end();
    }
  }

  private today(): Today {
    const { clock, time_zone } = this.env;
    return { config: this.config, time_zone, now: clock.now() };
  }

  private async read(call: PullCall): Promise<void> {
    const capability = await this.client.capability(call.signal);
    const is_read_only = isReadOnly(this.config, capability, this.client.grantedScopes());
    const cursor = withWritability(readCursor(call.cursor), is_read_only);
    const next = () =>
      nextReading(
        this.refuses_changes ? { ...cursor, window_on: null } : cursor,
        capability,
        this.today(),
      );
    let reading = next();
    if (!this.isDue(reading, cursor)) return;
    const chart = new Chart(this.client, capability, call.signal);
    let found: Found;
    try {
      found =
        this.takes_one_date && reading.kind === 'window'
          ? await this.findWindow(reading, chart, call.signal)
          : await this.find(reading, chart, call.signal);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (reading.kind === 'changes') {
        this.refuses_changes = true;
        reading = next();
      }
      found = await this.findWindow(reading, chart, call.signal);
    }
    const mapped = await this.map(found, chart);
    if (is_read_only)
      for (const appointment of mapped.appointments) appointment.is_unwritable = true;
    const taken = await this.take({ reading, cursor, found, mapped }, call);
    const failure = (await this.pullClaims(taken.cursor, chart, call)) ?? taken.failure;
    this.failures = failure === null ? 0 : this.failures + 1;
    if (failure !== null) throw failure;
  }

  /**
   * Passes on what was read. If something is missing, the cursor stays, and no appointment counts
   * as vanished.
   */
  private async take({ reading, cursor, found, mapped }: Taking, call: PullCall): Promise<Taken> {
    const { clock, connector_id } = this.env;
    const failure = failureOf(found, mapped);
    const is_full = failure === null && !found.is_partial && reading.kind === 'window';
    const next = advance(cursor, reading, found.appointments, this.today());
    const handing = { ...mapped, rejected: [...mapped.rejected, ...named(mapped.failed)] };
    await handOver(
      { reading, mapped: handing, is_full, next: failure === null ? JSON.stringify(next) : null },
      call,
    );
    this.read_at = clock.elapsed();
    if (found.is_partial) this.env.log('fhir_answer_partial', { connector: connector_id });
    return { cursor: failure === null ? next : cursor, failure };
  }

  /**
   * Reads claims once a day, as a separate source: they change slowly, and none counts as vanished.
   */
  private async pullClaims(
    cursor: Cursor,
    chart: Chart,
    { accept, signal }: PullCall,
  ): Promise<ConnectorError | null> {
    const { config, env } = this;
    const today = localDate(env.clock.now(), env.time_zone);
    if (config.claims_days === 0 || cursor.claims_on === today) return null;
    const { claims, failed, ...read } = await readClaims(
      this.client,
      chart,
      { config, time_zone: env.time_zone, today },
      signal,
    );
    const rejected = [...read.rejected, ...named(failed)];
    const key = `claims:${createHash('sha256')
      .update(JSON.stringify([claims, rejected]))
      .digest('hex')}`;
    // Items on which the server fails are read again tomorrow; if there are many, all are read
    // again.
    const next =
      failed.length > FAILED_ITEMS_MAX ? null : JSON.stringify({ ...cursor, claims_on: today });
    for (let from = 0; from === 0 || from < claims.length; from += BATCH_SIZE) {
      signal.throwIfAborted();
      const is_last = from + BATCH_SIZE >= claims.length;
      await accept({
        source: { key, name: 'claims', is_last, completeness: 'changes' },
        appointments: [],
        claims: claims.slice(from, from + BATCH_SIZE),
        rejected: is_last ? rejected : [],
        cursor: is_last ? next : null,
      });
    }
    return failed.length > 0 ? failedItems(failed.length, 'a claim', 'claims') : null;
  }

  /**
   * Returns whether it is time for this reading. A window is larger than the changes, so it is read
   * less often, and so is a reading that the server keeps failing on.
   */
  private isDue(reading: Reading, cursor: Cursor): boolean {
    if (this.read_at === null) return true;
    const poll_ms = this.config.poll_minutes * MINUTE_MS;
    const is_instead =
      reading.kind === 'window' &&
      cursor.window_on === localDate(this.env.clock.now(), this.env.time_zone);
    const rest_ms = is_instead ? WINDOW_POLL_MS : poll_ms * 2 ** this.failures;
    return (
      this.env.clock.elapsed() - this.read_at >=
      (poll_ms === 0 ? 0 : Math.max(poll_ms, Math.min(rest_ms, WINDOW_POLL_MS)))
    );
  }

  /** Searches the window, with one date parameter if the server rejects two. */
  private async findWindow(reading: Reading, chart: Chart, signal: AbortSignal): Promise<Found> {
    const refusals: FhirError[] = [];
    for (const each of [reading, withOneDate(reading)]) {
      try {
        const found = await this.find(each, chart, signal);
        this.takes_one_date = each !== reading;
        if (!this.takes_one_date) return found;
        const { env } = this;
        const appointments = found.appointments.filter((appointment) => {
          const starts_at = startOf(appointment, env.time_zone);
          return starts_at === null || isWithin(starts_at, this.today());
        });
        return { ...found, appointments };
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refusals.push(error);
      }
    }
    const [first] = refusals;
    throw searchRefused(first ?? new FhirError('refused', { what: '' }), this.config, reading);
  }

  private async find(reading: Reading, chart: Chart, signal: AbortSignal): Promise<Found> {
    const found = new Map<string, Resource>();
    const result: Found = {
      appointments: [],
      unreadable: 0,
      is_partial: false,
      ends: [],
      failure: null,
    };
    const searches = this.config.search_by.length === 0 ? [{}] : this.config.search_by;
    const readPages = async (query: [string, string][]) => {
      for await (const page of this.client.search('Appointment', query, signal)) {
        chart.keep(page.included);
        result.unreadable += page.unreadable;
        result.is_partial ||= page.is_partial;
        if (page.end !== null) result.ends.push(page.end);
        for (const appointment of page.matches) {
          const { id } = appointment;
          // Pages shift while they are read; the later version of a repeated entry wins.
          if (id === undefined) result.unreadable += 1;
          else if (
            textAt(found.get(id), 'meta', 'lastUpdated') <=
            textAt(appointment, 'meta', 'lastUpdated')
          )
            found.set(id, appointment);
        }
      }
    };
    for (const extra of searches) {
      try {
        await readPages([...Object.entries(extra), ...reading.query]);
      } catch (error) {
        // A page on which the server fails does not stop the earlier pages or other searches (G7).
        if (!(error instanceof FhirError) || concernsAll(error)) throw error;
        if (!isPassing(error) && error.kind !== 'too_large') throw error;
        result.failure ??= error;
      }
    }
    if (result.failure !== null && found.size === 0) throw result.failure;
    result.appointments = [...found.values()];
    return result;
  }

  private async map(found: Found, chart: Chart): Promise<Mapped> {
    const mapped: Mapped = {
      appointments: [],
      cancelled_ids: [],
      rejected: unreadableEntries(found.unreadable),
      failed: [],
    };
    const from = windowStart(this.today());
    const outcomes = await Promise.all(
      found.appointments.map((appointment) => this.mapOne(appointment, from, chart)),
    );
    for (const outcome of outcomes) {
      if (outcome.kind === 'appointment') {
        mapped.appointments.push(outcome.input);
        mapped.rejected.push(...outcome.beside);
      }
      if (outcome.kind === 'cancelled') mapped.cancelled_ids.push(outcome.id);
      if (outcome.kind === 'rejected') mapped.rejected.push(outcome.item);
      if (outcome.kind === 'failed') mapped.failed.push(outcome.item);
    }
    return mapped;
  }

  private async mapOne(appointment: Resource, from: number, chart: Chart): Promise<Outcome> {
    const { config, env } = this;
    const id = textAt(appointment, 'id');
    const status = this.statusOf(appointment);
    if (status === 'ignored') return { kind: 'none' };
    // A cancellation is valid even if the rest cannot be read.
    if (status === 'cancelled') return { kind: 'cancelled', id };
    const starts_at = startOf(appointment, env.time_zone);
    if (starts_at === null) {
      // A proposal without a time is not a visit yet; it appears again when it gets a time.
      if (textAt(appointment, 'status') === 'proposed') return { kind: 'none' };
      const remedy = 'Enter date and time of the visit in the practice management system.';
      return rejected(id, 'start', 'missing or not a time', remedy);
    }
    // A changed resource may be an old visit, and some servers send all of them; they need no call.
    if (Date.parse(starts_at) < from) return { kind: 'none' };
    const gathered = await this.gather(id, appointment, chart);
    if (!('appointment' in gathered)) return gathered;
    const today = localDate(env.clock.now(), env.time_zone);
    const input = toAppointment(
      gathered,
      id,
      { starts_at, status },
      {
        config,
        time_zone: env.time_zone,
        today,
      },
    );
    return { kind: 'appointment', input, beside: gathered.others > 0 ? [othersOf(id)] : [] };
  }

  private async gather(
    id: string,
    appointment: Resource,
    chart: Chart,
  ): Promise<Gathered | Outcome> {
    try {
      const gathered = await gather(appointment, chart, this.config);
      if ('appointment' in gathered) return gathered;
      if (gathered.why === 'no_patient') return { kind: 'none' };
      const remedy =
        "Check that the appointment's patient has a record that the client of eligd may read.";
      return rejected(id, 'participant', 'a patient who cannot be read', remedy);
    } catch (error) {
      if (!(error instanceof FhirError) || concernsAll(error)) throw error;
      if (error.kind === 'too_large') {
        const remedy =
          'Ask whoever runs the FHIR server why it is so large. Call the insurance company ' +
          'yourself.';
        return rejected(id, 'what it refers to', 'too large or too deep to be read', remedy);
      }
      if (!isPassing(error)) {
        const remedy =
          'Have eligd’s client allowed to search Coverage by patient on the FHIR server; ' +
          '"eligd check" looks for the cause.';
        return rejected(id, 'Coverage', 'not readable', remedy);
      }
      const remedy =
        'eligd reads it again automatically. If it persists, ask whoever runs the FHIR server.';
      return {
        ...rejected(id, 'what it refers to', 'something that the FHIR server failed on', remedy),
        kind: 'failed' as const,
      };
    }
  }
}
