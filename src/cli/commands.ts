import type { Command } from 'commander';
import type { CliContext } from './context.ts';

/** What the file of a command exports. */
export type CommandModule = {
  /**
   * Adds description, options, examples and action to `command`, which has its name and summary
   * already.
   */
  register: (command: Command, context: CliContext) => void;
};

/**
 * `is_own`: it does not work on the installation's data, so that root's call of it stays root's
 * (installed.ts); for a command of several, by its arguments.
 */
export type CommandEntry = {
  name: string;
  summary: string;
  load: () => Promise<CommandModule>;
  is_own?: true | ((args: readonly string[]) => boolean);
  /** It speaks of all commands, so that all of them are loaded for it. */
  needs_all?: true;
};

/**
 * Every command of eligd itself, in the order of `eligd --help`; those of connectors come after
 * them (connector-commands.ts). A new one is a file in this folder and a line
 * here; its file is loaded only when the command line names it, so that `eligd --help` stays quick.
 */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'run',
    summary: 'the daemon, in the foreground',
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'once',
    summary: 'every stage once, for cron and for trying out',
    load: () => import('./commands/once.ts'),
  },
  {
    name: 'demo',
    summary: 'sandbox, daemon and a drop folder in a temporary directory',
    load: () => import('./commands/demo.ts'),
    is_own: true,
  },
  {
    name: 'sandbox',
    summary: 'the inquiry service alone, for trying out',
    load: () => import('./commands/sandbox.ts'),
    is_own: true,
  },
  {
    name: 'init',
    summary: 'asks, then writes a configuration and the secrets',
    load: () => import('./commands/init.ts'),
    is_own: true,
  },
  {
    name: 'log',
    summary: 'the log as sentences, from the journal or a file',
    load: () => import('./commands/log.ts'),
  },
  {
    name: 'check',
    summary: 'configuration, service, connectors, database, clock and disk: a line each',
    load: () => import('./commands/check.ts'),
  },
  {
    name: 'status',
    summary: 'one-page status summary',
    load: () => import('./commands/status.ts'),
  },
  {
    name: 'list',
    summary: 'appointments with their situation, and the attention list',
    load: () => import('./commands/list.ts'),
  },
  {
    name: 'show',
    summary: 'everything about one appointment or inquiry',
    load: () => import('./commands/show.ts'),
  },
  {
    name: 'explain',
    summary: 'the story of one appointment, and what it waits for',
    load: () => import('./commands/explain.ts'),
  },
  {
    name: 'payers',
    summary: 'insurance companies that the payer map does not have, and how to map one',
    load: () => import('./commands/payers.ts'),
    is_own: (args) => args.includes('map'),
  },
  {
    name: 'preview',
    summary: 'what an export would cause and cost; sends and stores nothing',
    load: () => import('./commands/preview.ts'),
  },
  {
    name: 'audit',
    summary: 'who did what and looked at what, and whether the record of it is whole',
    load: () => import('./commands/audit.ts'),
  },
  {
    name: 'cost',
    summary: 'what calls cost, by day, payer and outcome',
    load: () => import('./commands/cost.ts'),
  },
  {
    name: 'ask',
    summary: 'orders another call about a visit whose answer is there',
    load: () => import('./commands/ask.ts'),
  },
  {
    name: 'retry',
    summary: 'tries at once what waits or was given up',
    load: () => import('./commands/retry.ts'),
  },
  {
    name: 'hold',
    summary: 'keeps the planned calls of an appointment back',
    load: () => import('./commands/hold.ts'),
  },
  {
    name: 'done',
    summary: 'takes a handled item off the attention list',
    load: () => import('./commands/done.ts'),
  },
  {
    name: 'withdraw',
    summary: 'takes back what was not sent, and closes the appointment',
    load: () => import('./commands/withdraw.ts'),
  },
  {
    name: 'release',
    summary: 'resumes what was stopped or held',
    load: () => import('./commands/release.ts'),
  },
  {
    name: 'inquiry',
    summary: 'inquiries as the service has them; reads only',
    load: () => import('./commands/inquiry.ts'),
  },
  {
    name: 'verification',
    summary: "the service's checks of the calls for an inquiry",
    load: () => import('./commands/verification.ts'),
  },
  {
    name: 'subscription',
    summary: 'where the service reports changes to',
    load: () => import('./commands/subscription.ts'),
  },
  {
    name: 'alert',
    summary: 'tests the targets of alerts',
    load: () => import('./commands/alert.ts'),
  },
  {
    name: 'backup',
    summary: 'a verified copy of the database, while the daemon runs',
    load: () => import('./commands/backup.ts'),
  },
  {
    name: 'restore',
    summary: 'restores the database from a backup',
    load: () => import('./commands/restore.ts'),
  },
  {
    name: 'database',
    summary: 'encrypts the database and its copies, and changes the key',
    load: () => import('./commands/database.ts'),
    is_own: (args) => args.includes('key') && !args.includes('--current'),
  },
  {
    name: 'purge',
    summary: 'deletes for good what is older than retention: says',
    load: () => import('./commands/purge.ts'),
  },
  {
    name: 'legal-hold',
    summary: 'keeps everything about a patient, however old',
    load: () => import('./commands/legal-hold.ts'),
  },
  {
    name: 'user',
    summary: 'who may log in to the office’s page',
    load: () => import('./commands/user.ts'),
  },
  {
    name: 'config',
    summary: 'the JSON Schema of the configuration, and the effective values',
    load: () => import('./commands/config.ts'),
  },
  {
    name: 'completion',
    summary: 'completion for bash, zsh and fish, and the man page',
    load: () => import('./commands/completion.ts'),
    is_own: true,
    needs_all: true,
  },
];
