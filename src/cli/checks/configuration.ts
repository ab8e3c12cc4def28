import { existsSync } from 'node:fs';
import type { Config } from '../../ops/config.ts';
import { feesPath, readFees } from '../../ops/fees.ts';
import { payersPath, readPayers } from '../../ops/payer-file.ts';
import { configNotes } from '../../ops/profile.ts';
import {
  namesFor,
  requireSecrets,
  type SecretSource,
  secretStatus,
  webhookSecrets,
} from '../../ops/secrets.ts';
import { type CheckedLine, checked, fine } from './line.ts';

/** Reports the warnings of a valid configuration, and checks the payer map that it names. */
export async function checkConfiguration(config: Config): Promise<CheckedLine[]> {
  const notes = configNotes(config).map(({ what, next }) => fine('note', `${what} ${next}`));
  return [
    fine('configuration', `${config.file} is valid.`),
    ...notes,
    ...(await checkPayers(config)),
    ...(await checkFees(config)),
  ];
}

async function checkPayers(config: Config): Promise<CheckedLine[]> {
  const file = payersPath(config);
  return await checked('payer map', () => {
    const { known } = readPayers(config);
    const what = existsSync(file)
      ? `${file} is valid.`
      : `${file} does not exist; eligd uses its ${known.length} built-in payers.`;
    return [fine('payer map', what)];
  });
}

async function checkFees(config: Config): Promise<CheckedLine[]> {
  const file = feesPath(config);
  return await checked('fees', () => {
    readFees(config);
    return existsSync(file) ? [fine('fees', `${file} is valid.`)] : [];
  });
}

/** Returns one line for each secret that is set, and one for all missing secrets. */
export function checkSecrets(config: Config, source: SecretSource): Promise<CheckedLine[]> {
  return checked('secrets', () => {
    const names = namesFor(config.service.auth);
    requireSecrets(source, names, `service.auth is ${config.service.auth}`);
    if (config.webhook !== null) webhookSecrets(source);
    return secretStatus(
      source,
      config.webhook === null ? names : [...names, 'ELIGD_WEBHOOK_SECRET'],
    ).map(({ name, state }) => fine('secrets', `${name} is ${state}.`));
  });
}
