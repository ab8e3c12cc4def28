import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { EligdError } from '../../domain/errors.ts';
import { SPECIALTIES } from '../../domain/specialty.ts';
import { judgeNewConfig, type NewInstallation, newConfigText } from '../../ops/new-config.ts';
import { namesFor, SECRETS, type SecretName } from '../../ops/secrets.ts';
import type { CliContext } from '../context.ts';
import { type Asker, openAsker } from '../init/ask.ts';
import { systemDatabaseKey } from '../init/database-key.ts';
import { runCheck, writeInstallation } from '../init/files.ts';
import { requireRoot, type SystemInstallation, startSystem, writeSystem } from '../init/system.ts';
import { asServiceUser, INSTALLED, serviceSecrets, serviceSettings } from '../installed.ts';

type Options = Partial<
  Record<
    | 'clinicName'
    | 'timeZone'
    | 'specialty'
    | 'taxId'
    | 'billingNpi'
    | 'baseUrl'
    | 'auth'
    | 'folder',
    string
  >
> & {
  yes?: true;
  system?: true;
};

/** `at`: the key of the answer in the configuration. */
type Question = { key: keyof Options & string; flag: string; at: string; ask: string; or?: string };

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Asks what eligd needs to know, writes a commented configuration and the secrets (mode ' +
        '600), and runs "eligd check". With --system, it sets up and starts the installed ' +
        'service, with the secrets as systemd credentials and a drop-in for the drop folder.',
    )
    .option('--clinic-name <name>', 'the name of the clinic, as the payer should hear it')
    .option('--time-zone <zone>', 'IANA name, such as America/Chicago')
    .option('--specialty <word>', SPECIALTIES.join(' | '))
    .option('--tax-id <digits>', 'tax ID of the billing practice')
    .option('--billing-npi <digits>', 'NPI of the billing practice')
    .option('--base-url <address>', 'address of the calling service')
    .option('--auth <way>', 'oauth | basic')
    .option('--folder <path>', 'the drop folder')
    .option('--system', 'set up the installed service; needs root')
    .option('--yes', 'do not ask: take flags and defaults, and secrets from the environment')
    .addHelpText(
      'after',
      `
Secrets are asked for, or taken from the environment:
${Object.keys(SECRETS)
  .slice(0, 4)
  .map((name) => `  ${name}\n`)
  .join('')}They are not flags, because every user of the machine can read the flags of a
program.

Examples:
  eligd init
  eligd init --system
  ELIGD_SERVICE_USERNAME=clinic ELIGD_SERVICE_PASSWORD=sandbox \\
    eligd init --yes --clinic-name "Riverside Dental" \\
    --time-zone America/Chicago --tax-id 123456789 \\
    --billing-npi 1234567893 --base-url http://127.0.0.1:8700
`,
    )
    .action(async (options: Options) => {
      if (options.system) requireRoot();
      const file = targetFile(context, options);
      if (existsSync(file)) throw exists(file);
      const asker = options.yes ? null : openAsker(context.stderr);
      try {
        const { values, text } = await collect(options, file, asker, context);
        const secrets = await collectSecrets(values.auth, context.environment, asker);
        if (options.system)
          await finishSystem(context, { file, text, folder: values.folder, secrets });
        else {
          writeInstallation(file, text, secrets);
          context.stdout.write(`Written: ${file} and ${resolve(dirname(file), '.env')}\n`);
          context.stdout.write(
            isFoundAlone(context, file) ? '\n' : `Start every command with --config ${file}\n\n`,
          );
          await runCheck(context, file, Object.fromEntries(secrets));
        }
      } finally {
        asker?.close();
      }
    });
}

async function finishSystem(context: CliContext, installation: SystemInstallation): Promise<void> {
  const key = systemDatabaseKey({
    given: context.environment.ELIGD_DATABASE_KEY,
    kept: serviceSecrets(context.stderr).ELIGD_DATABASE_KEY,
    has_database: existsSync(INSTALLED.state_path),
  });
  const secrets = new Map([...installation.secrets, ...key.secrets]);
  const written = writeSystem({ ...installation, secrets });
  context.stdout.write(`Written: ${written.join(', ')}\n\n${key.said}`);
  // A temporarily unavailable service does not keep you from starting; an error on this machine
  // does.
  await runCheck(
    context,
    installation.file,
    { ...serviceSettings(), ...serviceSecrets(context.stderr) },
    asServiceUser,
  );
  context.stdout.write(startSystem());
}

function targetFile(context: CliContext, { system }: Options): string {
  const named = context.configOption();
  if (system) {
    if (named !== undefined && named !== INSTALLED.config_file) {
      throw new EligdError('usage', {
        what: `--system writes ${INSTALLED.config_file}, but --config names a different file.`,
        why: 'The installed service reads that file.',
        next: 'Leave out --config.',
      });
    }
    return INSTALLED.config_file;
  }
  return resolve(context.cwd, named ?? 'config/eligd.yaml');
}

/** Returns whether a command without --config finds `file`, which was just written. */
function isFoundAlone(context: CliContext, file: string): boolean {
  try {
    return context.configFile() === file;
  } catch {
    return false;
  }
}

function exists(file: string): EligdError {
  return new EligdError('failed', {
    what: `${file} already exists; nothing was changed.`,
    why: '"eligd init" never replaces a configuration.',
    next: 'Edit it and run "eligd check", or move it away and run this command again.',
  });
}

