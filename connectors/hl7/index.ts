/**
 * HL7 v2: appointments (SIU) and insurance (ADT) come in over MLLP or out of files, answers go out as PIN^I07, ORU^R01 or ADT^A08.
 *
 *     socket ─▶ frames ─▶ message ─▶ reading ─▶ accept (commit) ─▶ acknowledgment      server, session, intake
 *     record ─▶ write-back ─▶ socket ─▶ acknowledgment ─▶ outcome                      deliver, client
 */
import type { Connector, ConnectorEnv, ConnectorType } from '../contract.ts';
import { checkHl7 } from './check.ts';
import { MllpClient } from './client.ts';
import { type Hl7Config, hl7ConfigSchema } from './config.ts';
import { deliverOverMllp, deliverToFiles } from './deliver.ts';
import { FileDrop } from './file-drop.ts';
import { dropFolderAt, ensureDropFolder } from './folder.ts';
import { MessageIntake } from './intake.ts';
import { listenForMessages } from './server.ts';

const hl7: ConnectorType<Hl7Config> = { name: 'hl7', config: hl7ConfigSchema, create };
export default hl7;

function create(config: Hl7Config, env: ConnectorEnv): Connector {
  const { listen, send_to } = config;
  const folder = config.folder === undefined ? null : dropFolderAt(env.resolvePath(config.folder));
  const intake = new MessageIntake(config, env);
  const drop = folder === null ? null : new FileDrop(config, env, folder, intake);
  const client = send_to === undefined ? null : new MllpClient({ ...config, send_to }, env);
  if (config.write_back === 'adt_a08') env.log('hl7_writes_registrations', { connector: env.connector_id });
  return {
    ...(drop === null ? {} : { pull: (call) => drop.pull(call) }),
    ...(listen === undefined ? {} : { listen: (call) => listenForMessages({ ...config, listen }, env, intake, call) }),
    deliver: async (batch, signal) => {
      if (config.write_back === 'none') return batch.deliveries.map(({ key }) => ({ key, outcome: 'delivered' }));
      if (client !== null) return await deliverOverMllp(config, env, client, batch, signal);
      if (folder === null) throw new Error('The configuration was read without a place for what is written back.');
      await ensureDropFolder(folder);
      return await deliverToFiles(config, env, folder, batch, signal);
    },
    check: (signal) => checkHl7(config, env, folder, signal),
    close: async () => client?.close(),
  };
}
