const WINDOW_MS = 60_000;
const REMEMBERED_REQUESTS = 10_000;

/** A request that was answered or cut off. It contains no query and no body. */
type TrafficEntry = {
  at_ms: number;
  method: string;
  route: string;
  status: number | 'cut_off';
};

/** Counts instants within the last 60 seconds, the window of all limits here. */
class SlidingWindow {
  #instants: number[] = [];
  #first = 0;

  add(now_ms: number): void {
    this.#instants.push(now_ms);
  }

  /** Returns how many instants are in the window that ends now. */
  count(now_ms: number): number {
    while ((this.#instants[this.#first] ?? Number.POSITIVE_INFINITY) <= now_ms - WINDOW_MS)
      this.#first += 1;
    if (this.#first > 4096 && this.#first * 2 > this.#instants.length) {
      this.#instants = this.#instants.slice(this.#first);
      this.#first = 0;
    }
    return this.#instants.length - this.#first;
  }

  /** Returns the milliseconds until the oldest instant leaves the window. */
  untilFree(now_ms: number): number {
    return (this.#instants[this.#first] ?? now_ms - WINDOW_MS) + WINDOW_MS - now_ms;
  }
}

/** The incoming requests: the rate limit, the counts, and the last requests. */
export class Traffic {
  #admitted = new SlidingWindow();
  #arrived = new SlidingWindow();
  #peak = 0;
  #counts = new Map<string, number>();
  #recent: TrafficEntry[] = [];

  /** Counts a request, whatever its result. */
  arrive(method: string, route: string, now_ms: number): void {
    const key = `${method} ${route}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#arrived.add(now_ms);
    this.#peak = Math.max(this.#peak, this.#arrived.count(now_ms));
  }

  /**
   * Admits the request, or returns how long its caller has to wait. Refused requests do not count
   * toward the limit.
   */
  admit(limit: number, now_ms: number): { ok: true } | { ok: false; wait_ms: number } {
    if (limit > 0 && this.#admitted.count(now_ms) >= limit)
      return { ok: false, wait_ms: this.#admitted.untilFree(now_ms) };
    this.#admitted.add(now_ms);
    if (limit === 0) this.#admitted.count(now_ms);
    return { ok: true };
  }

  finish(entry: TrafficEntry): void {
    this.#recent.push(entry);
    if (this.#recent.length >= 2 * REMEMBERED_REQUESTS)
      this.#recent = this.#recent.slice(-REMEMBERED_REQUESTS);
  }

  /** Returns the last requests, oldest first. */
  recent(): TrafficEntry[] {
    return this.#recent.slice(-REMEMBERED_REQUESTS);
  }

  counts(): { total: number; peak_per_minute: number; by_route: { [route: string]: number } } {
    const total = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    return {
      total,
      peak_per_minute: this.#peak,
      by_route: Object.fromEntries([...this.#counts].sort()),
    };
  }

  clear(): void {
    this.#admitted = new SlidingWindow();
    this.#arrived = new SlidingWindow();
    this.#peak = 0;
    this.#counts = new Map();
    this.#recent = [];
  }
}
