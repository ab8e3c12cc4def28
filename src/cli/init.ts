import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { EligdError } from '../domain/errors.ts';
import { SPECIALTIES } from '../domain/specialty.ts';
import { judgeNewConfig, type NewInstallation, newConfigText } from '../ops/new-config.ts';
import { namesFor, SECRETS, type SecretName } from '../ops/secrets.ts';
import type { CliContext } from './context.ts';
import { type Asker, openAsker } from './init/ask.ts';
import { runCheck, writeInstallation } from './init/files.ts';
import { SYSTEM, startSystem, writeSystem } from './init/system.ts';

type Options = Partial<
  Record<'clinicName' | 'timeZone' | 'specialty' | 'taxId' | 'billingNpi' | 'baseUrl' | 'auth' | 'folder', string>
> & {
  yes?: true;
  system?: true;
};

type Question = { key: keyof Options & string; flag: string; ask: string; or?: string };

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Asks what eligd has to know, writes a commented configuration and the secrets (mode 600), and runs "eligd check". ' +
        'With --system it sets the installed service up: secrets as credentials of systemd, a drop-in with the drop folder, and the start.',
    )
    .option('--clinic-name <name>', 'the name of the clinic, as the payer should hear it')
    .option('--time-zone <zone>', 'IANA name, such as America/Chicago')
    .option('--specialty <word>', SPECIALTIES.join(' | '))
    .option('--tax-id <digits>', 'tax id of the billing practice')
    .option('--billing-npi <digits>', 'NPI of the billing practice')
    .option('--base-url <address>', 'address of the inquiry service')
    .option('--auth <way>', 'oauth | basic')
    .option('--folder <path>', 'the drop folder')
    .option('--system', 'for the service of this machine; needs root')
    .option('--yes', 'ask nothing: take flags and defaults, and secrets from the environment')
    .addHelpText(
      'after',
      `
Secrets are asked for, or taken from the environment (${Object.keys(SECRETS).slice(0, 4).join(', ')}).
They are no flags, because every user of the machine can read the flags of a program.

Examples:
  eligd init
  eligd init --system
  ELIGD_SERVICE_USERNAME=clinic ELIGD_SERVICE_PASSWORD=sandbox eligd init --yes --clinic-name "Riverside Dental" \\
    --tax-id 123456789 --billing-npi 1234567893 --base-url http://127.0.0.1:8700
`,
    )
    .action(async (options: Options) => {
      if (options.system) SYSTEM.requireRoot();
      const file = targetFile(context, options);
      if (existsSync(file)) throw exists(file);
      const asker = options.yes ? null : openAsker(context.stderr);
      try {
        const values = await collect(options, file, asker);
        const text = newConfigText(values);
        await judgeNewConfig(text, file);
        const secrets = await collectSecrets(values.auth, context.environment, asker);
        if (options.system) await finishSystem(context, file, text, values, secrets);
        else {
          writeInstallation(file, text, secrets);
          context.stdout.write(`Written: ${file} and ${resolve(dirname(file), '.env')}\n\n`);
          await runCheck(context, file, { secrets, user: null });
        }
      } finally {
        asker?.close();
      }
    });
}

async function finishSystem(
  context: CliContext,
  file: string,
  text: string,
  values: NewInstallation,
  secrets: ReadonlyMap<SecretName, string>,
): Promise<void> {
  const written = writeSystem({ file, text, folder: values.folder, secrets });
  context.stdout.write(`Written: ${written.join(', ')}\n\n`);
  // A service that is away for the moment keeps nobody from starting; what is wrong here does.
  await runCheck(context, file, { secrets, user: SYSTEM.user });
  context.stdout.write(startSystem());
}

