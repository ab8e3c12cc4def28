/** Delivering a batch: over MLLP, each message acknowledged, or as files. */
import type { ConnectorEnv, DeliveryBatch, DeliveryOutcome } from '../contract.ts';
import { ConnectorError } from '../contract.ts';
import type { MllpClient, Reply } from './client.ts';
import type { Hl7Config } from './config.ts';
import { type DropFolder, writeMessage } from './folder.ts';
import { messageFor } from './write-back.ts';

/** Messages in a row that nobody answered, after which the receiver counts as away. */
const SILENT_MAX = 2;

/**
 * AA and CA are delivered, AE and AR are for a person, silence and CE are tried again by eligd. When nobody answers at all it throws
 * ConnectorError `transient`, so that no delivery is used up while the receiver is away.
 */
export async function deliverOverMllp(
  config: Hl7Config,
  env: ConnectorEnv,
  client: MllpClient,
  batch: DeliveryBatch,
  signal: AbortSignal,
): Promise<DeliveryOutcome[]> {
  const outcomes: DeliveryOutcome[] = [];
  let silent = 0;
  let is_answered = false;
  for (const delivery of batch.deliveries) {
    const { text, control_id } = messageFor(config, env, delivery, batch.created_at);
    let reply: Reply;
    try {
      reply = await client.send(text, control_id, signal);
    } catch (error) {
      // What was answered counts, and the rest failed once; when nothing was, the receiver is away and nothing is used up.
      if (!(error instanceof ConnectorError) || !is_answered) throw error;
      return [...outcomes, ...notTried(batch, outcomes, error.message)];
    }
    outcomes.push(outcomeOf(delivery.key, reply));
    silent = reply === 'silent' ? silent + 1 : 0;
    is_answered ||= reply !== 'silent';
    if (silent < SILENT_MAX) continue;
    const what = 'The receiving system takes messages and does not acknowledge them.';
    if (!is_answered) throw new ConnectorError('transient', { what, next: SILENT_NEXT });
    return [...outcomes, ...notTried(batch, outcomes, what)];
  }
  return outcomes;
}

const SILENT_NEXT = 'Look whether the receiving interface is stopped. It is tried again by itself.';

function outcomeOf(key: string, reply: Reply): DeliveryOutcome {
  if (reply === 'silent')
    return {
      key,
      outcome: 'failed',
      is_permanent: false,
      what: 'The receiving system did not acknowledge the message.',
      next: SILENT_NEXT,
    };
  const { code, text } = reply;
  if (code === 'AA' || code === 'CA') return { key, outcome: 'delivered' };
  const said = text === '' ? 'without saying why' : `and says: ${text}`;
  return {
    key,
    outcome: 'failed',
    // CE: not now. Everything else is about the message, which will be the same the next time.
    is_permanent: code !== 'CE',
    what: `The receiving system refused the message (${code || 'no code'}) ${said}`,
    next: 'Have its interface corrected, then have the delivery tried again; or enter the answer by hand (eligd show has it).',
  };
}

function notTried(batch: DeliveryBatch, tried: readonly DeliveryOutcome[], what: string): DeliveryOutcome[] {
  const keys = new Set(tried.map(({ key }) => key));
  return batch.deliveries
    .filter(({ key }) => !keys.has(key))
    .map(({ key }) => ({ key, outcome: 'failed', is_permanent: false, what, next: SILENT_NEXT }));
}

/** Files named after the delivery: the same one again replaces its file (G4). */
export async function deliverToFiles(
  config: Hl7Config,
  env: ConnectorEnv,
  folder: DropFolder,
  batch: DeliveryBatch,
  signal: AbortSignal,
): Promise<DeliveryOutcome[]> {
  for (const delivery of batch.deliveries) {
    signal.throwIfAborted();
    const { text, control_id } = messageFor(config, env, delivery, batch.created_at);
    await writeMessage(folder, `${control_id}.hl7`, text);
  }
  return batch.deliveries.map(({ key }) => ({ key, outcome: 'delivered' }));
}
