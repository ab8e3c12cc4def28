import { createHash, createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { Behaviors } from './behaviors.ts';
import { HOUR_MS, MINUTE_MS } from './calendar.ts';
import { Dice } from './dice.ts';
import type { Json, JsonObject } from './json.ts';
import { lifeOf } from './lifecycle.ts';
import { readForm } from './read-form.ts';
import type { Inquiry } from './request.ts';
import type { DeliveryEntry, Reports, State } from './state.ts';
import type { Subscription } from './store.ts';

const REPORTED_UNTIL = 'webhooks_reported_until_ms';
/** How often the clock is checked, in real time: someone may have advanced it. */
const LOOK_MS = 50;
const TIMEOUT_MS = 10_000;
const REMEMBERED_DELIVERIES = 10_000;
/** Scaled pauses between attempts, and how long attempts continue. */
const RETRY_PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS];
const RETRY_FOR_MS = 6 * HOUR_MS;

type Update = { inquiry: Inquiry; at_ms: number };
type Message = {
  message_hash: string;
  body: string;
  inquiries: number;
  first_sent_ms: number;
  attempt: number;
};

/**
 * Sends changes to the subscription's URL (docs/service.md "Events"): every `update_frequency_min`
 * of scaled time all changes since then, one element per inquiry, signed, and split if too long.
 * This is the only part of the sandbox that acts without a request.
 */
export class Webhooks implements Reports {
  readonly #secret: string;
  readonly #closing = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #state: State | undefined;
  /** The next change of each inquiry that will change; computed again when a behavior changes. */
  #next_ms = new Map<number, number>();
  #known_seq = 0;
  #behaviors: Behaviors | undefined;
  #waiting: Message[] = [];
  #log: DeliveryEntry[] = [];

  constructor(secret: string) {
    this.#secret = secret;
  }

  start(state: State): void {
    this.#state = state;
    this.#running = this.#run(state);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  deliveries(): DeliveryEntry[] {
    return this.#log.slice(-REMEMBERED_DELIVERIES);
  }

  subscribed(is_new: boolean): void {
    if (is_new && this.#state !== undefined)
      this.#reportedUntil(this.#state, this.#state.clock.callNow());
  }

  forget(): void {
    this.#next_ms.clear();
    this.#known_seq = 0;
    this.#waiting = [];
    this.#log = [];
  }

  async #run(state: State): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await sleep(LOOK_MS / Math.max(1, Math.min(state.clock.speed / 100, LOOK_MS)), undefined, {
        signal,
        ref: false,
      }).catch(() => {});
      if (signal.aborted) return;
      const subscription = state.store.subscription();
      if (subscription === undefined) continue;
      await this.#repeatFailed(state, subscription);
      const until_ms = state.clock.callNow();
      const from_ms = Number(state.store.setting(REPORTED_UNTIL) ?? until_ms);
      if (until_ms < from_ms + subscription.update_frequency_min * MINUTE_MS) continue;
      const updates = this.#updatesBetween(state, from_ms, until_ms);
      this.#reportedUntil(state, until_ms);
      for (const message of messagesOf(state, subscription, updates)) {
        for (let copies = 0; copies <= state.behaviors.webhook_repeat; copies += 1) {
          await this.#attempt(state, subscription, message);
        }
      }
    }
  }

  #reportedUntil(state: State, at_ms: number): void {
    state.store.saveSetting(REPORTED_UNTIL, String(at_ms));
  }

  #updatesBetween(state: State, from_ms: number, until_ms: number): Update[] {
    if (this.#behaviors !== state.behaviors) {
      this.#behaviors = state.behaviors;
      this.#next_ms.clear();
      this.#known_seq = 0;
    }
    for (const inquiry of state.store.inquiriesAfter(this.#known_seq)) {
      this.#known_seq = inquiry.seq;
      this.#plan(state, inquiry, from_ms);
    }
    const updates: Update[] = [];
    for (const [seq, next_ms] of this.#next_ms) {
      if (next_ms > until_ms) continue;
      const inquiry = state.store.inquiryBySeq(seq);
      if (inquiry === undefined) continue;
      const changed = changesOf(state, inquiry).filter(
        (at_ms) => at_ms > from_ms && at_ms <= until_ms,
      );
      const told = state.behaviors.webhook_order === 'reversed' ? changed : changed.slice(-1);
      updates.push(...told.map((at_ms) => ({ inquiry, at_ms })));
      this.#plan(state, inquiry, until_ms);
    }
    return updates.sort((a, b) => a.at_ms - b.at_ms);
  }

  #plan(state: State, inquiry: Inquiry, after_ms: number): void {
    const next_ms = changesOf(state, inquiry).find((at_ms) => at_ms > after_ms);
    if (next_ms === undefined) this.#next_ms.delete(inquiry.seq);
    else this.#next_ms.set(inquiry.seq, next_ms);
  }

  async #repeatFailed(state: State, subscription: Subscription): Promise<void> {
    const now_ms = state.clock.callNow();
    const due = this.#waiting.filter(
      ({ first_sent_ms, attempt }) => now_ms >= first_sent_ms + pauseBefore(attempt),
    );
    this.#waiting = this.#waiting.filter((message) => !due.includes(message));
    for (const message of due) await this.#attempt(state, subscription, message);
  }

  async #attempt(state: State, { callback_url }: Subscription, message: Message): Promise<void> {
    const { behaviors, clock } = state;
    const is_lost = new Dice(state.seed, 'webhook', message.message_hash).chance(
      'lost',
      behaviors.webhook_lost_percent / 100,
    );
    const at_ms = clock.callNow();
    const status = is_lost ? 'lost' : await this.#post(callback_url, message.body, behaviors);
    const { message_hash, inquiries, body, attempt } = message;
    this.#log.push({
      at_ms,
      message_hash,
      inquiries,
      bytes: Buffer.byteLength(body),
      attempt,
      status,
    });
    if (this.#log.length >= 2 * REMEMBERED_DELIVERIES) this.#log = this.deliveries();
    const is_taken = typeof status === 'number' && status >= 200 && status < 300;
    if (is_taken || is_lost || behaviors.webhook_retry === 'none') return;
    if (at_ms - message.first_sent_ms < RETRY_FOR_MS)
      this.#waiting.push({ ...message, attempt: attempt + 1 });
  }

  async #post(
    url: string,
    body: string,
    { webhook_secret, webhook_header }: Behaviors,
  ): Promise<number | 'failed'> {
    const key = webhook_secret === 'wrong' ? `not ${this.#secret}` : this.#secret;
    try {
      const response = await request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          [webhook_header]: createHmac('sha256', key).update(body).digest('hex'),
        },
        body,
        signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      await response.body.dump();
      return response.statusCode;
    } catch {
      return 'failed';
    }
  }
}

