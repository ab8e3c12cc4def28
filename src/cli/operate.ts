import type { Command } from 'commander';
import { EligdError } from '../domain/errors.ts';
import { type Done, said } from '../domain/operator.ts';
import { actingAs, writeAudit } from '../store/bookkeeping/audit.ts';
import type { Handleable } from '../store/bookkeeping/handled.ts';
import type { Operand } from '../store/bookkeeping/operator.ts';
import type { Db, Tx } from '../store/engine/database.ts';
import { openStore } from '../store/engine/store.ts';
import { actorOf } from './actor.ts';
import type { CliContext } from './context.ts';
import { printJson } from './output.ts';
import { findOrFail, ID_HELP } from './subject.ts';

type Operation<Subject = Operand> = (tx: Tx, subject: Subject, now: number) => Promise<Done[]>;

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
  const find = (db: Db) => findOrFail(db, id);
  await operateOn(context, name, work, { id, as_json, find });
}

/** As `operate`; `find` returns what the ID names. */
export async function operateOn<Subject extends Handleable>(
  context: CliContext,
  name: string,
  work: Operation<Subject>,
  { id, as_json, find }: { id: string; as_json: boolean; find: (db: Db) => Promise<Subject> },
): Promise<void> {
  const config = await context.config();
  const { clock } = await context.env();
  const store = await openStore(config.state.path);
  try {
    const found = await find(store.db);
    const subject = `${found.kind}:${found.id}`;
    const actor = actorOf(context.environment);
    const done = await store.write(async (own) => {
      const tx = actingAs(own, actor);
      const at = clock.now();
      const sentences = await work(tx, found, at);
      const reason = `${actor} ran “eligd ${name}”. ${said(sentences)}`;
      await writeAudit(tx, [{ at, subject, from_state: null, to_state: name, reason }]);
      return sentences;
    });
    if (as_json) printJson(context.stdout, { schema: 'eligd.operation/1', subject, done });
    else context.stdout.write(done.map(({ what }) => `${what}\n`).join(''));
    if (done.some(({ did }) => did)) return;
    throw new EligdError('failed', {
      what: 'Nothing was changed.',
      why: done.length === 0 ? 'This command has nothing to change here.' : 'See the lines above.',
      next:
        found.kind === 'entry'
          ? '"eligd list --attention" shows the entries.'
          : `"eligd explain ${id}" shows what it is waiting for.`,
    });
  } finally {
    await store.close();
  }
}
