/**
 * The HL7 v2 connector: appointments (SIU), insurance (ADT), and charges (DFT) arrive over MLLP or
 * in files; answers leave as PIN^I07, ORU^R01, or ADT^A08.
 *
 *     socket ─▶ frames ─▶ message ─▶ verdict ─▶ keep (commit) ─▶ acknowledgment
 *                                                 └─▶ reading, in the next pause
 *     record ─▶ pin-i07, oru-r01 or adt-a08 ─▶ socket ─▶ acknowledgment ─▶ outcome
 */
import type { Connector, ConnectorType, DeliveryOutcome } from '../contract.ts';
import { checkHl7 } from './check.ts';
import { type Hl7Config, hl7ConfigSchema } from './config.ts';
import { EVENTS, type Hl7Env } from './events.ts';
import { dropFolderAt, ensureDropFolder, keptFiles } from './folder.ts';
import { FileDrop, readMessageFile } from './in/file-drop.ts';
import { MessageIntake } from './in/intake.ts';
import { MllpClient } from './mllp/client.ts';
import { listenForMessages } from './mllp/server.ts';
import { eligibilityUpdates, type UpdateMessage } from './out/adt-a08.ts';
import { type Dispatch, deliverOverMllp, deliverToFiles, encodeAll } from './out/deliver.ts';
import { claimMessageFor, messageFor } from './out/write-back.ts';

const hl7: ConnectorType<Hl7Config> = {
  name: 'hl7',
  config: hl7ConfigSchema,
  events: EVENTS,
  create,
};
export default hl7;

function create(config: Hl7Config, env: Hl7Env): Connector {
  const { listen, send_to } = config;
  const folder = config.folder === undefined ? null : dropFolderAt(env.resolvePath(config.folder));
  const { time_zone } = env;
  const writing = (written_at: string) => ({ config, time_zone, written_at });
  const intake = new MessageIntake(config, env);
  const drop = folder === null ? null : new FileDrop(config, env, folder, intake);
  const client = send_to === undefined ? null : new MllpClient({ ...config, send_to }, env);
  const send = async (
    dispatches: readonly Dispatch[],
    signal: AbortSignal,
  ): Promise<DeliveryOutcome[]> => {
    if (config.write_back === 'none')
      return dispatches.map(({ key }) => ({ key, outcome: 'delivered' }));
    const { encoded, failed } = encodeAll(dispatches, config.header.character_set);
    if (client !== null) return [...failed, ...(await deliverOverMllp(client, encoded, signal))];
    if (folder === null)
      throw new Error('The configuration was read without a place for what is written back.');
    await ensureDropFolder(folder);
    return [...failed, ...(await deliverToFiles(folder, encoded, signal))];
  };
  if (config.write_back === 'adt_a08')
    env.log('hl7_writes_registrations', { connector: env.connector_id });
  const own = [config.listen_tls?.certificate_file, config.send_tls?.certificate_file];
  return {
    certificates: () =>
      own.flatMap((file) =>
        file === undefined
          ? []
          : [{ of: `the HL7 connector ${env.connector_id}`, file: env.resolvePath(file) }],
      ),
    ...(drop === null
      ? {}
      : {
          pull: (call) => drop.pull(call),
          readAgain: (since, signal) => drop.readAgain(since, signal),
        }),
    ...(folder === null ? {} : { keptFiles: () => keptFiles(folder) }),
    readMessage: (text, received_at) => intake.readMessage(text, received_at),
    readFile: (path, call) => readMessageFile(config, intake, path, call),
    ...(listen === undefined
      ? {}
      : { listen: (call) => listenForMessages({ ...config, listen }, env, intake, call) }),
    deliver: async ({ deliveries, created_at }, signal) => {
      const sendAll = (dispatches: readonly Dispatch[]) => send(dispatches, signal);
      if (config.write_back === 'adt_a08')
        return await deliverUpdates(
          await eligibilityUpdates(writing(created_at), deliveries, env.journal),
          sendAll,
        );
      return await sendAll(
        deliveries.map((each) => ({ key: each.key, ...messageFor(writing(created_at), each) })),
      );
    },
    deliverClaims: async ({ deliveries, created_at }, signal) => {
      if (config.write_back === 'adt_a08') return deliveries.map(noPlaceForClaims);
      return await send(
        deliveries.map((each) => ({
          key: each.key,
          ...claimMessageFor(writing(created_at), each),
        })),
        signal,
      );
    },
    check: (signal) => checkHl7(config, env, folder, signal),
    close: async () => client?.close(),
  };
}

/** Sends messages that each settle all deliveries of a visit. */
async function deliverUpdates(
  updates: readonly UpdateMessage[],
  send: (dispatches: readonly Dispatch[]) => Promise<DeliveryOutcome[]>,
): Promise<DeliveryOutcome[]> {
  const sent = await send(
    updates.map(({ outgoing }) => ({ key: outgoing.control_id, ...outgoing })),
  );
  const outcomes: DeliveryOutcome[] = [];
  for (const { outgoing, keys, remember } of updates) {
    const outcome = sent.find(({ key }) => key === outgoing.control_id);
    if (outcome === undefined) continue;
    if (outcome.outcome === 'delivered') await remember();
    outcomes.push(...keys.map((key) => ({ ...outcome, key })));
  }
  return outcomes;
}

/** Fails the delivery: ADT transmits registrations and has no field for a claim's status. */
function noPlaceForClaims({ key }: { key: string }): DeliveryOutcome {
  const what = "An ADT^A08 has no field for the insurance company's answer about a claim.";
  const next = 'Set write_back: to pin_i07 or oru_r01, or see the answer with eligd show.';
  return { key, outcome: 'failed', is_permanent: true, what, next };
}
