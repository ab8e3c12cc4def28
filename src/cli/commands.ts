import type { Command } from 'commander';
import type { CliContext } from './context.ts';

/** The export of a command's file. */
export type CommandModule = {
  /**
   * Adds description, options, examples, and action to `command`, whose name and summary are
   * already set.
   */
  register: (command: Command, context: CliContext) => void;
};

/**
 * `is_own`: the command does not use the installation's data, so when root runs it, it stays with
 * root (installed.ts). For a command with subcommands, it depends on the arguments.
 */
export type CommandEntry = {
  name: string;
  summary: string;
  load: () => Promise<CommandModule>;
  is_own?: true | ((args: readonly string[]) => boolean);
  /** Its output covers all commands, so all of them must be loaded. */
  needs_all?: true;
};

/**
 * Every command of eligd itself, in the order of `eligd --help`; connector commands follow
 * (connector-commands.ts). To add one, create a file in this folder and add a line here. A file is
 * loaded only when the command line names its command, so `eligd --help` stays fast.
 */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'run',
    summary: 'Run the daemon in the foreground',
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'once',
    summary: 'Run every stage once, for cron and for tests',
    load: () => import('./commands/once.ts'),
  },
  {
    name: 'demo',
    summary: 'Try eligd with made-up patients in a temporary folder',
    load: () => import('./commands/demo.ts'),
    is_own: true,
  },
  {
    name: 'sandbox',
    summary: 'Run a simulated calling service',
    load: () => import('./commands/sandbox.ts'),
    is_own: true,
  },
  {
    name: 'init',
    summary: 'Ask a few questions, then write the configuration and the secrets',
    load: () => import('./commands/init.ts'),
    is_own: true,
  },
  {
    name: 'log',
    summary: 'Show the log as sentences, from the journal or a file',
    load: () => import('./commands/log.ts'),
  },
  {
    name: 'check',
    summary: 'Check configuration, service, connectors, database, clock and disk',
    load: () => import('./commands/check.ts'),
  },
  {
    name: 'status',
    summary: 'Show a one-page summary',
    load: () => import('./commands/status.ts'),
  },
  {
    name: 'list',
    summary: 'List appointments and their status, or the attention list',
    load: () => import('./commands/list.ts'),
  },
  {
    name: 'show',
    summary: 'Show everything about one appointment or inquiry',
    load: () => import('./commands/show.ts'),
  },
  {
    name: 'explain',
    summary: 'Show the history of one appointment, and what it is waiting for',
    load: () => import('./commands/explain.ts'),
  },
  {
    name: 'payers',
    summary: 'List payers that are missing from the payer map, and map one',
    load: () => import('./commands/payers.ts'),
    is_own: (args) => args.includes('map'),
  },
  {
    name: 'preview',
    summary: 'Show the effect and cost of an export; sends and stores nothing',
    load: () => import('./commands/preview.ts'),
  },
  {
    name: 'audit',
    summary: 'Show or verify the audit trail and the access log',
    load: () => import('./commands/audit.ts'),
  },
  {
    name: 'cost',
    summary: 'Show what calls cost, by day, payer and outcome',
    load: () => import('./commands/cost.ts'),
  },
  {
    name: 'ask',
    summary: 'Order another call about a visit that has an answer',
    load: () => import('./commands/ask.ts'),
  },
  {
    name: 'retry',
    summary: 'Retry waiting or abandoned work now',
    load: () => import('./commands/retry.ts'),
  },
  {
    name: 'hold',
    summary: 'Put the planned calls of an appointment on hold',
    load: () => import('./commands/hold.ts'),
  },
  {
    name: 'done',
    summary: 'Take a handled item off the attention list',
    load: () => import('./commands/done.ts'),
  },
  {
    name: 'withdraw',
    summary: 'Cancel calls that have not been sent, and close the appointment',
    load: () => import('./commands/withdraw.ts'),
  },
  {
    name: 'release',
    summary: 'Resume stopped or held calls',
    load: () => import('./commands/release.ts'),
  },
  {
    name: 'inquiry',
    summary: 'Show inquiries as the service has them; read-only',
    load: () => import('./commands/inquiry.ts'),
  },
  {
    name: 'verification',
    summary: "Show the service's checks of the calls for an inquiry",
    load: () => import('./commands/verification.ts'),
  },
  {
    name: 'subscription',
    summary: 'Show or change where the service sends webhook events',
    load: () => import('./commands/subscription.ts'),
  },
  {
    name: 'alert',
    summary: 'Send a test alert',
    load: () => import('./commands/alert.ts'),
  },
  {
    name: 'backup',
    summary: 'Make a verified copy of the database while the daemon runs',
    load: () => import('./commands/backup.ts'),
  },
  {
    name: 'restore',
    summary: 'Restore the database from a backup',
    load: () => import('./commands/restore.ts'),
  },
  {
    name: 'database',
    summary: 'Encrypt the database and its copies, or change the key',
    load: () => import('./commands/database.ts'),
    is_own: (args) => args.includes('key') && !args.includes('--current'),
  },
  {
    name: 'purge',
    summary: 'Permanently delete data past its retention time',
    load: () => import('./commands/purge.ts'),
  },
  {
    name: 'legal-hold',
    summary: 'Keep all data about a patient, regardless of age',
    load: () => import('./commands/legal-hold.ts'),
  },
  {
    name: 'user',
    summary: 'Manage who may log in to the office page',
    load: () => import('./commands/user.ts'),
  },
  {
    name: 'config',
    summary: 'Show the effective configuration, or its JSON Schema',
    load: () => import('./commands/config.ts'),
  },
  {
    name: 'completion',
    summary: 'Print completion for bash, zsh or fish, or the man page',
    load: () => import('./commands/completion.ts'),
    is_own: true,
    needs_all: true,
  },
];
