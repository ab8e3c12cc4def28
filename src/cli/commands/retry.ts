import type { Command } from 'commander';
import { retry } from '../../store/bookkeeping/operator.ts';
import type { CliContext } from '../context.ts';
import { registerOperation } from '../operate.ts';

export function register(command: Command, context: CliContext): void {
  registerOperation(command, context, {
    description:
      'Retries waiting or abandoned work now: plans the appointment again, looks up an ' +
      'inquiry whose reply was lost, sends a rejected one again, asks for an answer, and ' +
      'writes parked records. If the service may already have an inquiry, eligd looks it ' +
      'up first and never sends it on a guess.',
    examples: '  eligd retry 12045\n  eligd retry inquiry:3',
    work: retry,
  });
}
