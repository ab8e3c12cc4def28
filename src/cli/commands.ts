import type { Command } from 'commander';
import type { CliContext } from './context.ts';

/** What the file of a command exports. */
export type CommandModule = {
  /** Adds description, options, examples and action to `command`, which has its name and summary already. */
  register: (command: Command, context: CliContext) => void;
};

export type CommandEntry = { name: string; summary: string; load: () => Promise<CommandModule> };

/**
 * Every command, in the order of `eligd --help`. A new one is a file in this folder and a line here; its file is loaded only
 * when the command line names it, so that `eligd --help` stays quick.
 */
export const COMMANDS: readonly CommandEntry[] = [
  { name: 'sandbox', summary: 'the inquiry service alone, for trying out', load: () => import('./sandbox.ts') },
  {
    name: 'config',
    summary: 'the JSON Schema of the configuration, and the effective values',
    load: () => import('./config.ts'),
  },
];
