import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { COMMANDS, type CommandEntry } from './commands.ts';
import { builtInConnectorCommands, configuredConnectorCommand } from './connector-commands.ts';
import { type CliContext, createContext, type Host } from './context.ts';
import { EXIT_CODES, reportError } from './exit.ts';
import { fittedHost } from './fitted.ts';
import { carryOutForService, isForService } from './installed.ts';

/** Returns every command of eligd and of its built-in connectors, in the order of the help. */
export function allCommands(): CommandEntry[] {
  return [...COMMANDS, ...builtInConnectorCommands()];
}

/**
 * Runs one command line (without `node` and the script) and returns the exit code. Never throws.
 */
export async function runCli(
  args: readonly string[],
  given: Host,
  commands: readonly CommandEntry[] = allCommands(),
): Promise<number> {
  const host = fittedHost(given);
  try {
    const program = await createProgram(args, host, commands);
    await program.parseAsync([...args], { from: 'user' });
    return EXIT_CODES.done;
  } catch (error) {
    if (error instanceof CarriedOut) return error.code;
    return reportError(error, host);
  }
}

/** The service's user ran the command, and it ended with `code`. */
class CarriedOut extends Error {
  readonly code: number;

  constructor(code: number) {
    super();
    this.code = code;
  }
}

async function createProgram(
  args: readonly string[],
  host: Host,
  commands: readonly CommandEntry[],
): Promise<Command> {
  const program = new Command('eligd')
    .description(
      "Has payers phoned about patients' coverage before the visit, and writes the " +
        'answer back into the PMS.',
    )
    .option(
      '--config <file>',
      'the configuration (default: $ELIGD_CONFIG, ./config/eligd.yaml in a working copy, ' +
        '/etc/eligd/eligd.yaml)',
    )
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help of a command')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void host.stdout.write(text),
      writeErr: (text) => void host.stderr.write(text),
      getOutHelpWidth: () => helpWidth(host.stdout.columns),
      getErrHelpWidth: () => helpWidth(host.stderr.columns),
      outputError: (text, write) => write(text.replace(/^error: /, 'eligd: ')),
    })
    .showHelpAfterError('For usage, run "eligd --help" or "eligd COMMAND --help".')
    .exitOverride();
  program.addHelpText(
    'after',
    '\nExit codes: 0 done, 1 failed, 2 usage, 75 temporary (service or PMS not\n' +
      'available), 78 configuration.\n',
  );
  const context = createContext(host, () => program.opts<{ config?: string }>().config);
  const configured = await unknownCommand(program, args, { commands, context });
  const needs_all = commands.some(({ name, needs_all }) => needs_all && args.includes(name));
  for (const { name, summary, load, is_own } of [...commands, ...configured]) {
    const command = program.command(name).summary(summary).description(summary);
    if (is_own === undefined || (is_own !== true && !is_own(args)))
      command.hook('preAction', () => carryOut(args, context));
    if (needs_all || args.includes(name)) (await load()).register(command, context);
  }
  return program;
}

/**
 * Handles a word that is not in `commands`: it may be a connector of the configuration. Without a
 * configuration it is unknown, and commander says so.
 */
async function unknownCommand(
  program: Command,
  args: readonly string[],
  { commands, context }: { commands: readonly CommandEntry[]; context: CliContext },
): Promise<CommandEntry[]> {
  const [first, second] = program.parseOptions([...args]).operands;
  const word = first === 'help' ? second : first;
  if (word === undefined || commands.some(({ name }) => name === word)) return [];
  const found = await configuredConnectorCommand(word, context);
  return found === null ? [] : [found];
}

async function carryOut(args: readonly string[], context: CliContext): Promise<void> {
  if (!isForService(context.configFile)) return;
  throw new CarriedOut(await carryOutForService(args, context));
}

function helpWidth(columns: number | undefined): number {
  return Math.min(columns ?? 100, 120);
}

function version(): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
  );
  return manifest.version;
}
