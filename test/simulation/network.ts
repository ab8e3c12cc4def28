/**
 * The network between a daemon and the service: an undici dispatcher that delays, loses and
 * mutilates.
 */
import { Agent, type Dispatcher } from 'undici';
import type { Life, Machine } from './machine.ts';
import { MINUTE_MS, type Plan } from './plan.ts';
import type { Pms } from './pms.ts';
import { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import type { Service, ServiceReply, ServiceRequest } from './service.ts';
import type { Broken, Story } from './story.ts';

/** How the parts of a world reach each other. */
export type World = {
  plan: Plan;
  scheduler: Scheduler;
  story: Story;
  service: Service;
  pms: Pms;
  /** The clinic's own machine, also while a clone runs. */
  machine: () => Machine;
  isCalm: () => boolean;
  drawFuse: (machine: Machine) => number;
  onLog: (life: Life, event: string, fields: Record<string, unknown>) => void;
  /** A request of it hangs, and will get no reply. */
  onSilence: (machine: Machine) => void;
  onRequest: (request: ServiceRequest) => void;
  /** The first broken guarantee ends the world. */
  fail: (broken: Broken) => void;
};

export type NetworkCounts = {
  requests: number;
  unsent: number;
  lost_before: number;
  lost_after: number;
  late: number;
  mutilated: number;
};

/**
 * A subclass of Agent, because only an agent can tell the client which bytes were written to the
 * socket.
 */
export class Network extends Agent {
  readonly #world: World;
  readonly #life: Life;
  readonly #random: Random;
  readonly #out = new Set<() => void>();
  outage_until = 0;

  constructor(world: World, life: Life) {
    super();
    this.#world = world;
    this.#life = life;
    this.#random = new Random(world.plan.seed, `network ${life.machine.name} ${life.number}`);
  }

  /** The process is gone: the bytes that it wrote may still arrive, but no one reads the reply. */
  abandon(): void {
    for (const leave of this.#out) leave();
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const { scheduler, plan } = this.#world;
    const life = this.#life;
    if (life.point('request')) return true;
    const random = this.#random;
    const faults = this.#world.isCalm() ? null : plan.network;
    const counts = this.#world.service.network;
    counts.requests += 1;
    const connect_ms = random.int(0, 5);
    const is_out = scheduler.now < this.#world.service.outage_until;
    if (faults !== null && (random.chance(faults.unsent) || is_out)) {
      counts.unsent += 1;
      scheduler.after(
        connect_ms,
        () => handler.onResponseError?.(controllerOf(handler).controller, connectError(random)),
        life,
      );
      return true;
    }
    scheduler.after(connect_ms, () => this.#write(options, handler), life);
    return true;
  }

  #write(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const { scheduler, plan, service, story } = this.#world;
    const life = this.#life;
    const random = this.#random;
    const faults = this.#world.isCalm() ? null : plan.network;
    const exchange = controllerOf(handler);
    handler.onRequestStart?.(exchange.controller, {});
    if (exchange.is_over() || life.point('request written')) return;
    const latency = () => random.int(1, plan.network.latency_ms);
    const counts = service.network;
    const { method, path } = options;
    const request = {
      method,
      path,
      headers: options.headers as Record<string, string>,
      body: typeof options.body === 'string' ? options.body : '',
      sent_at: scheduler.now,
      ended_at: null as number | null,
      is_stray: false,
      is_known: 'no' as ServiceRequest['is_known'],
      machine: life.machine.name,
    };
    this.#world.onRequest(request);
    const arrives_late = faults !== null && random.chance(faults.late_arrival);
    const is_lost = faults !== null && !arrives_late && random.chance(faults.lost_before);
    const arrival_ms = arrives_late
      ? plan.config.timeout_ms + random.int(0, 2 * plan.config.settle_ms)
      : latency();
    const breaks = faults !== null && !(faults.silent && random.chance(0.5));
    exchange.onOver(() => {
      this.#out.delete(leave);
      request.ended_at ??= scheduler.now;
      request.is_stray = true;
    });
    // The process did not reach its timeout, at which it would have given up the request.
    const leave = () => {
      request.ended_at ??= request.sent_at + plan.config.timeout_ms;
      request.is_stray = true;
    };
    this.#out.add(leave);
    if (is_lost) {
      counts.lost_before += 1;
      story.tell(scheduler.now, 'network', `${method} ${shortPath(path)} is lost on the way`);
      if (breaks) scheduler.after(latency(), () => exchange.fail(socketError(random)), life);
      else this.#world.onSilence(life.machine);
      return;
    }
    if (arrives_late) counts.late += 1;
    scheduler.after(
      arrival_ms,
      () => {
        const has_died_before = life.is_dead && random.chance(0.3);
        if (has_died_before) return;
        const reply = service.handle(request);
        if (life.is_dead || exchange.is_over()) return;
        scheduler.after(0, () => this.#reply(exchange, request, reply, breaks), life);
      },
      null,
    );
  }

  #reply(exchange: Exchange, request: ServiceRequest, reply: ServiceReply, breaks: boolean): void {
    const { scheduler, plan, service, story } = this.#world;
    const life = this.#life;
    const random = this.#random;
    const faults = this.#world.isCalm() ? null : plan.network;
    const counts = service.network;
    const latency_ms = random.int(1, plan.network.latency_ms);
    const bytes = Buffer.from(reply.body, 'utf8');
    const deliver = (
      after_ms: number,
      status: number,
      headers: Record<string, string>,
      chunks: Buffer[],
      is_cut: boolean,
    ) =>
      scheduler.after(
        after_ms,
        () => {
          if (life.point('reply') || exchange.is_over()) return;
          exchange.answer(status, headers, chunks, is_cut ? socketError(random) : null);
          const is_whole =
            status === reply.status && !is_cut && Buffer.concat(chunks).equals(bytes);
          if (is_whole && saysSuccess(request, reply)) this.#remember(request);
          life.point('reply taken');
        },
        life,
      );
    const headers = {
      date: new Date(scheduler.now).toUTCString(),
      'content-type': 'application/json',
      ...reply.headers,
    };
    const is_lost = faults !== null && random.chance(faults.lost_after);
    if (
      is_lost ||
      (faults !== null && request.method === 'POST' && service.losesAgain(reply.about))
    ) {
      counts.lost_after += 1;
      story.tell(scheduler.now, 'network', `the reply ${reply.status} is lost`, reply.about);
      if (breaks) scheduler.after(latency_ms, () => exchange.fail(socketError(random)), life);
      else this.#world.onSilence(life.machine);
    } else if (faults !== null && random.chance(faults.late_reply)) {
      counts.late += 1;
      deliver(
        random.int(0.5 * plan.config.timeout_ms, 2 * plan.config.timeout_ms),
        reply.status,
        headers,
        [bytes],
        false,
      );
    } else if (faults !== null && random.chance(faults.proxy_page)) {
      counts.mutilated += 1;
      story.tell(
        scheduler.now,
        'network',
        `a proxy answers in the place of the service's ${reply.status}`,
        reply.about,
      );
      const status = random.pick([502, 503, 504, 200, 302, 408]);
      const page = Buffer.from('<html><body>Bad gateway</body></html>');
      deliver(
        latency_ms,
        status,
        {
          'content-type': 'text/html',
          ...(status === 302 ? { location: 'https://elsewhere.example/' } : {}),
        },
        [page],
        false,
      );
    } else if (faults !== null && random.chance(faults.truncated) && bytes.length > 0) {
      counts.mutilated += 1;
      story.tell(scheduler.now, 'network', `the reply ${reply.status} is cut short`, reply.about);
      const is_cut = random.chance(0.7);
      deliver(
        latency_ms,
        reply.status,
        headers,
        [bytes.subarray(0, random.int(0, bytes.length - 1))],
        is_cut,
      );
    } else {
      const middle = random.int(0, bytes.length);
      deliver(
        latency_ms,
        reply.status,
        headers,
        [bytes.subarray(0, middle), bytes.subarray(middle)],
        false,
      );
    }
  }

  /** If a process runs for another minute and its disk has space, it has stored the reply. */
  #remember(request: ServiceRequest): void {
    const { scheduler } = this.#world;
    const { machine } = this.#life;
    const told_at = scheduler.now;
    const isHindered = () =>
      this.#life.is_dead || machine.disk_full_until > told_at || machine.asleep_until > told_at;
    const after = () => {
      if (!isHindered()) request.is_known = 'surely';
    };
    request.is_known = 'perhaps';
    scheduler.after(MINUTE_MS, after, null);
  }
}

/** Whether the reply says that the inquiry was accepted, with or without an ID. */
function saysSuccess({ method }: ServiceRequest, { status, body }: ServiceReply): boolean {
  if (method !== 'POST' || status >= 300) return false;
  return status === 201 || body.includes('"success":true') || body.includes('"creation_ts":');
}

/** Only the form of an address, because an ID in it would be visible to everyone. */
function shortPath(path: string): string {
  return path.replace(/\?.*/, '?…');
}

type Exchange = ReturnType<typeof controllerOf>;

function controllerOf(handler: Dispatcher.DispatchHandler) {
  let is_over = false;
  let reason: Error | null = null;
  const ends: (() => void)[] = [];
  const end = () => {
    is_over = true;
    for (const told of ends.splice(0)) told();
  };
  const controller = {
    get aborted() {
      return reason !== null;
    },
    get paused() {
      return false;
    },
    get reason() {
      return reason;
    },
    rawHeaders: [],
    pause: () => {},
    resume: () => {},
    abort: (why: Error) => {
      if (is_over) return;
      reason = why;
      end();
      handler.onResponseError?.(controller as unknown as Dispatcher.DispatchController, why);
    },
  };
  return {
    controller: controller as unknown as Dispatcher.DispatchController,
    is_over: () => is_over,
    onOver: (told: () => void) => void ends.push(told),
    fail: (error: Error) => {
      if (is_over) return;
      end();
      handler.onResponseError?.(controller as unknown as Dispatcher.DispatchController, error);
    },
    answer: (
      status: number,
      headers: Record<string, string>,
      chunks: Buffer[],
      error: Error | null,
    ) => {
      const taken = controller as unknown as Dispatcher.DispatchController;
      handler.onResponseStart?.(taken, status, headers, 'said');
      for (const chunk of chunks)
        if (!is_over && chunk.length > 0) handler.onResponseData?.(taken, chunk);
      if (is_over) return;
      end();
      if (error === null) handler.onResponseEnd?.(taken, {});
      else handler.onResponseError?.(taken, error);
    },
  };
}

function connectError(random: Random): Error {
  const code = random.pick([
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'UND_ERR_CONNECT_TIMEOUT',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'EHOSTUNREACH',
  ]);
  return Object.assign(new Error(code), { code });
}

function socketError(random: Random): Error {
  const code = random.pick(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']);
  return Object.assign(new Error(code), { code });
}
