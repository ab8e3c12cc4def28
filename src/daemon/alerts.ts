/**
 * Sends alerts: judges the conditions about once a minute and sends the messages that are due. Each
 * target has its own queue, so a target that hangs delays neither the others nor any work (G7).
 */
import { statfsSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { AlertBook, type Judged } from '../domain/alerts/book.ts';
import type { AlertCondition } from '../domain/alerts/catalog.ts';
import { alertConditions, unreadableDatabase } from '../domain/alerts/conditions.ts';
import { EligdError, errorCode } from '../domain/errors.ts';
import { DAY_MS, MINUTE_MS } from '../domain/time.ts';
import { type AlertSender, alertSenders } from '../ops/alert-targets.ts';
import { alertText } from '../ops/alert-text.ts';
import { type CertificateEnd, certificateEnds, ownCertificates } from '../ops/certificates.ts';
import { forgetFailure, keepForFailure, readFailure } from '../ops/daemon-failure.ts';
import { healthSettings } from '../ops/health-text.ts';
import { connectorCertificates } from '../ops/network.ts';
import { purgeAlerts, readAlerts, writeAlerts } from '../store/bookkeeping/alerts.ts';
import { readLearned, writeLearned } from '../store/bookkeeping/learned-settings.ts';
import { attentionGrowth, countAttention } from '../store/views/alerts.ts';
import { readHealthFacts } from '../store/views/health.ts';
import { currentHeartbeat } from './heartbeat.ts';
import type { Parts } from './parts.ts';

const LOOK_MS = MINUTE_MS;
const CERTIFICATES = 'certificates';
const KEPT_MS = 400 * DAY_MS;
/** How long a message already being sent may take after a stop. */
const LAST_WAIT_MS = 2_000;

/** Runs until `signal` is aborted. */
export async function keepAlerts(parts: Parts, signal: AbortSignal): Promise<void> {
  const { env } = parts.options;
  const alerts = await AlertRound.open(parts);
  while (!signal.aborted) {
    await alerts.judge();
    alerts.send();
    await env.clock.sleep(parts.options.idle_ms ?? LOOK_MS, signal).catch(() => {});
  }
  await Promise.race([alerts.settled(), env.clock.sleep(LAST_WAIT_MS).catch(() => {})]);
}

/** Judges once and sends everything that is due: for `eligd once`. */
export async function sendAlertsOnce(parts: Parts): Promise<void> {
  // Do not alert about the daemon: where cron runs "once", it may be off on purpose.
  parts.pulse.restarted = null;
  const alerts = await AlertRound.open(parts, { looks_at_start: false });
  await alerts.judge();
  alerts.send();
  await alerts.settled();
}

class AlertRound {
  readonly #parts: Parts;
  readonly #book: AlertBook;
  readonly #senders: readonly AlertSender[];
  readonly #sending = new Map<string, Promise<void>>();
  #unreadable_since: number | null = null;
  /**
   * Damage does not go away, even if other pages can be read. It is kept until eligd is restarted.
   */
  #damage: AlertCondition[] = [];
  #is_looking = false;
  #has_looked: boolean;

  static async open(parts: Parts, { looks_at_start = true } = {}): Promise<AlertRound> {
    const { options, store } = parts;
    const { config, secrets, env } = options;
    const senders = alertSenders(config.alerts.targets, { secrets, folder: config.folder });
    const rows = await readAlerts(store.db).catch(() => ({ alerts: [], messages: [], next_id: 0 }));
    const { quiet_hours } = config.alerts;
    const settings = { targets: senders, quiet_hours, time_zone: config.clinic.time_zone };
    const book = new AlertBook(rows, settings, env.random);
    adoptFailure(book, config.state.path, env.clock.now());
    keepForFailure(config);
    parts.pulse.alerts = () => book.open();
    return new AlertRound(parts, book, senders, looks_at_start);
  }

  private constructor(
    parts: Parts,
    book: AlertBook,
    senders: readonly AlertSender[],
    looks_at_start: boolean,
  ) {
    this.#parts = parts;
    this.#book = book;
    this.#senders = senders;
    this.#has_looked = !looks_at_start;
  }

  async judge(): Promise<void> {
    const { env } = this.#parts.options;
    const now = env.clock.now();
    const { began, ended } = this.#book.judge(await this.#judged(now), now);
    for (const { id, name, about } of began)
      env.log('alert_began', { alert: id, reason: name, ...named(about) });
    for (const { id, name, about } of ended)
      env.log('alert_ended', { alert: id, reason: name, ...named(about) });
    await this.#save();
    if (began.length + ended.length > 0) this.#parts.pulse.waker.wake();
  }

  /** Starts sending what is due to every target that is not busy. */
  send(): void {
    for (const sender of this.#senders)
      if (!this.#sending.has(sender.id)) {
        const sending = this.#sendAll(sender).finally(() => this.#sending.delete(sender.id));
        this.#sending.set(sender.id, sending);
      }
  }

  async settled(): Promise<void> {
    await Promise.all(this.#sending.values());
  }

  async #judged(now: number): Promise<Judged> {
    const { options, store, pulse } = this.#parts;
    const { config } = options;
    try {
      const settings = healthSettings(config, this.#parts.payers);
      const heartbeat = currentHeartbeat(this.#parts);
      const { facts, budget } = await readHealthFacts(store.db, settings, now, heartbeat);
      const judged = alertConditions({
        health: facts,
        attention: await countAttention(store.db),
        growth: await attentionGrowth(store, config.clinic.time_zone, now),
        budget,
        free_bytes: freeBytes(config.state.path),
        certificates: await this.#certificates(now),
        restarted: pulse.restarted,
      });
      this.#unreadable_since = null;
      return this.#withDamage(judged);
    } catch (error) {
      this.#unreadable_since ??= now;
      const code = errorCode(error) ?? 'no';
      return this.#withDamage(unreadableDatabase(this.#unreadable_since, code));
    }
  }

  #withDamage(judged: Judged): Judged {
    const found = judged.conditions.filter(({ name }) => name === 'database_damaged');
    if (found.length > 0) this.#damage = found;
    return { ...judged, conditions: [...judged.conditions, ...this.#damage] };
  }

  /**
   * Returns the last result. Starts a new search without waiting for it: once a day, and after each
   * start, because the certificates or the configuration may have changed.
   */
  async #certificates(now: number): Promise<CertificateEnd[]> {
    const { options, store, connectors } = this.#parts;
    const fact = await readLearned(store.db, CERTIFICATES);
    const is_old =
      !this.#has_looked ||
      fact === null ||
      now - fact.updated_at >= DAY_MS ||
      fact.updated_at > now;
    // With an injected dispatcher, the network is not ours.
    if (is_old && !this.#is_looking && options.dispatcher === undefined) {
      this.#is_looking = true;
      this.#has_looked = true;
      const sources = [
        ...ownCertificates(options.config, options.secrets),
        ...connectors.flatMap((each) =>
          connectorCertificates(each, options.config, options.secrets),
        ),
      ];
      void certificateEnds(sources)
        .then((ends) =>
          store.write((tx) => writeLearned(tx, CERTIFICATES, JSON.stringify(ends), now)),
        )
        .catch(() => {})
        .finally(() => {
          this.#is_looking = false;
        });
    }
    return fact === null ? [] : (JSON.parse(fact.value) as CertificateEnd[]);
  }

  async #save(): Promise<void> {
    const rows = this.#book.changes();
    if (rows.alerts.length + rows.messages.length === 0) return;
    const now = this.#parts.options.env.clock.now();
    try {
      await this.#parts.store.write(async (tx) => {
        await writeAlerts(tx, rows, now);
        await purgeAlerts(tx, now - KEPT_MS);
      });
      this.#book.stored(rows);
    } catch {
      // The alert stays in memory and is stored later; it must be sent in any case.
    }
  }

  async #sendAll({ id, send }: AlertSender): Promise<void> {
    const { env, config } = this.#parts.options;
    const { name, time_zone } = config.clinic;
    for (;;) {
      const now = env.clock.now();
      const message = this.#book.due(id, now);
      const alert = message === null ? null : this.#book.alert(message.alert);
      if (message === null || alert === null) return;
      try {
        await send(alertText(alert, message.kind, { clinic: name, time_zone, host: hostname() }));
        this.#book.sent(message, env.clock.now());
      } catch (error) {
        this.#book.failed(message, env.clock.now());
        if (message.failures === 0)
          env.log('alert_unsent', {
            to: id,
            alert: alert.id,
            reason: error instanceof EligdError ? error.why : (errorCode(error) ?? 'failed'),
          });
      }
      await this.#save();
    }
  }
}

function named(about: string): { connector?: string } {
  return about === '' ? {} : { connector: about };
}

/**
 * Returns the free space; null: unreadable. The folder is local and answers at once, so the call is
 * synchronous and a stop waits for no thread.
 */
function freeBytes(state_path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(dirname(state_path));
    return bavail * bsize;
  } catch {
    return null;
  }
}

/**
 * Takes over the alert of "eligd alert failed" that the daemon cannot run. The daemon now runs, so
 * the alert ends.
 */
function adoptFailure(book: AlertBook, state_path: string, now: number): void {
  const { told_at } = readFailure(state_path, process.env);
  if (told_at !== null) book.adopt('daemon_failed', Math.min(told_at, now));
  forgetFailure(state_path, process.env);
}