function questionsFor({ system }: Options): Question[] {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return [
    {
      key: 'clinicName',
      flag: '--clinic-name',
      at: 'clinic.name',
      ask: 'Name of the clinic, as the payer should hear it',
    },
    {
      key: 'timeZone',
      flag: '--time-zone',
      at: 'clinic.time_zone',
      ask: 'Time zone (IANA name)',
      // A server often runs on UTC, which is not the time zone of a clinic, so the question has no
      // default.
      ...(isUtc(zone) ? {} : { or: zone }),
    },
    {
      key: 'specialty',
      flag: '--specialty',
      at: 'clinic.specialty',
      ask: `Specialty (${SPECIALTIES.join(', ')})`,
      or: 'dental',
    },
    {
      key: 'taxId',
      flag: '--tax-id',
      at: 'clinic.tax_id',
      ask: 'Tax ID of the billing practice (9 digits)',
    },
    {
      key: 'billingNpi',
      flag: '--billing-npi',
      at: 'clinic.billing_npi',
      ask: 'NPI of the billing practice (10 digits)',
    },
    {
      key: 'baseUrl',
      flag: '--base-url',
      at: 'service.base_url',
      ask: 'Address of the calling service (https://…)',
    },
    {
      key: 'auth',
      flag: '--auth',
      at: 'service.auth',
      ask: 'Login: oauth (user name and password) or basic (project ID and API key)',
      or: 'oauth',
    },
    {
      key: 'folder',
      flag: '--folder',
      at: 'connectors[0].folder',
      ask: 'Drop folder',
      or: system ? INSTALLED.drop_folder : './dropbox',
    },
  ];
}

function isUtc(zone: string): boolean {
  return /^(?:Etc\/.*|UTC|UCT|GMT.*|Zulu|Universal|Greenwich)$/.test(zone);
}

/** Removes the quotes of the configuration's format from digits, as a shell may pass them on. */
function withoutQuotes(key: string, answer: string): string {
  if (key !== 'taxId' && key !== 'billingNpi') return answer;
  return answer.trim().replaceAll(/^["'\u201c\u201d]+|["'\u201c\u201d]+$/g, '');
}

/**
 * Collects flags, defaults, and answers. It asks again after an invalid value; with --yes it ends
 * the command.
 */
async function collect(
  options: Options,
  file: string,
  asker: Asker | null,
  { stderr }: CliContext,
): Promise<{ values: NewInstallation; text: string }> {
  const questions = questionsFor(options);
  const answers = new Map<string, string>();
  const missing: string[] = [];
  for (const { key, flag, ask, or } of questions) {
    const given = options[key];
    const answer =
      typeof given === 'string' ? given : asker === null ? or : await asker.ask(ask, or);
    if (answer === undefined) missing.push(flag);
    else answers.set(key, withoutQuotes(key, answer));
  }
  if (missing.length > 0) {
    throw new EligdError('usage', {
      what: `With --yes these flags are needed too: ${missing.join(', ')}.`,
      why: 'They have no defaults.',
      next: 'Add them, or leave out --yes to be asked.',
    });
  }
  for (;;) {
    const values = installationOf(answers, file, options);
    const text = newConfigText(values);
    const problems = (await judgeNewConfig(text, file)).map(({ path, what, next }) => {
      const question = questions.find(({ at }) => path === at);
      // The command adds the quotes when it writes the file, so the answer must not have them.
      const advice = question === undefined ? next : next.replaceAll(/ in quotes|"/g, '');
      return { question, said: `- ${question?.flag ?? path}: ${what} ${advice}` };
    });
    if (problems.length === 0) return { values, text };
    const said = problems.map((each) => each.said).join('\n');
    if (asker === null || problems.some(({ question }) => question === undefined))
      throw wrongAnswers(said);
    stderr.write(`\nThis is not valid:\n${said}\n\n`);
    for (const { question } of problems)
      if (question !== undefined)
        answers.set(question.key, withoutQuotes(question.key, await asker.ask(question.ask)));
  }
}

function installationOf(
  answers: ReadonlyMap<string, string>,
  file: string,
  { system }: Options,
): NewInstallation {
  const answer = (key: keyof Options) => answers.get(key) ?? '';
  return {
    clinic_name: answer('clinicName'),
    time_zone: answer('timeZone'),
    specialty: answer('specialty'),
    tax_id: answer('taxId'),
    billing_npi: answer('billingNpi'),
    base_url: answer('baseUrl'),
    auth: answer('auth'),
    folder: system ? resolve(dirname(file), answer('folder')) : answer('folder'),
    state_path: system ? INSTALLED.state_path : './state/eligd.db',
  };
}

function wrongAnswers(said: string): EligdError {
  return new EligdError('usage', {
    what: 'Some values are not valid; nothing was written.',
    why: said,
    next: 'Correct the command and run it again.',
  });
}

async function collectSecrets(
  auth: string,
  environment: CliContext['environment'],
  asker: Asker | null,
): Promise<Map<SecretName, string>> {
  const found = new Map<SecretName, string>();
  const names = namesFor(auth === 'basic' ? 'basic' : 'oauth');
  for (const name of names) {
    const value =
      environment[name] ?? (asker === null ? undefined : await asker.askSecret(SECRETS[name]));
    if (value) found.set(name, value);
  }
  const missing = names.filter((name) => !found.has(name));
  if (missing.length === 0) return found;
  throw new EligdError('usage', {
    what: `Secrets are missing: ${missing.join(', ')}.`,
    why: `auth is ${auth}, and neither the environment nor your answers contain them.`,
    next: 'Put them into the environment of this command, or leave out --yes to be asked.',
  });
}
