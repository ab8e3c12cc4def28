/**
 * The world's time. It owns the timers, immediates, and clock of the whole process, so days pass in
 * milliseconds and everything happens in the same order for the same seed. It advances to the next
 * event only after every promise has settled or waits: one real turn of the event loop runs all of
 * them.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Random } from './random.ts';

/** The owner of the running code: the life of a daemon. Code of a dead life never runs. */
export type Owner = { is_dead: boolean; wallNow: () => number; awakeAt: () => number };

export const owners = new AsyncLocalStorage<Owner>();

type Event = {
  at: number;
  order: number;
  run: () => void;
  owner: Owner | null;
  is_cancelled: boolean;
};

const realSetImmediate = globalThis.setImmediate;
const RealDate = globalThis.Date;

export class Scheduler {
  /** True time in epoch milliseconds. A machine's clock may show another time. */
  now: number;
  steps = 0;
  readonly #random: Random;
  readonly #heap: Event[] = [];
  #immediates: Event[] = [];

  constructor(now: number, random: Random) {
    this.now = now;
    this.#random = random;
  }

  chance(): number {
    return this.#random.next();
  }

  /**
   * Runs `run` at `at`, or as soon as possible; events at the same time run in random order. Null
   * as owner: it happens in the world, whatever becomes of the daemon.
   */
  at(at: number, run: () => void, owner: Owner | null): () => void {
    const event = {
      at: Math.max(at, this.now),
      order: this.#random.next(),
      run,
      owner,
      is_cancelled: false,
    };
    this.#push(event);
    return () => {
      event.is_cancelled = true;
    };
  }

  after(delay_ms: number, run: () => void, owner: Owner | null): () => void {
    return this.at(this.now + Math.max(0, delay_ms), run, owner);
  }

  immediate(run: () => void): () => void {
    const event = {
      at: this.now,
      order: 0,
      run,
      owner: owners.getStore() ?? null,
      is_cancelled: false,
    };
    this.#immediates.push(event);
    return () => {
      event.is_cancelled = true;
    };
  }

  /** Whether nothing can happen before time passes. */
  isQuiet(): boolean {
    return this.#immediates.length === 0;
  }

  /** Advances time until `isOver` or `until`, by at least one turn. */
  async pass(until: number, isOver: () => boolean = () => false): Promise<void> {
    for (;;) {
      await new Promise<void>((resolve) => realSetImmediate(resolve));
      if (isOver()) return;
      const immediates = this.#immediates;
      if (immediates.length > 0) {
        this.#immediates = [];
        for (const event of immediates) this.#run(event);
        continue;
      }
      const next = this.#heap[0];
      if (next === undefined || next.at > until) {
        this.now = Math.max(this.now, until);
        return;
      }
      this.#pop();
      const awake_at = next.owner?.awakeAt() ?? 0;
      if (awake_at > next.at) {
        next.at = awake_at;
        this.#push(next);
        continue;
      }
      this.now = Math.max(this.now, next.at);
      this.#run(next);
    }
  }

  #run(event: Event): void {
    if (event.is_cancelled || event.owner?.is_dead) return;
    this.steps += 1;
    if (event.owner === null) owners.exit(event.run);
    else owners.run(event.owner, event.run);
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(heap[index]!, heap[parent]!)) break;
      [heap[index], heap[parent]] = [heap[parent]!, heap[index]!];
      index = parent;
    }
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    heap[0] = last;
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      let least = index;
      if (left < heap.length && isBefore(heap[left]!, heap[least]!)) least = left;
      if (left + 1 < heap.length && isBefore(heap[left + 1]!, heap[least]!)) least = left + 1;
      if (least === index) return;
      [heap[index], heap[least]] = [heap[least]!, heap[index]!];
      index = least;
    }
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

let current: Scheduler | null = null;

/** Gives the process's time to a world while it runs. */
export function rule(scheduler: Scheduler | null): void {
  current = scheduler;
}

/**
 * Replaces the process's clock and timers permanently. Called before eligd is loaded: the clock and
 * timers that eligd and its packages see (a request's deadline, the write queue's turn) are the
 * world's.
 */
export function takeOverTime(): void {
  const world = () => {
    if (current === null) throw new Error('A timer was set outside a world.');
    return current;
  };
  class WorldDate extends RealDate {
    constructor(...given: unknown[]) {
      if (given.length === 0) super(WorldDate.now());
      else super(...(given as [number]));
    }
    static override now(): number {
      return owners.getStore()?.wallNow() ?? current?.now ?? RealDate.now();
    }
  }
  const timer = (cancel: () => void) => {
    const handle = {
      cancel,
      ref: () => handle,
      unref: () => handle,
      hasRef: () => true,
      refresh: () => handle,
      [Symbol.dispose]: cancel,
    };
    return handle;
  };
  const clear = (handle: { cancel?: () => void } | undefined) => handle?.cancel?.();
  const replaced = {
    Date: WorldDate,
    setTimeout: (run: (...args: unknown[]) => void, delay_ms = 0, ...args: unknown[]) =>
      timer(world().after(Math.max(1, delay_ms), () => run(...args), owners.getStore() ?? null)),
    setInterval: () => {
      throw new Error(
        'Nothing of eligd uses setInterval; teach the simulation if that has changed.',
      );
    },
    setImmediate: (run: (...args: unknown[]) => void, ...args: unknown[]) =>
      timer(world().immediate(() => run(...args))),
    clearTimeout: clear,
    clearImmediate: clear,
  };
  for (const [name, value] of Object.entries(replaced))
    Object.defineProperty(globalThis, name, { value, writable: true });
  // eligd does not use it; a package might.
  Math.random = () => world().chance();
}
