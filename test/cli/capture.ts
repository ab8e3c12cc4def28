import type { CommandEntry } from '../../src/cli/commands.ts';
import type { CliContext, Host } from '../../src/cli/context.ts';
import { allCommands, runCli } from '../../src/cli/program.ts';

/** Runs one command line in this process and returns its output. */
export async function run(
  args: string[],
  host: Partial<Host> = {},
  commands: readonly CommandEntry[] = allCommands(),
) {
  const printed = { stdout: '', stderr: '' };
  const to = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      printed[name] += text;
    },
  });
  const code = await runCli(
    args,
    { stdout: to('stdout'), stderr: to('stderr'), environment: {}, cwd: '/nowhere', ...host },
    commands,
  );
  return { code, ...printed };
}

/** A command named `probe` whose action is `action`. */
export function probe(action: (context: CliContext) => unknown): CommandEntry[] {
  return [
    {
      name: 'probe',
      summary: 'a command of a test',
      load: async () => ({
        register: (command, context) => {
          command.action(async () => {
            await action(context);
          });
        },
      }),
    },
  ];
}
