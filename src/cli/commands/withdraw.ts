import type { Command } from 'commander';
import { withdraw } from '../../store/bookkeeping/operator.ts';
import type { CliContext } from '../context.ts';
import { registerOperation } from '../operate.ts';

export function register(command: Command, context: CliContext): void {
  registerOperation(command, context, {
    description:
      'Cancels the planned calls of an appointment and closes it. A call that may have started ' +
      'cannot be canceled; in that case nothing changes.',
    examples: '  eligd withdraw 12045\n  eligd withdraw inquiry:3 --json',
    work: withdraw,
  });
}