function targetFile(context: CliContext, { system }: Options): string {
  const named = context.configOption();
  if (system) {
    if (named !== undefined && named !== SYSTEM.config_file) {
      throw new EligdError('usage', {
        what: `--system writes ${SYSTEM.config_file}, and --config names another file.`,
        why: 'The service of this machine reads that file.',
        next: 'Leave --config out.',
      });
    }
    return SYSTEM.config_file;
  }
  return resolve(context.cwd, named ?? 'config/eligd.yaml');
}

function exists(file: string): EligdError {
  return new EligdError('failed', {
    what: `${file} exists already, and nothing was changed.`,
    why: '"eligd init" never replaces a configuration.',
    next: 'Edit it and run "eligd check", or move it away and run the same command again.',
  });
}

async function collect(options: Options, file: string, asker: Asker | null): Promise<NewInstallation> {
  const questions: Question[] = [
    { key: 'clinicName', flag: '--clinic-name', ask: 'Name of the clinic, as the payer should hear it' },
    {
      key: 'timeZone',
      flag: '--time-zone',
      ask: 'Time zone (IANA name)',
      or: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    },
    { key: 'specialty', flag: '--specialty', ask: `Specialty (${SPECIALTIES.join(', ')})`, or: 'dental' },
    { key: 'taxId', flag: '--tax-id', ask: 'Tax id of the billing practice (9 digits)' },
    { key: 'billingNpi', flag: '--billing-npi', ask: 'NPI of the billing practice (10 digits)' },
    { key: 'baseUrl', flag: '--base-url', ask: 'Address of the inquiry service (https://…)' },
    { key: 'auth', flag: '--auth', ask: 'Login: oauth (user name and password) or basic (project id and API key)', or: 'oauth' },
    { key: 'folder', flag: '--folder', ask: 'Drop folder', or: options.system ? SYSTEM.drop_folder : './dropbox' },
  ];
  const answers: Record<string, string> = {};
  const missing: string[] = [];
  for (const { key, flag, ask, or } of questions) {
    const given = options[key];
    const answer = typeof given === 'string' ? given : asker === null ? or : await asker.ask(ask, or);
    if (answer === undefined) missing.push(flag);
    else answers[key] = answer;
  }
  if (missing.length > 0) {
    throw new EligdError('usage', {
      what: `With --yes these flags are needed too: ${missing.join(', ')}.`,
      why: 'They have no default.',
      next: 'Add them, or leave --yes out to be asked.',
    });
  }
  const { auth, folder = '' } = answers;
  return {
    clinic_name: answers.clinicName ?? '',
    time_zone: answers.timeZone ?? '',
    specialty: answers.specialty ?? '',
    tax_id: answers.taxId ?? '',
    billing_npi: answers.billingNpi ?? '',
    base_url: answers.baseUrl ?? '',
    auth: auth === 'basic' ? 'basic' : auth === 'oauth' ? 'oauth' : refuseAuth(auth ?? ''),
    folder: options.system ? resolve(dirname(file), folder) : folder,
    state_path: options.system ? SYSTEM.state_path : './state/eligd.db',
  };
}

function refuseAuth(auth: string): never {
  throw new EligdError('usage', {
    what: `"${auth}" is no way of logging in.`,
    why: 'The service knows oauth (user name and password) and basic (project id and API key).',
    next: 'Write --auth oauth or --auth basic.',
  });
}

async function collectSecrets(
  auth: 'oauth' | 'basic',
  environment: CliContext['environment'],
  asker: Asker | null,
): Promise<Map<SecretName, string>> {
  const found = new Map<SecretName, string>();
  for (const name of namesFor(auth)) {
    const value = environment[name] ?? (asker === null ? undefined : await asker.askSecret(SECRETS[name]));
    if (value) found.set(name, value);
  }
  const missing = namesFor(auth).filter((name) => !found.has(name));
  if (missing.length === 0) return found;
  throw new EligdError('usage', {
    what: `Secrets are missing: ${missing.join(', ')}.`,
    why: `auth is ${auth}, and neither the environment nor an answer has them.`,
    next: 'Put them into the environment of this command, or leave --yes out to be asked.',
  });
}
