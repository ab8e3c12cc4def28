import { z } from 'zod';

const matching = {
  /** Matches only requests with this method. */
  method: z.string().toUpperCase().optional(),
  /** Matches a part of path and query, as text or regular expression. */
  path: z.string().optional(),
  /** How many matching requests pass before the first one fails. */
  skip: z.int().min(0).default(0),
  /** How many matching requests fail. */
  times: z.int().min(1).default(1),
  /**
   * Before: the request has no effect. After: its effect is complete and committed; only requests
   * that succeeded count.
   */
  when: z.enum(['before', 'after']),
};

const headers = z.record(z.string().toLowerCase(), z.string()).default({});

const faultSchema = z.discriminatedUnion('action', [
  z.strictObject({
    ...matching,
    action: z.literal('status'),
    status: z.int().min(200).max(599),
    body: z.json().optional(),
    headers,
  }),
  z.strictObject({ ...matching, action: z.literal('delay'), delay_ms: z.number().min(0) }),
  z.strictObject({ ...matching, action: z.literal('reset') }),
  z.strictObject({ ...matching, action: z.literal('truncate') }),
  z.strictObject({
    ...matching,
    action: z.literal('html'),
    status: z.int().min(200).max(599).default(502),
    headers,
  }),
]);

export const faultsSchema = z.union([
  z.array(faultSchema),
  faultSchema.transform((fault) => [fault]),
]);

export type Fault = z.infer<typeof faultSchema>;

/** The ordered failures. Delays add up; of the others, the first match decides. */
export class Faults {
  #ordered: Fault[] = [];

  add(faults: readonly Fault[]): void {
    this.#ordered.push(...faults.map((fault) => ({ ...fault })));
  }

  /** Returns the failures that are still to come, with their remaining counts. */
  pending(): readonly Fault[] {
    return this.#ordered;
  }

  clear(): void {
    this.#ordered = [];
  }

  /** Returns the faults that match this request now, and decrements their counts. */
  take(when: Fault['when'], method: string, url: string): Fault[] {
    if (this.#ordered.length === 0) return [];
    const taken: Fault[] = [];
    for (const fault of this.#ordered) {
      if (fault.when !== when || !matches(fault, method, url)) continue;
      if (fault.skip > 0) {
        fault.skip -= 1;
        continue;
      }
      fault.times -= 1;
      taken.push(fault);
      if (fault.action !== 'delay') break;
    }
    this.#ordered = this.#ordered.filter((fault) => fault.times > 0);
    return taken;
  }
}

function matches(fault: Fault, method: string, url: string): boolean {
  if (fault.method !== undefined && fault.method !== method) return false;
  if (fault.path === undefined || url.includes(fault.path)) return true;
  try {
    return new RegExp(fault.path).test(url);
  } catch {
    return false;
  }
}