/** Returns the times at which the service would report changes after an inquiry's creation. */
function changesOf({ seed, behaviors }: State, inquiry: Inquiry): number[] {
  return lifeOf(seed, inquiry, behaviors)
    .steps.slice(1)
    .map(({ at_ms }) => at_ms);
}

function pauseBefore(attempt: number): number {
  const pauses = RETRY_PAUSES_MS.slice(0, attempt - 1);
  const last_ms = RETRY_PAUSES_MS.at(-1) ?? 0;
  return (
    pauses.reduce((sum, pause) => sum + pause, 0) +
    Math.max(0, attempt - 1 - pauses.length) * last_ms
  );
}

/**
 * Splits the updates into messages of at most `webhook_max_bytes`, or one for each update if the
 * order is to be changed.
 */
function messagesOf(
  state: State,
  subscription: Subscription,
  updates: readonly Update[],
): Message[] {
  const { behaviors, clock } = state;
  if (updates.length === 0) return [];
  const forms = updates.map(({ inquiry, at_ms }) =>
    readForm(state, inquiry, behaviors.webhook_order === 'reversed' ? at_ms : clock.callNow()),
  );
  const groups: JsonObject[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const form of forms) {
    const length = Buffer.byteLength(JSON.stringify(form));
    if (bytes + length > behaviors.webhook_max_bytes || behaviors.webhook_order === 'reversed') {
      groups.push(strangers(state));
      bytes = 0;
    }
    groups.at(-1)?.push(form);
    bytes += length;
  }
  const messages = groups.map((inquiries, index) => message(state, subscription, inquiries, index));
  return behaviors.webhook_order === 'reversed' ? messages.reverse() : messages;
}

function message(
  { clock }: State,
  { id }: Subscription,
  inquiries: JsonObject[],
  index: number,
): Message {
  const first_sent_ms = clock.callNow();
  const content = JSON.stringify([id, first_sent_ms, index, inquiries]);
  const message_hash = createHash('sha256').update(content).digest('hex');
  const body = JSON.stringify({ subscription_id: id, inquiries, message_hash });
  return { message_hash, body, inquiries: inquiries.length, first_sent_ms, attempt: 1 };
}

/**
 * Returns inquiries of other callers, as a service that mixes up its subscriptions would send them.
 */
function strangers({ behaviors, clock, newId }: State): JsonObject[] {
  return Array.from({ length: behaviors.webhook_strangers }, (_, index): JsonObject => {
    const asked: Json = {
      type: 'BENEFITS',
      patient_name: 'Somebody Else',
      dob: '01-01-1970',
      member_id: `STRANGER${index}`,
    };
    const creation_ts = new Date(clock.callNow()).toISOString();
    const request = {
      ...asked,
      tax_id: '999999999',
      external_id: `elsewhere-${index}`,
      desired_completion_date: '01-01-2030',
    };
    return {
      id: newId(),
      status: 'SUCCESS',
      creation_ts,
      summary: '',
      results: { call_details: [] },
      request,
    };
  });
}
