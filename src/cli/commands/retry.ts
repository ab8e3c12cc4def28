import type { Command } from 'commander';
import { retry } from '../../store/bookkeeping/operator.ts';
import type { CliContext } from '../context.ts';
import { registerOperation } from '../operate.ts';

export function register(command: Command, context: CliContext): void {
  registerOperation(command, context, {
    description:
      'Tries at once what waits or was given up: plans the appointment again, looks for an ' +
      'inquiry whose reply was lost, sends a refused ' +
      ('one again, asks for an answer, writes parked records. What may be at the service is ' +
        'looked for first and never sent on a guess.'),
    examples: '  eligd retry 12045\n  eligd retry inquiry:3',
    work: retry,
  });
}
