import type { Command } from 'commander';
import { EligdError } from '../../domain/errors.ts';
import { handle } from '../../store/bookkeeping/handled.ts';
import type { CliContext } from '../context.ts';
import { operate } from '../operate.ts';
import { ID_HELP } from '../subject.ts';

const NOTE_CHARS_MAX = 500;

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Takes a handled item off the attention list. It stays off until the answer changes.',
    )
    .argument('<id>', ID_HELP)
    .option('--note <text>', 'what was done; "eligd explain" shows it', '')
    .option('--json', 'as JSON (docs/json.md, eligd.operation/1)')
    .addHelpText(
      'after',
      '\nExamples:\n  eligd done 12045\n  eligd done 12045 --note "Patient has new insurance"\n',
    )
    .action(async (id: string, { note, json }: { note: string; json?: true }) => {
      if (note.length > NOTE_CHARS_MAX)
        throw new EligdError('usage', {
          what: 'The note is too long.',
          why: `It has ${note.length} characters; ${NOTE_CHARS_MAX} fit.`,
          next: 'Write a shorter note.',
        });
      await operate(context, 'done', handle(note.trim()), { id, as_json: json === true });
    });
}
