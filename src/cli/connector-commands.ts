import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import {
  type CommandCall,
  type CommandOption,
  type ConnectorCommand,
  ConnectorError,
  type ConnectorType,
} from '../../connectors/contract.ts';
import { EligdError } from '../domain/errors.ts';
import { builtInTypesWithCommands } from '../ops/built-in-connectors.ts';
import type { CommandEntry, CommandModule } from './commands.ts';
import type { CliContext } from './context.ts';

/**
 * Returns one command for each built-in connector that has commands: `eligd fhir keygen` is
 * `keygen` of `fhir`. They are found by folder, so a connector is imported only when the command
 * line names it.
 */
export function builtInConnectorCommands(): CommandEntry[] {
  return builtInTypesWithCommands().map((name) => ({
    ...entry(name),
    load: async () => {
      const { loadConnectorType } = await import('../ops/connectors.ts');
      return commandModule(await loadConnectorType(name));
    },
  }));
}

/**
 * Returns the commands of the connector called `name`, if the configuration names it by its
 * module's path; null otherwise. The rest of the configuration may be unfinished.
 */
export async function configuredConnectorCommand(
  name: string,
  context: CliContext,
): Promise<CommandEntry | null> {
  const [{ configuredModules }, { loadConnectorType }] = await Promise.all([
    import('../ops/config.ts'),
    import('../ops/connectors.ts'),
  ]);
  for (const file of configuredModules(configFileOrNone(context))) {
    const type = await loadConnectorType(file);
    if (type.name === name && type.commands !== undefined)
      return { ...entry(name), load: async () => commandModule(type) };
  }
  return null;
}

/** Without a configuration, an unknown word is only that. */
function configFileOrNone(context: CliContext): string {
  try {
    return context.configFile();
  } catch (error) {
    if (error instanceof EligdError) return '';
    throw error;
  }
}

/** `is_own`: these commands use none of the installation's data. */
function entry(name: string): Omit<CommandEntry, 'load'> {
  return { name, summary: `Commands of the ${name} connector`, is_own: true };
}

function commandModule({ name, commands = {} }: ConnectorType): CommandModule {
  return {
    register: (parent, context) => {
      const examples = Object.values(commands).map((command) => command.examples[0]);
      parent.addHelpText('after', examplesHelp(examples));
      for (const [word, command] of Object.entries(commands))
        register(parent.command(word), { ...command, title: `eligd ${name} ${word}` }, context);
    },
  };
}

function register(
  command: Command,
  { title, description, options = {}, examples, run }: ConnectorCommand & { title: string },
  context: CliContext,
): void {
  command.description(description).addHelpText('after', examplesHelp(examples));
  for (const [name, option] of Object.entries(options)) command.addOption(toOption(name, option));
  command.action(async () => {
    const typed = command.options.map((option) => [
      option.name(),
      command.getOptionValue(option.attributeName()),
    ]);
    const call = await callOf(
      Object.fromEntries(typed.filter(([, value]) => value !== undefined)),
      context,
    );
    try {
      await run(call);
    } catch (error) {
      throw error instanceof ConnectorError ? toEligdError(title, error) : error;
    }
  });
}

function toOption(name: string, option: CommandOption): Option {
  const made = new Option(`--${name} <${option.value}>`, option.description);
  if (option.default !== undefined) made.default(option.default);
  if (option.choices !== undefined) made.choices(option.choices);
  return made.makeOptionMandatory(option.is_required ?? false);
}

async function callOf(
  options: CommandCall['options'],
  { cwd, stdout, stderr }: CliContext,
): Promise<CommandCall> {
  const { readKeyFile } = await import('../ops/open-connectors.ts');
  return {
    options,
    resolvePath: (path) => resolve(cwd, path),
    readKeyFile: async (path, { is_secret }) => readKeyFile(resolve(cwd, path), is_secret),
    print: (text) => void stdout.write(text),
    tell: (text) => void stderr.write(text),
  };
}

function toEligdError(title: string, error: ConnectorError): EligdError {
  return new EligdError(error.failure === 'transient' ? 'temporary' : 'failed', {
    what: `"${title}" failed.`,
    why: error.message,
    next: error.next,
    cause: error,
  });
}

function examplesHelp(examples: readonly string[]): string {
  return `\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}`;
}
