import type { Command } from 'commander';
import { readPayers } from '../../ops/payer-file.ts';
import { budgetRules } from '../../ops/prices.ts';
import { clinicProfile, policyOf } from '../../ops/profile.ts';
import { askAgain } from '../../store/bookkeeping/ask-again.ts';
import type { CliContext } from '../context.ts';
import { operate } from '../operate.ts';
import { ID_HELP } from '../subject.ts';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Orders another call about a visit that already has an answer, for example because its ' +
        'procedures changed. It shows what the call costs. The call counts against the budget.',
    )
    .argument('<id>', ID_HELP)
    .option('--json', 'as JSON (docs/json.md, eligd.operation/1)')
    .addHelpText(
      'after',
      '\nExamples:\n  eligd ask 12045\n\nYou can run it while the daemon runs. "eligd explain" ' +
        'shows the order\nin the history. While a call about the visit is in progress, it orders ' +
        'none.\n',
    )
    .action(async (id: string, options: { json?: true }) => {
      const config = await context.config();
      const payers = readPayers(config);
      const work = askAgain({
        facts: { clinic: clinicProfile(config), policy: policyOf(config), payers },
        external_id_template: config.service.external_id,
        budget: budgetRules(config, payers),
      });
      await operate(context, 'ask', work, { id, as_json: options.json === true });
    });
}
