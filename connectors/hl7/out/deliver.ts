/** Delivers a batch: over MLLP, with each message acknowledged, or as files. */
import type { DeliveryOutcome } from '../../contract.ts';
import { ConnectorError } from '../../contract.ts';
import { type DropFolder, writeMessage } from '../folder.ts';
import type { MllpClient, Reply } from '../mllp/client.ts';
import { type CharacterSet, encodeMessage } from './charset.ts';
import type { Outgoing } from './outbound.ts';

/** A delivery in the form of its message. */
export type Dispatch = Outgoing & { key: string };

/** A message in the receiver's character set. */
type Encoded = { key: string; control_id: string; bytes: Buffer };

/**
 * Encodes the messages in the receiver's character set. A message that cannot be encoded needs you:
 * a changed text would have another meaning and count as delivered.
 */
export function encodeAll(
  dispatches: readonly Dispatch[],
  character_set: CharacterSet,
): { encoded: Encoded[]; failed: DeliveryOutcome[] } {
  const encoded: Encoded[] = [];
  const failed: DeliveryOutcome[] = [];
  for (const { key, control_id, text } of dispatches) {
    const bytes = encodeMessage(text, character_set);
    if (bytes === null)
      failed.push({
        key,
        outcome: 'failed',
        is_permanent: true,
        what: `The message contains a character that ${character_set} does not have.`,
        next:
          'Set header.character_set: to UNICODE UTF-8 if the receiver reads it, then retry the ' +
          'delivery; or enter the answer by hand (eligd show has it).',
      });
    else encoded.push({ key, control_id, bytes });
  }
  return { encoded, failed };
}

/** After this many messages in a row without a reply, the receiver counts as away. */
const SILENT_MAX = 2;

/**
 * Sends the messages. AA and CA count as delivered, AE and AR go on the attention list, and eligd
 * retries after CE or no reply. When no message is answered, it throws ConnectorError `transient`,
 * so that no attempt is used up while the receiver is away.
 */
export async function deliverOverMllp(
  client: MllpClient,
  dispatches: readonly Encoded[],
  signal: AbortSignal,
): Promise<DeliveryOutcome[]> {
  const outcomes: DeliveryOutcome[] = [];
  let silent = 0;
  let is_answered = false;
  for (const { key, bytes, control_id } of dispatches) {
    let reply: Reply;
    try {
      reply = await client.send(bytes, control_id, signal);
    } catch (error) {
      // The answered messages count, and the rest failed once; if none was answered, the receiver
      // is away and no attempt is used up.
      if (!(error instanceof ConnectorError) || !is_answered) throw error;
      return [...outcomes, ...notTried(dispatches, outcomes, error.message)];
    }
    outcomes.push(outcomeOf(key, reply));
    silent = reply === 'silent' ? silent + 1 : 0;
    is_answered ||= reply !== 'silent';
    if (silent < SILENT_MAX) continue;
    const what = 'The receiving system accepts messages but does not acknowledge them.';
    if (!is_answered) throw new ConnectorError('transient', { what, next: SILENT_NEXT });
    return [...outcomes, ...notTried(dispatches, outcomes, what)];
  }
  return outcomes;
}

const SILENT_NEXT =
  'Check whether the receiving interface is stopped. eligd tries again automatically.';

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
  const said = text === '' ? ' without saying why.' : '.';
  return {
    key,
    outcome: 'failed',
    // CE means not now. All other codes are about the message, which stays the same.
    is_permanent: code !== 'CE',
    what: `The receiving system rejected the message (${code || 'no code'})${said}`,
    ...(text === '' ? {} : { words: `It said: ${text}` }),
    next:
      'Have its interface corrected, then run "eligd retry"; or enter the answer by hand ' +
      '("eligd show" has it).',
  };
}

function notTried(
  dispatches: readonly Encoded[],
  tried: readonly DeliveryOutcome[],
  what: string,
): DeliveryOutcome[] {
  const keys = new Set(tried.map(({ key }) => key));
  return dispatches
    .filter(({ key }) => !keys.has(key))
    .map(({ key }) => ({ key, outcome: 'failed', is_permanent: false, what, next: SILENT_NEXT }));
}

/** Writes files named after the delivery: delivering again replaces its file (G4). */
export async function deliverToFiles(
  folder: DropFolder,
  dispatches: readonly Encoded[],
  signal: AbortSignal,
): Promise<DeliveryOutcome[]> {
  for (const { bytes, control_id } of dispatches) {
    signal.throwIfAborted();
    await writeMessage(folder, `${control_id}.hl7`, bytes);
  }
  return dispatches.map(({ key }) => ({ key, outcome: 'delivered' }));
}
