import { Argument, type Command } from 'commander';
import { type CliContext, verbatim } from '../context.ts';
import { COMPLETIONS, manPage } from '../shell-files.ts';

const FORMS = ['bash', 'zsh', 'fish', 'man'] as const;
type Form = (typeof FORMS)[number];

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Prints shell completion, or the man page, for the commands and options of this version. ' +
        'The package installs all of them.',
    )
    .addArgument(new Argument('<form>', 'what to print').choices(FORMS))
    .addHelpText(
      'after',
      `
Examples:
  eligd completion bash > ~/.local/share/bash-completion/completions/eligd
  eligd completion zsh > ~/.zfunc/_eligd
  eligd completion fish > ~/.config/fish/completions/eligd.fish
  eligd completion man | man -l -
`,
    )
    .action((form: Form) => {
      const program = command.parent ?? command;
      const made = form === 'man' ? manPage(program) : COMPLETIONS[form](program);
      verbatim(context.stdout).write(made);
    });
}
