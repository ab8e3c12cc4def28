import type { Command } from 'commander';
import { inquiryId } from '../../domain/ids.ts';
import { verificationSchema } from '../../service/wire.ts';
import type { CliContext } from '../context.ts';
import { noteInquiries } from '../looks.ts';
import { printJson, printTable } from '../output.ts';
import { unwrap, withService } from '../service.ts';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Shows how the service checked the call transcripts of an inquiry: each criterion, and ' +
        'whether it was met.',
    )
    .argument('<id>', 'the service’s ID of the inquiry')
    .option(
      '--json',
      'as JSON: {"schema", "verifications": [{"id", "created_at", "items": [{"name", "status"}]}]}',
    )
    .option('--full', 'everything from the service, as JSON; quotes the call')
    .addHelpText(
      'after',
      `
Examples:
  eligd verification 2f1c7c1e-58a9-4b3f-9d55-0c9f4d1f7a11
  eligd verification 2f1c7c1e-58a9-4b3f-9d55-0c9f4d1f7a11 --full
`,
    )
    .action(async (id: string, options: { json?: true; full?: true }) => {
      const found = await withService(context, async ({ client, config }) => {
        const result = await client.verifications(inquiryId(id.trim()), { priority: 'urgent' });
        return unwrap(result, { what: 'The checks could not be read.' }, config);
      });
      await noteInquiries(context, 'verification', [{ id: id.trim(), external_id: '' }]);
      if (options.full) printJson(context.stdout, { verifications: found });
      else if (options.json)
        printJson(context.stdout, {
          schema: 'eligd.verifications/1',
          verifications: found.map(shown),
        });
      else showTable(context, found);
    });
}

/** Leaves out evidence and reasoning, which quote the call. */
function shown(record: unknown) {
  const { id = null, creation_ts, verification_items } = verificationSchema.catch({}).parse(record);
  const items = (verification_items ?? []).map(({ name, status }) => ({
    name: wordOf(name),
    status: wordOf(status),
  }));
  return { id, created_at: creation_ts ?? null, items };
}

/**
 * Returns the name of a check, a word such as `reference_asked`; a sentence may contain a name, so
 * it is replaced.
 */
function wordOf(text: string | null | undefined): string | null {
  if (text == null) return null;
  return /^[A-Za-z]+(?:_[A-Za-z]+){0,9}$/.test(text) ? text : 'unrecognized; see --full';
}

function showTable(context: CliContext, found: readonly unknown[]): void {
  if (found.length === 0) {
    context.stdout.write(
      'No checks yet: the call has not ended, or the service does not know the inquiry.\n',
    );
    return;
  }
  const columns = [
    { title: 'VERIFICATION', is_whole: true },
    { title: 'CREATED' },
    { title: 'CRITERION' },
    { title: 'STATUS' },
  ];
  const rows = found.map(shown).flatMap(({ id, created_at, items }) => {
    const all = items.length === 0 ? [{ name: null, status: null }] : items;
    return all.map(({ name, status }) => [id, created_at, name, status]);
  });
  printTable(context.stdout, columns, rows);
}
