/**
 * Tracks which alerts are open and which messages are still to be sent: one when an alert begins,
 * one when it ends, and at most one reminder a day. The book is kept in memory, so eligd still
 * sends alerts when it cannot write the database; `changes` returns the rows to store.
 */
import { backoffMs } from '../backoff.ts';
import { HOUR_MS, type Instant, MINUTE_MS } from '../time.ts';
import {
  type AlertCondition,
  type AlertLevel,
  type AlertName,
  describeAlert,
  REMIND_AFTER_MS,
  SETTLED_AFTER_MS,
} from './catalog.ts';
import { type QuietHours, quietUntil } from './quiet.ts';

export type Alert = {
  id: number;
  name: AlertName;
  about: string;
  detail: string;
  /** When the condition began. */
  since: Instant;
  begun_at: Instant;
  /** When the condition was first found absent; null while it persists. */
  gone_at: Instant | null;
  ended_at: Instant | null;
  reminded_at: Instant;
};

const MESSAGE_KINDS = ['begin', 'reminder', 'end'] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

export type AlertMessage = {
  id: number;
  alert: number;
  target: string;
  kind: MessageKind;
  due_at: Instant;
  failures: number;
  sent_at: Instant | null;
};

export type AlertRows = { alerts: Alert[]; messages: AlertMessage[]; next_id: number };

type AlertSettings = {
  /** A target with `urgent` gets urgent alerts only; a target with `soon` gets all alerts. */
  targets: readonly { id: string; level: AlertLevel }[];
  quiet_hours: QuietHours | null;
  /** The clinic's IANA time zone. */
  time_zone: string;
};

/** The current conditions, and the alerts whose state cannot be determined now. */
export type Judged = { conditions: readonly AlertCondition[]; unknown: ReadonlySet<AlertName> };

/** After this many failed attempts to send a message, its target counts as failing. */
const FAILING_AFTER = 3;
const RETRY_LIMITS = { first_ms: MINUTE_MS, max_ms: HOUR_MS };

export class AlertBook {
  readonly #settings: AlertSettings;
  readonly #random: () => number;
  readonly #alerts: Map<number, Alert>;
  readonly #messages: Map<number, AlertMessage>;
  readonly #changed = { alerts: new Set<number>(), messages: new Set<number>() };
  #next_id: number;

  /** `rows`: the stored alerts and messages that are not finished. */
  constructor(rows: AlertRows, settings: AlertSettings, random: () => number) {
    this.#settings = settings;
    this.#random = random;
    this.#alerts = new Map(rows.alerts.map((alert) => [alert.id, { ...alert }]));
    this.#messages = new Map(rows.messages.map((message) => [message.id, { ...message }]));
    this.#next_id = rows.next_id;
  }

