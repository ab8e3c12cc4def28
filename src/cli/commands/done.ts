import type { Command } from 'commander';
import { EligdError } from '../../domain/errors.ts';
import { handle } from '../../store/bookkeeping/handled.ts';
import type { CliContext } from '../context.ts';
import { operateOn } from '../operate.ts';
import { findOrFail, ID_HELP } from '../subject.ts';

const NOTE_CHARS_MAX = 500;

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Takes a handled item off the attention list. It stays off until the answer changes, or ' +
        'until eligd fails to read the row or message again.',
    )
    .argument('<id>', `${ID_HELP}, or entry:N of the attention list`)
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
      const entry = /^entry:(\d{1,15})$/.exec(id)?.[1];
      await operateOn(context, 'done', handle(note.trim()), {
        id,
        as_json: json === true,
        find: async (db) =>
          entry === undefined ? await findOrFail(db, id) : { kind: 'entry', id: Number(entry) },
      });
    });
}
