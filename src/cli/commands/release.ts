import type { Command } from 'commander';
import { actingAs } from '../../store/bookkeeping/audit.ts';
import { release, releaseSubmission } from '../../store/bookkeeping/operator.ts';
import { currentHalts } from '../../store/calls/halts.ts';
import { openStore } from '../../store/engine/store.ts';
import { actorOf } from '../actor.ts';
import type { CliContext } from '../context.ts';
import { operate } from '../operate.ts';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Resumes what was stopped: all of submission, or the calls of one appointment that ' +
        '"eligd hold" keeps back. Of submission it says ' +
        'first why it was stopped; a reason that still holds stops it again.',
    )
    .argument('<what>', 'submission, or the ID of what is on hold')
    .option('--json', 'of an ID: as JSON (docs/json.md, eligd.operation/1)')
    .addHelpText('after', '\nExamples:\n  eligd release submission\n  eligd release 12045\n')
    .action(async (what: string, options: { json?: true }) => {
      if (what === 'submission') await resume(context);
      else await operate(context, 'release', release, { id: what, as_json: options.json === true });
    });
}

const OBSERVING =
  'No call is made: the configuration says mode: observe. Write mode: live there and\n' +
  'restart eligd.\n';

async function resume(context: CliContext): Promise<void> {
  const config = await context.config();
  const { clock } = await context.env();
  const store = await openStore(config.state.path);
  try {
    const halts = await store.write((tx) =>
      releaseSubmission(actingAs(tx, actorOf(context.environment)), clock.now()),
    );
    const is_observing = (await currentHalts(store.db)).length > 0;
    const said = halts.map(({ detail }) => `It was stopped because: ${detail}\n`);
    const then = is_observing ? OBSERVING : 'It goes on with the next step.\n';
    context.stdout.write(
      said.length > 0
        ? `${said.join('')}${then}`
        : is_observing
          ? OBSERVING
          : 'Submission was not stopped.\n',
    );
  } finally {
    await store.close();
  }
}
