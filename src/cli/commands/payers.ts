import type { Command } from 'commander';
import { EligdError } from '../../domain/errors.ts';
import { effectiveProvider } from '../../domain/provider.ts';
import { payersPath, readPayers, writePayer } from '../../ops/payer-file.ts';
import type { PayerList } from '../../ops/payers.ts';
import { clinicProfile } from '../../ops/profile.ts';
import { namedPayers } from '../../store/views/payers.ts';
import type { CliContext } from '../context.ts';
import { printJson } from '../output.ts';
import { readState, type State } from '../state.ts';
import { printUnmapped, unmappedOf } from '../unmapped.ts';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Lists the insurance companies of open visits that are not in the payer map, the most ' +
        'frequent first, with the nearest names that eligd knows. It only reads.',
    )
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
    .action(async (options: { json?: true }) => {
      await readState(context, (state) => list(state, options.json === true, context));
    });
  command
    .command('map')
    .description(
      'Writes a line of payers.csv. A running eligd reads it within a minute and plans every ' +
        'open visit again.',
    )
    .argument('<name>', 'the insurance company as the practice software names it')
    .argument('<id>', "the service's carrier identifier (AMERITAS), or a payer ID (47009)")
    .option('--phone <number>', 'its telephone number')
    .addHelpText(
      'after',
      `
Examples:
  eligd payers map "Ameritas" AMERITAS
  eligd payers map "Cigna PPO Plus" 62308
`,
    )
    .action(async (name: string, id: string, options: { phone?: string }) => {
      await map(context, { name, id, phone: options.phone });
    });
}

async function list({ db, config }: State, as_json: boolean, context: CliContext): Promise<void> {
  const payers = readPayers(config);
  const clinic = clinicProfile(config);
  const named = (await namedPayers(db)).map((each) => ({
    ...each,
    specialty: effectiveProvider(each.treated, clinic).specialty,
  }));
  const unmapped = unmappedOf(named, payers);
  if (as_json) {
    printJson(context.stdout, { schema: 'eligd.payers/1', file: payersPath(config), unmapped });
    return;
  }
  if (unmapped.length === 0) {
    context.stdout.write('Every insurance company of an open visit is in the payer map.\n');
    return;
  }
  printUnmapped(unmapped, context.stdout);
}

async function map(
  context: CliContext,
  { name, id, phone }: { name: string; id: string; phone: string | undefined },
): Promise<void> {
  const config = await context.config();
  const carrier = carrierNamed(id, readPayers(config));
  const payor_id = id.trim().toUpperCase();
  const line = {
    pms_name: name.trim(),
    ...(carrier === null ? { payor_id } : { carrier }),
    ...(phone === undefined ? {} : { phone_number: phone }),
  };
  if (line.pms_name === '') {
    throw new EligdError('usage', {
      what: 'No name was given.',
      why: 'A line of the payer map begins with the name that the practice software uses.',
      next: 'Copy the name from "eligd payers".',
    });
  }
  writePayer(config, line);
  const as = carrier ?? `payer ID ${payor_id}`;
  context.stdout.write(
    `${line.pms_name} is ${as} from now on (${payersPath(config)}). A running eligd reads it ` +
      'within a minute.\n',
  );
}

/**
 * The carrier identifier that `id` is, or that belongs to the known payer ID that it is; null: it
 * is a payer ID that nobody has mapped. A payer ID has five characters, a digit among them.
 */
function carrierNamed(id: string, payers: PayerList): string | null {
  const plain = id.trim().toUpperCase();
  if (/^(?=.*\d)[A-Z\d]{5}$/.test(plain)) return payers.find(plain, '')?.carrier || null;
  if (/^[A-Z\d]+(?:_[A-Z\d]+)*$/.test(plain)) return plain;
  throw new EligdError('usage', {
    what: `"${id}" is neither a carrier identifier nor a payer ID.`,
    why:
      "A carrier identifier is the service's word in capitals and underscores, such as " +
      'DELTA_DENTAL_OF_ILLINOIS; a payer ID has five characters, such as 05030.',
    next: '"eligd payers" shows the nearest ones; ask the calling service for others.',
  });
}
