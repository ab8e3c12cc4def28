import type { Command } from 'commander';
import { EligdError } from '../domain/errors.ts';
import { resolveAttention } from '../store/attention.ts';
import { currentHalts, endHalt, haltSubject } from '../store/halts.ts';
import { openStore } from '../store/store.ts';
import type { CliContext } from './context.ts';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Lets submission go on after it was stopped. It says first why it was stopped; a reason that still holds stops it again.',
    )
    .argument('<what>', 'submission')
    .addHelpText('after', '\nExamples:\n  eligd release submission\n')
    .action(async (what: string) => {
      if (what !== 'submission') {
        throw new EligdError('usage', {
          what: `"${what}" cannot be released.`,
          why: 'This version can release submission only.',
          next: 'Run "eligd release submission".',
        });
      }
      const config = await context.config();
      const { clock } = await context.env();
      const store = await openStore(config.state.path);
      try {
        const halts = await currentHalts(store.db);
        await store.write(async (tx) => {
          for (const { reason } of halts) {
            await endHalt(tx, reason);
            await resolveAttention(tx, haltSubject(reason), clock.now());
          }
        });
        const said = halts.map(({ detail }) => `It was stopped because: ${detail}\n`);
        context.stdout.write(
          said.length === 0 ? 'Submission was not stopped.\n' : `${said.join('')}It goes on with the next step.\n`,
        );
      } finally {
        await store.close();
      }
    });
}
