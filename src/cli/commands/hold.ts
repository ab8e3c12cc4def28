import type { Command } from 'commander';
import { hold } from '../../store/bookkeeping/operator.ts';
import type { CliContext } from '../context.ts';
import { registerOperation } from '../operate.ts';

export function register(command: Command, context: CliContext): void {
  registerOperation(command, context, {
    description:
      'Puts the planned calls of an appointment on hold, until "eligd release" resumes them.',
    examples: '  eligd hold 12045\n  eligd release 12045',
    work: hold,
  });
}
