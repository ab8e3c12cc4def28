/**
 * A clock that stops until all pending work is done: requests are answered, files read, commits
 * made. Days pass in seconds, over real sockets and real files.
 */
import { subscribe } from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';
import workerThreads from 'node:worker_threads';
import type { Clock } from '../../src/domain/env.ts';

type Sleeper = { at: number; order: number; wake: () => void; is_cancelled: boolean };

/**
 * What the process still waits for, by Node's names. Open sockets and timers do not count as work.
 */
const BUSY = /^(FSReq|CloseReq|GetAddrInfo|TCPConnect|Process|WriteWrap|Shutdown)/i;
/** Turns of the event loop without work before time may pass. */
const QUIET_TURNS = 3;

let requests_open = 0;
for (const [channel, by] of [
  ['undici:request:create', 1],
  ['undici:request:trailers', -1],
  ['undici:request:error', -1],
] as const)
  subscribe(channel, () => {
    requests_open += by;
  });

let threads_running = 0;
workerThreads.Worker = class extends workerThreads.Worker {
  constructor(...given: ConstructorParameters<typeof workerThreads.Worker>) {
    super(...given);
    threads_running += 1;
    this.once('exit', () => {
      threads_running -= 1;
    });
  }
};
syncBuiltinESMExports();

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

export class SteppedClock implements Clock {
  readonly #started_ms: number;
  #true_ms: number;
  #order = 0;
  #sleepers: Sleeper[] = [];
  /** How far the clinic's computer is ahead of the true time. */
  ahead_ms = 0;
  /** How long to wait, by the machine's clock, for work on plain sockets after each step. */
  wire_ms = 0;

  constructor(start_ms: number) {
    this.#started_ms = start_ms;
    this.#true_ms = start_ms;
  }

  now = (): number => this.#true_ms + this.ahead_ms;

  /** The time on the calling service's clock. */
  trueNow = (): number => this.#true_ms;

  elapsed = (): number => this.#true_ms - this.#started_ms;

  sleep = (duration_ms: number, signal?: AbortSignal): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (signal?.aborted) {
      reject(signal.reason);
      return promise;
    }
    const onAbort = () => {
      sleeper.is_cancelled = true;
      reject(signal?.reason);
    };
    const wake = () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    };
    const sleeper = this.#add(this.#true_ms + Math.max(0, duration_ms), wake);
    signal?.addEventListener('abort', onAbort, { once: true });
    return promise;
  };

  /** Advances the time, and runs everything that becomes due meanwhile. */
  async passUntil(until_ms: number): Promise<void> {
    for (;;) {
      await this.quiet();
      const next = this.#sleepers[0];
      if (next === undefined || next.at > until_ms) break;
      this.#sleepers.shift();
      if (next.is_cancelled) continue;
      this.#true_ms = Math.max(this.#true_ms, next.at);
      next.wake();
    }
    this.#true_ms = Math.max(this.#true_ms, until_ms);
  }

  /** Waits for work in progress without advancing the time. */
  async quiet(): Promise<void> {
    if (this.wire_ms > 0) await new Promise((resolve) => setTimeout(resolve, this.wire_ms));
    for (let quiet = 0; quiet < QUIET_TURNS; ) {
      await turn();
      const is_busy =
        requests_open + threads_running > 0 ||
        process.getActiveResourcesInfo().some((name) => BUSY.test(name));
      quiet = is_busy ? 0 : quiet + 1;
    }
  }

  #add(at: number, wake: () => void): Sleeper {
    const sleeper = { at, order: this.#order++, wake, is_cancelled: false };
    const before = this.#sleepers.findLastIndex((each) => each.at <= at);
    this.#sleepers.splice(before + 1, 0, sleeper);
    return sleeper;
  }
}
