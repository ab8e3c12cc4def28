import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { stringify } from 'csv-stringify/sync';
import { parse } from 'yaml';
import { callsOfTomorrow } from '../../daemon/preview.ts';
import { type CostGroup, type CostLine, costLine, groupCosts, totalOf } from '../../domain/cost.ts';
import { EligdError, errorCode } from '../../domain/errors.ts';
import { codesAsked, dollars, type PriceList, priceAt } from '../../domain/price.ts';
import { addDays, isDate, localDate, startOfDay } from '../../domain/time.ts';
import type { Config } from '../../ops/config.ts';
import { prices } from '../../ops/config-prices.ts';
import { wrapped } from '../../ops/health-text.ts';
import { payersForPrices, pricesOf } from '../../ops/prices.ts';
import { shippedFile } from '../../ops/project.ts';
import { callsBetween, countDuplicates, plannedDrafts } from '../../store/views/cost.ts';
import { type CliContext, type Output, verbatim } from '../context.ts';
import { printJson, printTable } from '../output.ts';
import { spentWords } from '../spending.ts';
import { readState, type State } from '../state.ts';
import { clinicTime } from '../times.ts';

type Options = { from?: string; to?: string; csv?: true; json?: true; whatIf?: string };

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Shows what calls cost, by day, payer, and outcome. Without dates, it shows this month. ' +
        'Read-only.',
    )
    .option('--from <date>', 'first day, such as 2026-11-01', date)
    .option('--to <date>', 'last day', date)
    .option('--csv', 'one line per call, to compare with the bill')
    .option(
      '--what-if <file>',
      'what the same calls would cost with another price list (YAML with "prices:")',
    )
    .option('--json', 'as JSON (docs/json.md, eligd.cost/1)')
    .addHelpText(
      'after',
      `
Examples:
  eligd cost
  eligd cost --from 2026-10-01 --to 2026-10-31 --csv > october.csv
  eligd cost --what-if other-prices.yaml
`,
    )
    .action(async (options: Options) => {
      const other = options.whatIf === undefined ? null : readPrices(context, options.whatIf);
      // With explicit dates, the page shows no plans.
      const is_now = options.from === undefined && options.to === undefined && !options.csv;
      const tomorrow = is_now ? await tomorrowOf(context) : null;
      await readState(context, async (state) => {
        const costs = await readCosts(state, options, other?.(state.config) ?? null);
        const page = { ...costs, tomorrow };
        if (options.json) printJson(context.stdout, costJson(page));
        else if (options.csv) verbatim(context.stdout).write(costCsv(page, state.config));
        else printCosts(page, context.stdout);
      });
    });
}

function date(text: string): string {
  if (isDate(text)) return text;
  throw new InvalidArgumentError('Write a date such as 2026-11-01.');
}

type Total = Omit<CostGroup, 'name'>;

type CostPage = {
  first_day: string;
  last_day: string;
  time_zone: string;
  lines: CostLine[];
  /** By the price list of --prices; null: none was given. */
  other: CostLine[] | null;
  duplicates: number;
  /** Calls that are planned and not sent, by the current price list. */
  planned: Total;
  /** What tomorrow adds to them; null: explicit dates were given. */
  tomorrow: Total | null;
};

async function readCosts(
  { db, config, moment }: State,
  { from, to }: Options,
  other: PriceList | null,
): Promise<Omit<CostPage, 'tomorrow'>> {
  const { time_zone } = config.clinic;
  const today = localDate(moment.now, time_zone);
  const last_day = to ?? (from === undefined || from <= today ? today : from);
  const first_day = from ?? `${last_day.slice(0, 7)}-01`;
  if (first_day > last_day) {
    throw new EligdError('usage', {
      what: `--from ${first_day} is after --to ${last_day}.`,
      why: 'The first day must come before the last day.',
      next: 'Swap the two dates.',
    });
  }
  const begin = startOfDay(first_day, time_zone);
  const end = startOfDay(addDays(last_day, 1), time_zone);
  const calls = await callsBetween(db, begin, end);
  const list = pricesOf(config, payersForPrices(config));
  const planned = (await plannedDrafts(db)).map(
    ({ draft, due_at }) =>
      priceAt(list, draft, { at: Math.max(due_at, moment.now), time_zone }).price_cents,
  );
  const known = planned.filter((cents) => cents !== null);
  return {
    first_day,
    last_day,
    time_zone,
    lines: calls.map((call) => costLine(call, time_zone, null)),
    other: other === null ? null : calls.map((call) => costLine(call, time_zone, other)),
    duplicates: await countDuplicates(db, begin, end),
    planned: {
      calls: planned.length,
      cents: known.reduce((sum, cents) => sum + cents, 0),
      unpriced: planned.length - known.length,
    },
  };
}

/**
 * Returns tomorrow's new calls. If the database does not exist yet, the rest of the command says
 * so.
 */
async function tomorrowOf(context: CliContext): Promise<Total> {
  return await callsOfTomorrow({ config: await context.config(), env: await context.env() });
}

/** Reads the section `prices` of a file. The payers' own prices stay the same. */
function readPrices(context: CliContext, path: string): (config: Config) => PriceList {
  const file = resolve(context.cwd, path);
  let content: unknown;
  try {
    content = parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw unusable(file, errorCode(error) ?? 'The file is not YAML.', error);
  }
  const part = typeof content === 'object' && content !== null ? content : {};
  const found = prices.safeParse('prices' in part ? part.prices : undefined);
  if (!('prices' in part) || !found.success) {
    const issue = found.error?.issues[0];
    const why =
      issue === undefined
        ? 'It has no section "prices".'
        : `prices${issue.path.map((key) => `.${String(key)}`).join('')}: ${issue.message}`;
    throw unusable(file, why);
  }
  return (config) => pricesOf({ prices: found.data }, payersForPrices(config));
}

