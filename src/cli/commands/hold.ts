import type { Command } from 'commander';
import { hold } from '../../store/bookkeeping/operator.ts';
import type { CliContext } from '../context.ts';
import { registerOperation } from '../operate.ts';

export function register(command: Command, context: CliContext): void {
  registerOperation(command, context, {
    description:
      'Keeps the planned calls of an appointment from being made, until "eligd release" lets ' +
      'them go.',
    examples: '  eligd hold 12045\n  eligd release 12045',
    work: hold,
  });
}
