/**
 * The values of `/metrics`. Gauges are read from the database on each scrape. Counters and
 * histograms start at 0 with the process, as Prometheus expects, and only grow.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { outcomeOf } from '../domain/outcome.ts';
import type { Store } from '../store/engine/store.ts';
import { type ChangeCursor, changesSince, endOfChanges } from '../store/views/changes.ts';

/** A finished request to the calling service. */
type SeenRequest = { kind: string; result: string; duration_ms: number };

/** Payers beyond this number share the label `other`, because each label is a time series. */
const PAYERS_MAX = 200;
const HOURS = [0.5, 1, 2, 4, 8, 12, 24, 36, 48, 72, 120].map((hours) => hours * 3600);
/** Gauges of the library whose names Prometheus keeps for counters; the same is there by type. */
const MISNAMED = ['handles', 'requests', 'resources'].map((each) => `nodejs_active_${each}_total`);
/** Reads of the audit trail per scrape at most; the next scrape continues. */
const LOOKS_MAX = 4;

export class Metrics {
  readonly registry = new Registry();
  readonly #requests;
  readonly #latency;
  readonly #sent;
  readonly #calls;
  readonly #records;
  readonly #deliveries;
  readonly #answered;
  readonly #written;
  readonly #commits;
  readonly #log_lines;
  readonly #webhook;
  readonly #payers = new Set<string>();
  readonly #seen = new Map<string, number>();
  #cursor: ChangeCursor | null = null;

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    this.#requests = this.#counter(
      'service_requests_total',
      'Requests to the calling service, by kind and result.',
      'kind',
      'result',
    );
    this.#latency = this.#histogram(
      'service_request_duration_seconds',
      'How long a request to the calling service took.',
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      'kind',
    );
    this.#sent = this.#counter('calls_sent_total', 'Inquiries that were sent.');
    this.#calls = this.#counter(
      'calls_total',
      'Calls that the calling service finished, by outcome and payer.',
      'outcome',
      'payer',
    );
    this.#records = this.#counter('records_total', 'Records made from answers.');
    this.#deliveries = this.#counter(
      'deliveries_total',
      'Results that were written, failed, or given up (parked).',
      'connector',
      'result',
    );
    this.#answered = this.#histogram(
      'answer_duration_seconds',
      'Time from sending an inquiry to its answer.',
      HOURS,
    );
    this.#written = this.#histogram(
      'delivery_duration_seconds',
      'Time from an answer to its result being written.',
      [1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400],
    );
    this.#commits = this.#histogram(
      'commit_duration_seconds',
      'How long a database change took to reach the disk.',
      [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    );
    this.#log_lines = this.#counter('log_events_total', 'Lines of the log, by event.', 'event');
    this.#webhook = this.#counter(
      'webhook_deliveries_total',
      'Requests to the webhook, by result.',
      'outcome',
    );
  }

  gauge<Label extends string>(name: string, help: string, ...labelNames: Label[]): Gauge<Label> {
    return new Gauge({ name: `eligd_${name}`, help, labelNames, registers: [this.registry] });
  }

  noteRequest({ kind, result, duration_ms }: SeenRequest): void {
    this.#requests.inc({ kind, result });
    this.#latency.observe({ kind }, duration_ms / 1000);
  }

  noteCommit(duration_ms: number): void {
    this.#commits.observe(duration_ms / 1000);
  }

  noteLine(event: string): void {
    this.#log_lines.inc({ event });
  }

  /** `counts`: totals since the start; they only grow. */
  followWebhook(counts: Readonly<Record<string, number>>): void {
    for (const [outcome, count] of Object.entries(counts)) {
      this.#webhook.inc({ outcome }, count - (this.#seen.get(outcome) ?? 0));
      this.#seen.set(outcome, count);
    }
  }

  /** Counts what happened since the last call; the first call starts at the end of the trail. */
  async follow({ db }: Pick<Store, 'db'>): Promise<void> {
    this.#cursor ??= await endOfChanges(db);
    for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
      const { cursor, sent, ended, deliveries, records, is_cut } = await changesSince(
        db,
        this.#cursor,
      );
      this.#cursor = cursor;
      this.#sent.inc(sent);
      this.#records.inc(records);
      for (const { service_status, payer, duration_ms } of ended) {
        this.#calls.inc({ outcome: outcomeOf(service_status), payer: this.#payerLabel(payer) });
        if (duration_ms !== null && duration_ms >= 0) this.#answered.observe(duration_ms / 1000);
      }
      for (const { connector, to, duration_ms } of deliveries) {
        this.#deliveries.inc({ connector, result: to });
        if (to === 'delivered' && duration_ms !== null && duration_ms >= 0)
          this.#written.observe(duration_ms / 1000);
      }
      if (!is_cut) return;
    }
  }

  #payerLabel(payer: string): string {
    if (!this.#payers.has(payer) && this.#payers.size >= PAYERS_MAX) return 'other';
    this.#payers.add(payer);
    return payer;
  }

  #counter<Label extends string>(name: string, help: string, ...labelNames: Label[]) {
    return new Counter({ name: `eligd_${name}`, help, labelNames, registers: [this.registry] });
  }

  #histogram<Label extends string>(
    name: string,
    help: string,
    buckets: number[],
    ...labelNames: Label[]
  ) {
    const registers = [this.registry];
    return new Histogram({ name: `eligd_${name}`, help, buckets, labelNames, registers });
  }
}