function unusable(file: string, why: string, cause?: unknown): EligdError {
  return new EligdError('usage', {
    what: `The price list ${file} cannot be used.`,
    why,
    next:
      `Add a section "prices:" as in ${shippedFile('config/example.yaml')}; ` +
      `${shippedFile('docs/cost.md')} explains it.`,
    cause,
  });
}

const GROUPS = [
  ['day', ({ day }: CostLine) => day, 'name'],
  ['payer', ({ payer }: CostLine) => payer, 'cost'],
  ['outcome', ({ outcome }: CostLine) => outcome, 'cost'],
] as const;

function costJson(page: CostPage): Record<string, unknown> {
  const { first_day, last_day, time_zone, lines, other, duplicates, planned, tomorrow } = page;
  return {
    schema: 'eligd.cost/1',
    from: first_day,
    to: last_day,
    time_zone,
    total: totalOf(lines),
    what_if: other === null ? null : totalOf(other),
    duplicates,
    planned,
    tomorrow,
    ...Object.fromEntries(
      GROUPS.map(([title, nameOf, sort]) => [`by_${title}`, groupCosts(lines, nameOf, sort)]),
    ),
  };
}

function printCosts(page: CostPage, to: Output): void {
  const { first_day, last_day, time_zone, lines, other, duplicates, planned, tomorrow } = page;
  const days = first_day === last_day ? `on ${first_day}` : `from ${first_day} to ${last_day}`;
  to.write(`Calls ${days} (${time_zone})\n\n`);
  for (const [title, nameOf, sort] of GROUPS) {
    const groups = groupCosts(lines, nameOf, sort);
    if (groups.length === 0) continue;
    printGroups(to, title, groups, other === null ? null : groupCosts(other, nameOf, sort));
    to.write('\n');
  }
  const sentences = [
    ['Total:', `${spentWords(totalOf(lines))}.`],
    ...(other === null ? [] : [['What if:', `${spentWords(totalOf(other))}.`]]),
    ['Planned:', `${spentWords(planned)}${planned.calls === 0 ? '' : ', not sent yet'}.`],
    ...(tomorrow === null ? [] : [['Tomorrow:', tomorrowWords(tomorrow)]]),
    ...(duplicates === 0
      ? []
      : [
          [
            'Duplicates:',
            `${duplicates}, not in the total. Ask the calling service not to charge for them.`,
          ],
        ]),
  ];
  for (const [name = '', text = ''] of sentences) to.write(`${wrapped(name, text).join('\n')}\n`);
}

function tomorrowWords(tomorrow: Total): string {
  return tomorrow.calls === 0 ? 'no more calls.' : `${spentWords(tomorrow)} more.`;
}

function printGroups(
  to: Output,
  title: string,
  groups: readonly CostGroup[],
  other: readonly CostGroup[] | null,
): void {
  const has_unpriced = groups.some(({ unpriced }) => unpriced > 0);
  const cost = (group: CostGroup | undefined) =>
    group === undefined ? null : group.unpriced === group.calls ? 'unknown' : dollars(group.cents);
  printTable(
    to,
    [
      { title },
      { title: 'calls', align: 'right' },
      { title: 'cost', align: 'right' },
      ...(has_unpriced ? [{ title: 'of unknown price', align: 'right' as const }] : []),
      ...(other === null ? [] : [{ title: 'what if', align: 'right' as const }]),
    ],
    groups.map((group) => [
      group.name.length > NAME_CHARS_MAX
        ? `${group.name.slice(0, NAME_CHARS_MAX - 1)}…`
        : group.name,
      group.calls,
      cost(group),
      ...(has_unpriced ? [group.unpriced] : []),
      ...(other === null ? [] : [cost(other.find(({ name }) => name === group.name))]),
    ]),
  );
}

/** Leaves room for the numbers in 80 columns. */
const NAME_CHARS_MAX = 36;

const CSV_COLUMNS = [
  'sent_at', 'inquiry_id', 'external_id', 'type', 'specialty', 'payer', 'payer_id', 'codes',
  'urgent', 'outcome', 'expected_dollars', 'charged_dollars',
]; // biome-ignore format: a list of words reads better in lines than in a column

/**
 * Prints one line per call: `expected` is the price when the call was sent; `charged` is set once
 * the outcome is known.
 */
function costCsv({ lines, other }: CostPage, config: Config): string {
  const header = other === null ? CSV_COLUMNS : [...CSV_COLUMNS, 'what_if_dollars'];
  const rows = lines.map(({ call, payer, outcome, is_urgent }, index) => [
    clinicTime(call.sent_at, config),
    call.service_id ?? '',
    call.external_id,
    call.asked === null ? '' : call.asked.type,
    call.asked?.specialty ?? '',
    payer,
    call.asked?.insurance_payor_id ?? '',
    call.asked === null ? '' : String(codesAsked(call.asked)),
    is_urgent ? 'yes' : 'no',
    outcome,
    amount(call.price_cents),
    amount(call.charge_cents),
    ...(other === null ? [] : [amount(other[index]?.cents ?? null)]),
  ]);
  return stringify([header, ...rows], { record_delimiter: 'windows', escape_formulas: true });
}

/** Returns decimal text; empty: unknown. */
function amount(cents: number | null): string {
  return cents === null ? '' : (cents / 100).toFixed(2);
}
