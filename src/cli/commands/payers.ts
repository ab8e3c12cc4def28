import type { Command } from 'commander';
import { lettersAndDigits } from '../../domain/matching.ts';
import { TURNAROUND_CALLS_MIN } from '../../domain/turnaround.ts';
import { payersPath, readPayers } from '../../ops/payer-file.ts';
import { mapPayer, unmappedPayers } from '../../ops/payer-mapping.ts';
import type { PayerList } from '../../ops/payers.ts';
import { PAYERS_SUBJECT } from '../../store/bookkeeping/unmapped-payers.ts';
import {
  namedPayers,
  type PayerTurnaround,
  turnaroundsInPayerHours,
} from '../../store/views/payers.ts';
import type { CliContext, Output } from '../context.ts';
import { noteAction } from '../looks.ts';
import { printJson, printTable } from '../output.ts';
import { readState, type State } from '../state.ts';
import { printUnmapped, shownUnmapped } from '../unmapped.ts';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Lists the payers of open visits that are not in the payer map, most frequent first, ' +
        'with the closest names that eligd knows. Also shows how long calls to each payer take. ' +
        'Read-only.',
    )
    .option('--patients', 'with payers’ names that a patient’s name or ID is part of')
    .option('--json', 'as JSON (docs/json.md, eligd.payers/1)')
    .addHelpText(
      'after',
      `
Examples:
  eligd payers
  eligd payers map "Ameritas" AMERITAS
  eligd payers map "Local 134 Fund" 13400 --phone 312-555-0134
`,
    )
    .action(async (options: { json?: true; patients?: true }) => {
      await readState(context, (state) => list(state, options, context));
    });
  command
    .command('map')
    .description(
      'Adds a line to payers.csv. A running eligd reads it within a minute and plans every ' +
        'open visit again.',
    )
    .argument('<name>', 'the payer, as your PMS names it')
    .argument(
      '<id>',
      'a carrier identifier (AMERITAS), a payer ID (47009), or a known name; unsupported: eligd ' +
        'makes no calls, and the office calls',
    )
    .option('--phone <number>', 'its phone number')
    .addHelpText(
      'after',
      `
Examples:
  eligd payers map "Ameritas" AMERITAS
  eligd payers map "Cigna PPO Plus" 62308
  eligd payers map "Cigna Plus" "Cigna"
  eligd payers map "Local 134 Fund" unsupported --phone 312-555-0134
`,
    )
    .action(async (name: string, id: string, options: { phone?: string }) => {
      await map(context, { name, id, phone: options.phone });
    });
}

async function list(
  { db, config }: State,
  options: { json?: true; patients?: true },
  context: CliContext,
): Promise<void> {
  const patients = options.patients === true;
  const unmapped = shownUnmapped(unmappedPayers(config, await namedPayers(db)), patients);
  const turnarounds = await turnaroundsInPayerHours(db);
  if (options.json) {
    const file = payersPath(config);
    printJson(context.stdout, { schema: 'eligd.payers/1', file, unmapped, turnarounds });
    return;
  }
  if (unmapped.length === 0)
    context.stdout.write('The payer of every open visit is in the payer map.\n');
  else printUnmapped(unmapped, context.stdout);
  printTurnarounds(turnarounds, namesOf(readPayers(config)), context.stdout);
}

function printTurnarounds(
  payers: readonly PayerTurnaround[],
  names: ReadonlyMap<string, string>,
  to: Output,
): void {
  to.write('\n');
  if (payers.length === 0) {
    to.write(
      `eligd does not know yet how long calls take (it needs ${TURNAROUND_CALLS_MIN} calls).\n`,
    );
    return;
  }
  to.write('From the request to the end of the call, in hours when the payer answers its phone:\n');
  printTable(
    to,
    [
      { title: 'payer' },
      { title: 'about', is_whole: true },
      { title: 'half within', align: 'right', is_whole: true },
      { title: '9 of 10 within', align: 'right', is_whole: true },
      { title: 'calls', align: 'right', is_whole: true },
    ],
    payers.map(({ payer, specialty, about, median_hours, p90_hours, calls }) => [
      names.get(payer) ?? payer,
      `${specialty.replace('_', ' ')} ${about}`,
      median_hours,
      p90_hours,
      calls,
    ]),
  );
}

/** Maps the letters of carrier identifiers to the payers' common names. */
function namesOf({ known }: PayerList): Map<string, string> {
  return new Map(
    known.toReversed().map(({ name, carrier }) => [lettersAndDigits(carrier), name] as const),
  );
}

async function map(
  context: CliContext,
  line: { name: string; id: string; phone: string | undefined },
): Promise<void> {
  const config = await context.config();
  const { name, as } = mapPayer(config, line);
  const reason = `${name} is now ${as}.`;
  await noteAction(context, { subject: PAYERS_SUBJECT, to_state: 'mapped', reason });
  context.stdout.write(
    `${name} is now ${as}.\nWritten to ${payersPath(config)}.\n` +
      'A running eligd reads it within a minute.\n',
  );
}
