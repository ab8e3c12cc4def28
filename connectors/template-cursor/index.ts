/**
 * A connector for a PMS that lists changes since a cursor, over HTTP:
 *
 * - `GET /changes?since=CURSOR&limit=500` returns
 *   `{ "changes": [...], "next": "CURSOR", "more": true }`;
 * - `PUT /results/KEY` stores a result, and `PUT /attention` the attention list; each replaces the
 *   earlier content.
 *
 * It passes the suite. Copy the folder, rename it, and change the parts that your PMS does
 * differently; `connectors/README.md` explains how.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import type {
  Connector,
  ConnectorEnv,
  ConnectorType,
  DeliveryBatch,
  DeliveryOutcome,
  PullBatch,
  PullCall,
  RejectedItem,
} from '../contract.ts';
import { ConnectorError } from '../contract.ts';
import { Api } from './api.ts';
import { deletionSchema, toAppointment, visitSchema } from './visits.ts';

// Describe every key: the descriptions become the documentation. Strict: a misspelled key is an
// error.
const configSchema = z.strictObject({
  base_url: z
    .url({ protocol: /^https?$/ })
    .refine((url) => !/^http:\/\/(?!(?:127\.0\.0\.1|localhost)(?:[:/]|$))/.test(url), {
      error: 'would send patient data unencrypted.',
      params: { next: 'Write https://.' },
    })
    .describe('The address of the PMS; https, except on this machine. Its secret is TOKEN.'),
});
type Config = z.infer<typeof configSchema>;

const connector: ConnectorType<Config> = { name: 'template-cursor', config: configSchema, create };
export default connector;

/** A page is one source and one commit. */
const PAGE_SIZE = 500;

const pageSchema = z.object({
  changes: z.array(z.unknown()),
  next: z.string().min(1),
  more: z.boolean(),
});
type Page = z.infer<typeof pageSchema>;

function create(config: Config, env: ConnectorEnv): Connector {
  const api = new Api(config.base_url, env.secret('token'), env.network);
  return {
    pull: (call) => pull(api, call),
    deliver: (batch, signal) => deliver(api, batch, signal),
    publishAttention: async (entries, signal) => {
      const { status } = await api.put('/attention', await Array.fromAsync(entries), signal);
      if (status >= 300) throw unexpected(status);
    },
    check: async (signal) => {
      try {
        await readPage(api, null, signal);
        return [{ ok: true, what: 'The PMS answers.' }];
      } catch (error) {
        if (!(error instanceof ConnectorError)) throw error;
        return [{ ok: false, what: error.message, next: error.next }];
      }
    },
    close: () => api.close(),
  };
}

/**
 * Reads page by page. The cursor is committed with the page, so a crash in between reads the page
 * again, and nothing else needs an acknowledgment (G3).
 */
async function pull(api: Api, { cursor: start, accept, signal }: PullCall): Promise<void> {
  let cursor = start;
  for (let more = true; more; ) {
    const { page, key } = await readPage(api, cursor, signal);
    if (page.next === cursor) {
      if (page.changes.length > 0 || page.more) throw unexpected(200);
      return;
    }
    await accept(batchOf(page, key));
    cursor = page.next;
    more = page.more;
  }
}

async function readPage(
  api: Api,
  cursor: string | null,
  signal: AbortSignal,
): Promise<{ page: Page; key: string }> {
  const since = cursor === null ? '' : `since=${encodeURIComponent(cursor)}&`;
  const { status, text } = await api.get(`/changes?${since}limit=${PAGE_SIZE}`, signal);
  const page = status === 200 ? pageSchema.safeParse(parseJson(text)).data : undefined;
  // Without its cursor, a page can be neither accepted nor skipped.
  if (page === undefined) throw unexpected(status);
  return { page, key: `sha256:${createHash('sha256').update(text).digest('hex')}` };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Builds the batch of a page. An unreadable item is rejected alone and never blocks its neighbors
 * (G7). If a visit changed several times, the last change wins.
 */
function batchOf(page: Page, key: string): PullBatch {
  const visits = new Map<string, AppointmentInput | 'deleted'>();
  const rejected: RejectedItem[] = [];
  for (const [index, item] of page.changes.entries()) {
    const deletion = deletionSchema.safeParse(item);
    const visit = visitSchema.safeParse(item);
    if (deletion.success) visits.set(deletion.data.visit_id, 'deleted');
    else if (visit.success) visits.set(visit.data.visit_id, toAppointment(visit.data));
    else rejected.push(rejectedItem(index + 1, visit.error));
  }
  const latest = [...visits];
  return {
    source: { key, name: 'changes', is_last: true, completeness: 'changes' },
    appointments: latest.flatMap(([, visit]) => (visit === 'deleted' ? [] : [visit])),
    cancelled_ids: latest.flatMap(([id, visit]) => (visit === 'deleted' ? [id] : [])),
    rejected,
    cursor: page.next,
  };
}

/** Names the field and the kind of value, never the value (G6). */
function rejectedItem(number: number, error: z.ZodError): RejectedItem {
  return {
    position: `change ${number}`,
    field: error.issues[0]?.path.join('.') || 'change',
    value_class: 'not as expected',
    remedy: 'Correct it in the practice management system.',
  };
}

async function deliver(
  api: Api,
  { deliveries }: DeliveryBatch,
  signal: AbortSignal,
): Promise<DeliveryOutcome[]> {
  const outcomes: DeliveryOutcome[] = [];
  for (const delivery of deliveries) {
    try {
      // The key is stable, so writing again replaces the result (G4).
      const { status } = await api.put(`/results/${delivery.key}`, delivery, signal);
      outcomes.push(outcomeOf(delivery.key, status));
    } catch (error) {
      // The PMS became unavailable: deliveries without an outcome count as failed and are repeated.
      if (outcomes.length > 0 && error instanceof ConnectorError) return outcomes;
      throw error;
    }
  }
  return outcomes;
}

function outcomeOf(key: string, status: number): DeliveryOutcome {
  if (status < 300) return { key, outcome: 'delivered' };
  const what = `The PMS refused the result (status ${status}).`;
  const next = 'Ask whoever runs the PMS for the reason, then run "eligd retry".';
  return { key, outcome: 'failed', is_permanent: true, what, next };
}

function unexpected(status: number): ConnectorError {
  return new ConnectorError('transient', {
    what: `The PMS sent a reply that this connector cannot read (status ${status}).`,
    next: 'Check "base_url:", and check that the connector supports this version of the PMS.',
  });
}
