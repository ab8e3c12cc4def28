/**
 * The service's webhook events to the subscribed address: grouped, split, late, repeated, in any
 * order. Also forged events from other senders.
 */
import { createHmac } from 'node:crypto';
import { DAY_MS, HOUR_MS, MINUTE_MS, type Plan } from './plan.ts';
import { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import type { Accepted } from './service.ts';
import type { Stage } from './service-answers.ts';
import type { Story } from './story.ts';

export const WEBHOOK_SECRET = 'Zsecret-of-the-webhook';
/** Retries after a delivery that was not accepted, if the service makes any. */
const TRIES_MAX = 10;

export type Report = {
  kind: 'genuine' | 'forged' | 'nonsense';
  message_hash: string;
  body: Buffer;
  signature: string | null;
  /** The inquiries that the event is about. */
  told: { id: string; stage: Stage }[];
  breaks_off: boolean;
};

type Subscription = { callback_url: string; update_frequency_min: number };
type Form = Record<string, unknown>;
type Half = 'first' | 'second';

export class Reports {
  readonly counts = { sent: 0, repeated: 0, forged: 0, taken: 0, not_taken: 0 };
  is_calm = false;
  /** Delivers an event to the listener at the address. */
  onSend: (report: Report, told: (status: number | null) => void) => void = () => {};
  readonly #plan: Plan;
  readonly #scheduler: Scheduler;
  readonly #story: Story;
  readonly #random: Random;
  readonly #halving: Random;
  readonly #look: (inquiry: Accepted) => { form: Form; stage: Stage };
  readonly #pending = new Set<Accepted>();
  #subscription: Subscription | null = null;
  #is_flush_due = false;
  #last = 0;

  constructor(
    plan: Plan,
    scheduler: Scheduler,
    story: Story,
    look: (inquiry: Accepted) => { form: Form; stage: Stage },
  ) {
    this.#plan = plan;
    this.#scheduler = scheduler;
    this.#story = story;
    this.#random = new Random(plan.seed, 'reports');
    this.#halving = new Random(plan.seed, 'halves');
    this.#look = look;
  }

  /** The subscription's endpoint, with its different reply bodies. */
  handle(method: string, body: string): { status: number; value: unknown } {
    const { bodies } = this.#plan.webhook;
    if (method === 'POST') {
      this.#subscription = JSON.parse(body) as Subscription;
      if (bodies === 'no_content') return { status: 204, value: undefined };
      return { status: 200, value: bodies === 'object' ? { id: 'S1', ...this.#subscription } : {} };
    }
    if (method === 'DELETE') this.#subscription = null;
    if (this.#subscription !== null)
      return { status: 200, value: { id: 'S1', ...this.#subscription } };
    if (bodies === 'no_content') return { status: 204, value: undefined };
    return {
      status: bodies === 'object' ? 404 : 200,
      value: bodies === 'object' ? { detail: 'Not Found' } : {},
    };
  }

  onAccepted(inquiry: Accepted): void {
    for (const { at } of inquiry.timeline) this.#scheduler.at(at, () => this.#note(inquiry), null);
  }

  #note(inquiry: Accepted): void {
    if (this.#subscription === null || this.#plan.webhook.is_silent) return;
    this.#pending.add(inquiry);
    if (this.#is_flush_due) return;
    this.#is_flush_due = true;
    this.#after(this.#subscription.update_frequency_min * MINUTE_MS, () => this.#flush());
  }

  #after(delay_ms: number, run: () => void): void {
    this.#scheduler.after(delay_ms, run, null);
  }

  #flush(): void {
    this.#is_flush_due = false;
    const { webhook } = this.#plan;
    const all = this.#random.shuffled([...this.#pending]);
    this.#pending.clear();
    for (let first = 0; first < all.length; first += webhook.split_at) {
      this.#order(all.slice(first, first + webhook.split_at));
    }
  }

  /** Sends the events about these inquiries, in one message or, for long answers, in two halves. */
  #order(inquiries: readonly Accepted[]): void {
    const { webhook } = this.#plan;
    const random = this.#random;
    const halves = this.#halving.chance(webhook.halved) ? (['first', 'second'] as const) : [null];
    for (const half of halves) {
      const report = this.#report(inquiries, half);
      const is_late = random.chance(webhook.reordered);
      const at_ms = is_late ? random.logInt(1, 12 * 3600) * 1000 : random.int(0, 5_000);
      this.#after(at_ms, () => this.#send(report, 1));
      for (let chance = webhook.repeated; random.chance(chance); chance /= 2) {
        const again_ms = random.pick([1_000, 30_000, 20 * MINUTE_MS, 5 * HOUR_MS, 2 * DAY_MS]);
        this.#after(at_ms + again_ms, () => this.#send(report, TRIES_MAX));
      }
      if (random.chance(webhook.forged))
        this.#after(random.int(0, 3_600_000), () => this.#send(this.#forged(report), TRIES_MAX));
    }
  }

  #report(inquiries: readonly Accepted[], half: Half | null): Report {
    const random = this.#random;
    const seen = inquiries.map((inquiry) => ({ id: inquiry.id, ...this.#look(inquiry) }));
    for (const { form } of seen) if (half !== null) form.results = halfOf(form.results, half);
    const strangers: Form[] = random.chance(this.#plan.webhook.strangers)
      ? [
          {
            id: `stranger-${random.int(1, 9)}`,
            status: 'SUCCESS',
            summary: 'x',
            results: null,
            request: { member_id: 'Sx1' },
          },
        ]
      : [];
    this.#last += 1;
    const message_hash = `H${this.#last}`;
    const forms = [...seen.map(({ form }) => form), ...strangers];
    const body = Buffer.from(
      JSON.stringify({ subscription_id: 'S1', inquiries: forms, message_hash }),
    );
    const told = seen.map(({ id, stage }) => ({ id, stage }));
    const breaks_off = !this.is_calm && random.chance(0.03);
    return {
      kind: 'genuine',
      message_hash,
      body,
      signature: signed(body, WEBHOOK_SECRET),
      told,
      breaks_off,
    };
  }

  /**
   * A message that reports a success and is not from the service, or a message from the service
   * with no content.
   */
  #forged({ body, signature, told }: Report): Report {
    const random = this.#random;
    this.#last += 1;
    const message_hash = `F${this.#last}`;
    const [one] = told;
    const results = {
      call_details: [{ representative_name: 'x', reference_number: 'REF-forged-1' }],
    };
    const inquiries = [
      { id: one?.id, status: 'SUCCESS', summary: 'All well.', results, request: {} },
    ];
    const made_up = Buffer.from(JSON.stringify({ subscription_id: 'S1', inquiries, message_hash }));
    const common = { message_hash, told: [], breaks_off: false };
    const pick = random.int(0, 4);
    if (pick === 0) return { ...common, kind: 'forged', body: made_up, signature: null };
    if (pick === 1)
      return { ...common, kind: 'forged', body: made_up, signature: signed(made_up, 'guessed') };
    if (pick === 2) return { ...common, kind: 'forged', body: made_up, signature };
    if (pick === 3)
      return {
        ...common,
        kind: 'forged',
        body: Buffer.concat([body, Buffer.from(' ')]),
        signature,
      };
    const text = random.pick([
      'no json',
      '[]',
      '7',
      'null',
      '{"inquiries":5}',
      '{"inquiries":[{"id":3}],"message_hash":""}',
      '',
    ]);
    return {
      ...common,
      kind: 'nonsense',
      body: Buffer.from(text),
      signature: signed(Buffer.from(text), WEBHOOK_SECRET),
    };
  }

  #send(report: Report, tries: number): void {
    const { counts } = this;
    const { webhook } = this.#plan;
    const is_lost = !this.is_calm && this.#random.chance(webhook.lost);
    if (report.kind === 'genuine') counts.sent += 1;
    else counts.forged += 1;
    if (report.kind === 'genuine' && tries === TRIES_MAX) counts.repeated += 1;
    const about = report.told.map(({ id }) => id);
    const told = (status: number | null) => {
      const how = status ?? 'not answered';
      this.#story.tell(
        this.#scheduler.now,
        'service',
        `reports ${report.message_hash} (${report.kind}): ${how}`,
        about,
      );
      if (status === 200) counts.taken += 1;
      else counts.not_taken += 1;
      const is_done = status !== null && status < 300;
      if (is_done || report.kind !== 'genuine' || !webhook.retries || tries >= TRIES_MAX) return;
      this.#after(Math.min(4 * HOUR_MS, 5 * MINUTE_MS * 2 ** tries), () =>
        this.#send({ ...report, breaks_off: false }, tries + 1),
      );
    };
    if (is_lost) told(null);
    else this.onSend(report, told);
  }
}

/** Some parts of an answer; each half names its call. */
function halfOf(results: unknown, half: Half): unknown {
  if (typeof results !== 'object' || results === null || Array.isArray(results)) return results;
  const parts = Object.entries(results).filter(
    ([name], index) => name === 'call_details' || index % 2 === (half === 'first' ? 0 : 1),
  );
  return Object.fromEntries(parts);
}

function signed(body: Buffer, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}
