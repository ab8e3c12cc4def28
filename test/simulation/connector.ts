/**
 * The connector that a world's configuration names. It passes everything to the world's practice.
 */
import { z } from 'zod';
import type { ConnectorType } from '../../connectors/contract.ts';
import type { Life } from './machine.ts';
import { owners } from './scheduler.ts';

const type: ConnectorType<Record<string, never>> = {
  name: 'simulated',
  config: z.strictObject({}),
  create: () => {
    const life = owners.getStore() as Life | undefined;
    if (life === undefined) throw new Error('There is no world.');
    return life.connector();
  },
};
export default type;
