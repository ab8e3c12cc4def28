import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type Preview, previewExport } from '../../daemon/preview.ts';
import { problemSentence } from '../../domain/problem-sentence.ts';
import { effectiveProvider } from '../../domain/provider.ts';
import type { SituationWord } from '../../domain/situation.ts';
import type { Config } from '../../ops/config.ts';
import { wrapped } from '../../ops/health-text.ts';
import { readPayers } from '../../ops/payer-file.ts';
import { type Unmapped, unmappedOf } from '../../ops/payer-mapping.ts';
import { clinicProfile } from '../../ops/profile.ts';
import type { CliContext, Output } from '../context.ts';
import { printJson } from '../output.ts';
import { commandEnv } from '../service.ts';
import { spentWords } from '../spending.ts';
import { printUnmapped, shownUnmapped } from '../unmapped.ts';

type Options = { connector?: string; json?: true };

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Shows what an export would cause: rows that cannot be read, payers that are missing ' +
        'from the payer map, the calls, and what they cost. It sends and stores nothing.',
    )
    .argument(
      '[export]',
      'the file that your PMS writes: an export, or messages; without a file, eligd reads the ' +
        'server of your PMS',
    )
    .option('--connector <id>', 'which connector, if more than one could read the file')
    .option('--json', 'as JSON (docs/json.md, eligd.preview/1)')
    .addHelpText(
      'after',
      '\nExamples:\n  eligd preview appointments.csv\n  eligd preview --connector ehr\n',
    )
    .action(async (file: string | undefined, options: Options) => {
      const config = await context.config();
      const preview = await previewExport({
        config,
        env: await commandEnv(context),
        secrets: await context.secrets(),
        file: file === undefined ? null : resolve(context.cwd, file),
        connector: options.connector ?? null,
      });
      const unmapped = shownUnmapped(unmappedIn(preview, config), false);
      if (options.json) printJson(context.stdout, previewJson(preview, unmapped));
      else printPreview(preview, unmapped, context.stdout);
    });
}

function unmappedIn({ payers }: Preview, config: Config): Unmapped[] {
  const clinic = clinicProfile(config);
  const named = payers.map((each) => ({
    ...each,
    specialty: effectiveProvider(each.treated, clinic).specialty,
  }));
  return unmappedOf(named, readPayers(config));
}

/** The result for each visit if eligd read the export now. */
const VISIT_WORDS: Readonly<Record<SituationWord, string>> = {
  planned: 'with a call now',
  waiting: 'later, when the visit is closer',
  asking: 'with a call in progress',
  answered: 'with a known answer',
  delivered: 'with a known answer',
  attention: 'on the attention list',
  closed: 'without a call: canceled, past, self-pay or skipped',
};

const ROWS_SHOWN = 10;

type ShownUnmapped = ReturnType<typeof shownUnmapped>;

function printPreview(preview: Preview, unmapped: ShownUnmapped, to: Output): void {
  const { connector, rows, visits, claims, attention, calls, later } = preview;
  const { rejected } = rows;
  const total = visits.reduce((sum, { count }) => sum + count, 0);
  const lines = (name: string, text: string) => to.write(`${wrapped(name, text).join('\n')}\n`);
  to.write(`What this export would do (${connector}). Nothing was sent or stored.\n\n`);
  lines(
    'Rows:',
    rejected.length === 0 ? 'every row can be read.' : unreadableWords(rejected.length),
  );
  for (const { remedy, ...item } of rejected.slice(0, ROWS_SHOWN))
    lines('', `${problemSentence(item)} ${remedy}`);
  if (rejected.length > ROWS_SHOWN) lines('', `and ${rejected.length - ROWS_SHOWN} more (--json).`);
  lines('Visits:', `${total}${total === 0 ? '.' : ':'}`);
  for (const [words, count] of visitCounts(visits)) lines('', `${count} ${words}`);
  if (claims > 0) lines('Claims:', `${claims}.`);
  for (const [index, { reason, count }] of attention.entries())
    lines(index === 0 ? 'Attention:' : '', `${count} ${reason.replaceAll('_', ' ')}`);
  const is_later = later.calls > 0;
  lines('Calls:', `${spentWords(calls)}${is_later ? ' now' : ''}.`);
  if (is_later) lines('', `${spentWords(later)} later, when the visits are closer.`);
  if (calls.unpriced + later.unpriced > 0)
    lines('', 'Write what a call costs under "prices" in the configuration.');
  if (unmapped.length === 0) return;
  to.write('\nNot in the payer map:\n');
  printUnmapped(unmapped, to);
}

function unreadableWords(count: number): string {
  return count === 1 ? '1 row cannot be read:' : `${count} rows cannot be read:`;
}

/** Counts visits by their description, most frequent first. */
function visitCounts(visits: Preview['visits']): [string, number][] {
  const counts = new Map<string, number>();
  for (const { situation, count } of visits) {
    const words = VISIT_WORDS[situation];
    counts.set(words, (counts.get(words) ?? 0) + count);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a);
}

function previewJson(preview: Preview, unmapped: ShownUnmapped): Record<string, unknown> {
  const { connector, rows, visits, claims, attention, calls, later } = preview;
  return {
    schema: 'eligd.preview/1',
    connector,
    rows: { items: rows.items, rejected: rows.rejected.length },
    rejected: rows.rejected.map(({ position, field, value_class, remedy }) => ({
      position,
      field,
      value_class,
      remedy,
    })),
    visits: Object.fromEntries(visits.map(({ situation, count }) => [situation, count])),
    claims,
    attention,
    calls,
    later,
    unmapped,
  };
}
