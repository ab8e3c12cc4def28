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
      'Resumes submission, or the calls of one appointment that "eligd hold" put on hold. For ' +
        'submission, it first shows why it was stopped. If the reason still applies, submission ' +
        'stops again.',
    )
    .argument('<what>', '"submission", or the ID of what is on hold')
    .option('--json', 'with an ID: as JSON (docs/json.md, eligd.operation/1)')
    .addHelpText('after', '\nExamples:\n  eligd release submission\n  eligd release 12045\n')
    .action(async (what: string, options: { json?: true }) => {
      if (what === 'submission') await resume(context);
      else await operate(context, 'release', release, { id: what, as_json: options.json === true });
    });
}

const OBSERVING =
  'eligd makes no calls: the configuration says mode: observe. Change it to mode: live and\n' +
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
    const said = halts.map(({ detail }) => `Reason for the stop: ${detail}\n`);
    const then = is_observing ? OBSERVING : 'Submission resumes with the next step.\n';
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
