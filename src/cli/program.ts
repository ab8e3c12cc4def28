import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { COMMANDS, type CommandEntry } from './commands.ts';
import { createContext, type Host } from './context.ts';
import { EXIT_CODES, type ExitCode, reportError } from './exit.ts';

/** Runs one command line (without `node` and the script) to its end and gives the exit code. Never throws. */
export async function runCli(
  args: readonly string[],
  host: Host,
  commands: readonly CommandEntry[] = COMMANDS,
): Promise<ExitCode> {
  try {
    const program = await createProgram(args, host, commands);
    await program.parseAsync([...args], { from: 'user' });
    return EXIT_CODES.done;
  } catch (error) {
    return reportError(error, host);
  }
}

async function createProgram(args: readonly string[], host: Host, commands: readonly CommandEntry[]): Promise<Command> {
  const program = new Command('eligd')
    .description("Asks patients' payers about their coverage by phone before the visit, and writes the answer back into the PMS.")
    .option('--config <file>', 'the configuration (default: $ELIGD_CONFIG, ./config/eligd.yaml, /etc/eligd/eligd.yaml)')
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
    .showHelpAfterError('Run "eligd --help", or "eligd COMMAND --help", to see what there is.')
    .exitOverride();
  program.addHelpText(
    'after',
    '\nExit codes: 0 done, 1 failed, 2 usage, 75 temporary (service or PMS away), 78 configuration.\n',
  );
  const context = createContext(host, () => program.opts<{ config?: string }>().config);
  for (const { name, summary, load } of commands) {
    const command = program.command(name).summary(summary).description(summary);
    if (args.includes(name)) (await load()).register(command, context);
  }
  return program;
}

function helpWidth(columns: number | undefined): number {
  return Math.min(columns ?? 100, 120);
}

function version(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
  return manifest.version;
}