  /** Returns the alerts that have begun and not ended, oldest first. */
  open(): Alert[] {
    return [...this.#alerts.values()].filter(({ ended_at }) => ended_at === null);
  }

  alert(id: number): Alert | null {
    return this.#alerts.get(id) ?? null;
  }

  /** Adds an alert for which another process has already sent the messages. */
  adopt(name: AlertName, since: Instant): void {
    if (this.open().some((each) => isSame(each, { name, about: '' }))) return;
    const times = { since, begun_at: since, gone_at: null, ended_at: null, reminded_at: since };
    const alert: Alert = { id: this.#takeId(), name, about: '', detail: '', ...times };
    this.#alerts.set(alert.id, alert);
    this.#changed.alerts.add(alert.id);
  }

  /** Updates every alert to the current conditions. Returns the alerts that began and ended. */
  judge({ conditions, unknown }: Judged, now: Instant): { began: Alert[]; ended: Alert[] } {
    const began: Alert[] = [];
    const ended: Alert[] = [];
    const all = [...conditions, ...this.#failingTargets(now)];
    // Consequences may outlast their cause by some minutes, so the open alerts count as causes,
    // too.
    const wrong = withoutConsequences(all, this.open());
    for (const condition of wrong) {
      const alert = this.open().find((each) => isSame(each, condition));
      if (alert === undefined) {
        const { after_ms = 0 } = describeAlert(condition.name);
        if (now - condition.since >= after_ms) began.push(this.#begin(condition, now));
      } else this.#update(alert, { detail: condition.detail, gone_at: null });
    }
    for (const alert of this.open()) {
      if (unknown.has(alert.name) || wrong.some((each) => isSame(each, alert))) continue;
      const gone_at = alert.gone_at ?? now;
      const { settled_ms = SETTLED_AFTER_MS } = describeAlert(alert.name);
      if (now - gone_at < settled_ms) this.#update(alert, { gone_at });
      else {
        this.#update(alert, { gone_at, ended_at: gone_at });
        this.#queueMessage(alert, 'end', now);
        ended.push(alert);
      }
    }
    for (const alert of this.open())
      if (now - alert.reminded_at >= REMIND_AFTER_MS) {
        this.#update(alert, { reminded_at: now });
        this.#queueMessage(alert, 'reminder', now);
      }
    return { began, ended };
  }

  /** Returns the next message to send to `target` now; null: none. */
  due(target: string, now: Instant): AlertMessage | null {
    const due = [...this.#messages.values()].filter(
      (message) => message.target === target && message.sent_at === null && message.due_at <= now,
    );
    return due.toSorted((a, b) => a.due_at - b.due_at || a.id - b.id)[0] ?? null;
  }

  sent(message: AlertMessage, now: Instant): void {
    this.#note({ ...message, sent_at: now });
  }

  failed(message: AlertMessage, now: Instant): void {
    const failures = message.failures + 1;
    const wait_ms = backoffMs(failures, RETRY_LIMITS, this.#random());
    this.#note({ ...message, failures, due_at: now + wait_ms });
  }

  /** Returns the rows that have changed since they were last stored. */
  changes(): AlertRows {
    const of = <Row>(rows: Map<number, Row>, ids: Set<number>) =>
      [...ids].flatMap((id) => rows.get(id) ?? []);
    return {
      alerts: of(this.#alerts, this.#changed.alerts),
      messages: of(this.#messages, this.#changed.messages),
      next_id: this.#next_id,
    };
  }

  /** Marks `rows` as stored. A row that changed in the meantime remains to be stored. */
  stored(rows: AlertRows): void {
    for (const alert of rows.alerts)
      if (this.#alerts.get(alert.id) === alert) this.#changed.alerts.delete(alert.id);
    for (const message of rows.messages)
      if (this.#messages.get(message.id) === message) this.#changed.messages.delete(message.id);
    const waiting = new Set([...this.#messages.values()].flatMap(waitsFor));
    for (const { id, ended_at } of this.#alerts.values())
      if (ended_at !== null && !waiting.has(id) && !this.#changed.alerts.has(id))
        this.#alerts.delete(id);
    for (const { id, sent_at } of this.#messages.values())
      if (sent_at !== null && !this.#changed.messages.has(id)) this.#messages.delete(id);
  }

  #begin({ name, about, detail, since }: AlertCondition, now: Instant): Alert {
    const id = this.#takeId();
    const times = { begun_at: now, gone_at: null, ended_at: null, reminded_at: now };
    const alert: Alert = { id, name, about, detail, since, ...times };
    this.#alerts.set(id, alert);
    this.#changed.alerts.add(id);
    this.#queueMessage(alert, 'begin', now);
    return alert;
  }

  #update(alert: Alert, values: Partial<Alert>): void {
    const entries = Object.entries(values) as [keyof Alert, unknown][];
    if (entries.every(([key, value]) => alert[key] === value)) return;
    this.#alerts.set(alert.id, { ...alert, ...values });
    this.#changed.alerts.add(alert.id);
  }

  #queueMessage({ id, name, about }: Alert, kind: MessageKind, now: Instant): void {
    const { level } = describeAlert(name);
    const { targets, quiet_hours, time_zone } = this.#settings;
    const quiet = level === 'soon' && quiet_hours !== null;
    const due_at = quiet ? (quietUntil(quiet_hours, time_zone, now) ?? now) : now;
    for (const target of targets) {
      if (level === 'soon' && target.level === 'urgent') continue;
      if (name === 'alert_unsent' && about === target.id) continue;
      const waits = [...this.#messages.values()].some(
        (each) => each.alert === id && each.target === target.id && each.sent_at === null,
      );
      if (kind === 'reminder' && waits) continue;
      const message = { alert: id, target: target.id, kind, due_at, failures: 0, sent_at: null };
      this.#note({ id: this.#takeId(), ...message });
    }
  }

  #note(message: AlertMessage): void {
    this.#messages.set(message.id, message);
    this.#changed.messages.add(message.id);
  }

  #takeId(): number {
    this.#next_id += 1;
    return this.#next_id;
  }

  #failingTargets(now: Instant): AlertCondition[] {
    const failing = [...this.#messages.values()].filter(
      ({ failures, sent_at }) => failures >= FAILING_AFTER && sent_at === null,
    );
    const known = new Set(this.#settings.targets.map(({ id }) => id));
    return [...new Set(failing.map(({ target }) => target))]
      .filter((target) => known.has(target))
      .map((target) => ({
        name: 'alert_unsent',
        about: target,
        since: now,
        detail: `Messages to the target "${target}" fail.`,
      }));
  }
}

type Named = { name: AlertName; about: string };

function isSame(a: Named, b: Named): boolean {
  return a.name === b.name && a.about === b.about;
}

function waitsFor({ alert, sent_at }: AlertMessage): number[] {
  return sent_at === null ? [alert] : [];
}

/** Leaves out repeated conditions and those that another one causes: one failure, one alert. */
function withoutConsequences(
  conditions: readonly AlertCondition[],
  open: readonly Alert[],
): AlertCondition[] {
  return conditions.filter((condition, index) => {
    if (conditions.findIndex((each) => isSame(each, condition)) < index) return false;
    const { name, about } = condition;
    const causes = describeAlert(name).because_of ?? [];
    if (open.some((each) => isSame(each, condition))) return true;
    return ![...conditions, ...open].some(
      (other) => causes.includes(other.name) && (other.about === '' || other.about === about),
    );
  });
}
