import type { Command } from 'commander';
import { EligdError } from '../domain/errors.ts';
import { type Done, said } from '../domain/operator.ts';
import { actingAs, writeAudit } from '../store/bookkeeping/audit.ts';
import type { Operand } from '../store/bookkeeping/operator.ts';
import type { Tx } from '../store/engine/database.ts';
import { openStore } from '../store/engine/store.ts';
import { actorOf } from './actor.ts';
import type { CliContext } from './context.ts';
import { printJson } from './output.ts';
import { findOrFail, ID_HELP } from './subject.ts';

type Operation = (tx: Tx, subject: Operand, now: number) => Promise<Done[]>;

/**
 * Shared by `retry`, `hold`, and `withdraw`: one ID, one transaction, one sentence for each change.
 */
export function registerOperation(
  command: Command,
  context: CliContext,
  { description, examples, work }: { description: string; examples: string; work: Operation },
): void {
  command
    .description(description)
    .argument('<id>', ID_HELP)
    .option('--json', 'as JSON (docs/json.md, eligd.operation/1)')
    .addHelpText(
      'after',
      `\nExamples:\n${examples}\n\nYou can run it while the daemon runs. "eligd explain" shows ` +
        'it in the history.\n',
    )
    .action(async (id: string, options: { json?: true }) => {
      const as_json = options.json === true;
      await operate(context, command.name(), work, { id, as_json });
    });
}

/** Throws with the reasons when nothing could be changed. */
export async function operate(
  context: CliContext,
  name: string,
  work: Operation,
  { id, as_json }: { id: string; as_json: boolean },
): Promise<void> {
  const config = await context.config();
  const { clock } = await context.env();
  const store = await openStore(config.state.path);
  try {
    const { kind, id: row } = await findOrFail(store.db, id);
    const actor = actorOf(context.environment);
    const done = await store.write(async (own) => {
      const tx = actingAs(own, actor);
      const at = clock.now();
      const sentences = await work(tx, { kind, id: row }, at);
      const subject = `${kind}:${row}`;
      const reason = `${actor} ran “eligd ${name}”. ${said(sentences)}`;
      await writeAudit(tx, [{ at, subject, from_state: null, to_state: name, reason }]);
      return sentences;
    });
    if (as_json)
      printJson(context.stdout, { schema: 'eligd.operation/1', subject: `${kind}:${row}`, done });
    else context.stdout.write(done.map(({ what }) => `${what}\n`).join(''));
    if (done.some(({ did }) => did)) return;
    throw new EligdError('failed', {
      what: 'Nothing was changed.',
      why: done.length === 0 ? 'This command has nothing to change here.' : 'See the lines above.',
      next: `"eligd explain ${id}" shows what it is waiting for.`,
    });
  } finally {
    await store.close();
  }
}
