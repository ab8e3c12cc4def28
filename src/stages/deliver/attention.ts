/** Writes the attention list, for connectors that support it. */
import { createHash } from 'node:crypto';
import {
  type AttentionEntry,
  type Connector,
  ConnectorError,
} from '../../../connectors/contract.ts';
import type { AppointmentInput } from '../../domain/appointment.ts';
import { entryText } from '../../domain/attention.ts';
import { type ClaimInput, firstCoverage } from '../../domain/claim.ts';
import type { Env } from '../../domain/env.ts';
import { withoutTerminal } from '../../domain/remedy-words.ts';
import { HOUR_MS } from '../../domain/time.ts';
import { type AttentionRow, attentionPages } from '../../store/bookkeeping/attention.ts';
import type { Store } from '../../store/engine/store.ts';
import { type ConnectorState, noteFailure, noteSuccess } from '../connector-state.ts';
import { RowsToWrite } from './rows.ts';

type AttentionDeps = {
  store: Store;
  env: Env;
  connector_id: string;
  connector: Connector;
  state: ConnectorState;
  /** A fingerprint of the list that the PMS has, and when it was written. */
  memory: { published: { mark: string; at: number } | null };
};

/** An unchanged list is also written again after this, because it states its time. */
const PUBLISH_AGAIN_MS = HOUR_MS;

/**
 * Replaces the connector's copy of the attention list when the list has changed, or when the copy
 * is old.
 */
export async function publishAttention(deps: AttentionDeps, signal: AbortSignal): Promise<void> {
  const { store, env, connector, connector_id, memory } = deps;
  if (connector.publishAttention === undefined) return;
  const hash = createHash('sha256');
  for await (const rows of attentionPages(store.db, connector_id))
    for (const row of rows) hash.update(`${JSON.stringify(row)}\n`);
  const mark = hash.digest('base64');
  const now = env.clock.now();
  const { published } = memory;
  const is_current = published?.mark === mark && Math.abs(now - published.at) < PUBLISH_AGAIN_MS;
  if (is_current) return;
  const entries = new RowsToWrite(() => entryPages(store, connector_id));
  try {
    await connector.publishAttention(entries, signal, new Date(now).toISOString());
    memory.published = { mark, at: now };
  } catch (failure) {
    const error = entries.causeOf(failure);
    if (!(error instanceof ConnectorError)) throw error;
    if (await noteFailure(deps, 'write', error))
      env.log('delivery_failed', {
        connector: connector_id,
        reason: `${error.message} ${error.next}`,
      });
    return;
  }
  await noteSuccess(deps, 'write');
}

async function* entryPages(store: Store, connector_id: string): AsyncGenerator<AttentionEntry[]> {
  for await (const rows of attentionPages(store.db, connector_id)) yield rows.map(toEntry);
}

function toEntry(row: AttentionRow): AttentionEntry {
  const input =
    row.content === null ? null : (JSON.parse(row.content) as AppointmentInput | ClaimInput);
  const is_claim = row.kind === 'claim';
  return {
    source_id: is_claim ? null : row.source_id,
    ...(is_claim && row.source_id !== null ? { claim_id: row.source_id } : {}),
    starts_at: is_claim || row.starts_at === null ? null : new Date(row.starts_at).toISOString(),
    patient_name:
      input === null ? null : `${input.patient.first_name} ${input.patient.last_name}`.trim(),
    carrier: input === null ? null : (firstCoverage(input)?.carrier ?? null),
    reason: row.reason,
    what: entryText(row, { patients: true }),
    next: withoutTerminal(row.next),
    since: new Date(row.since).toISOString(),
  };
}
