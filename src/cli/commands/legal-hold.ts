import type { Command } from 'commander';
import { EligdError } from '../../domain/errors.ts';
import { actingAs } from '../../store/bookkeeping/audit.ts';
import {
  addLegalHold,
  connectorsOfPatient,
  type HeldPatient,
  legalHolds,
  removeLegalHold,
} from '../../store/bookkeeping/legal-holds.ts';
import { openStore, type Store } from '../../store/engine/store.ts';
import { actorOf } from '../actor.ts';
import type { CliContext } from '../context.ts';
import { printJson, printTable } from '../output.ts';
import { readState } from '../state.ts';
import { clinicTime, isoTime } from '../times.ts';

const REASON_CHARS_MAX = 500;
const PATIENT = 'the patient’s ID in the practice management system, or CONNECTOR:ID';

export function register(command: Command, context: CliContext): void {
  command.description(
    'Keeps all data about a patient, regardless of age, for a court, an auditor, or a ' +
      'payer. It is not related to "eligd hold", which puts calls on hold.',
  );
  command.addHelpText(
    'after',
    '\nExamples:\n  eligd legal-hold add 4711 --reason "Audit of 2026"\n' +
      '  eligd legal-hold list\n  eligd legal-hold remove 4711\n',
  );
  command
    .command('add')
    .description(
      'Puts a patient on legal hold: eligd deletes no visit, answer, or log entry of the ' +
        'patient, and no file in the drop folder that they came from.',
    )
    .argument('<patient>', PATIENT)
    .option('--reason <text>', 'why; goes into the audit trail', '')
    .addHelpText('after', '\nExamples:\n  eligd legal-hold add 4711 --reason "Audit of 2026"\n')
    .action((text: string, { reason }: { reason: string }) => add(context, text, reason.trim()));
  command
    .command('remove')
    .description('Ends a legal hold. The next purge deletes what is past its retention time.')
    .argument('<patient>', PATIENT)
    .addHelpText('after', '\nExamples:\n  eligd legal-hold remove 4711\n')
    .action((text: string) => remove(context, text));
  command
    .command('list')
    .description('Lists the patients on legal hold.')
    .option('--json', 'as JSON (docs/json.md, eligd.legal_holds/1)')
    .addHelpText('after', '\nExamples:\n  eligd legal-hold list\n')
    .action((options: { json?: true }) => list(context, options.json === true));
}

async function add(context: CliContext, text: string, reason: string): Promise<void> {
  if (reason.length > REASON_CHARS_MAX)
    throw new EligdError('usage', {
      what: 'The reason is too long.',
      why: `It has ${reason.length} characters; ${REASON_CHARS_MAX} fit.`,
      next: 'Write a shorter reason.',
    });
  await change(context, text, async (store, { patients, actor, now }) => {
    if (patients.length === 0) throw unknown(text);
    for (const patient of patients) {
      const is_new = await store.write((tx) =>
        addLegalHold(actingAs(tx, actor), patient, { reason, actor }, now),
      );
      const what = is_new ? 'is now on legal hold' : 'was already on legal hold';
      context.stdout.write(`${patient.connector}:${patient.patient_id} ${what}.\n`);
    }
  });
}

async function remove(context: CliContext, text: string): Promise<void> {
  await change(context, text, async (store, { named, actor, now }) => {
    const ended: HeldPatient[] = [];
    for (const hold of await legalHolds(store.db)) {
      const is_meant = named.some(
        (each) => each.connector === hold.connector && each.patient_id === hold.patient_id,
      );
      if (!is_meant) continue;
      await store.write((tx) => removeLegalHold(actingAs(tx, actor), hold, now));
      ended.push(hold);
    }
    if (ended.length === 0)
      throw new EligdError('failed', {
        what: 'Nothing was changed.',
        why: `${text} is not on legal hold.`,
        next: '"eligd legal-hold list" shows who is on hold.',
      });
    for (const { connector, patient_id } of ended)
      context.stdout.write(`${connector}:${patient_id} is no longer on legal hold.\n`);
  });
}

type Change = {
  /** The patients that the text may mean, known or not. */
  named: HeldPatient[];
  /** The ones with visits in eligd. */
  patients: HeldPatient[];
  actor: string;
  now: number;
};

async function change(
  context: CliContext,
  text: string,
  work: (store: Store, change: Change) => Promise<void>,
): Promise<void> {
  const config = await context.config();
  const { clock } = await context.env();
  const ids = config.connectors.map(({ id }) => id);
  const [only] = ids.filter((id) => text.startsWith(`${id}:`));
  const patient_id = only === undefined ? text : text.slice(only.length + 1);
  const connectors = only === undefined ? ids : [only];
  const named = connectors.map((connector) => ({ connector, patient_id }));
  const store = await openStore(config.state.path);
  try {
    const known = await connectorsOfPatient(store.db, patient_id, connectors);
    const patients = named.filter(({ connector }) => known.includes(connector));
    const actor = actorOf(context.environment);
    await work(store, { named, patients, actor, now: clock.now() });
  } finally {
    await store.close();
  }
}

function unknown(text: string): EligdError {
  return new EligdError('failed', {
    what: `There is no patient ${text}.`,
    why: 'No visit in eligd has a patient with this ID.',
    next:
      'Look up the patient’s ID in the practice management system; it is not the ID of the ' +
      'visit.',
  });
}

async function list(context: CliContext, as_json: boolean): Promise<void> {
  await readState(context, async ({ db, config, moment }) => {
    const holds = await legalHolds(db);
    if (as_json)
      printJson(context.stdout, {
        schema: 'eligd.legal_holds/1',
        at: isoTime(moment.now),
        holds: holds.map(({ since, ...hold }) => ({ ...hold, since: isoTime(since) })),
      });
    else if (holds.length === 0) context.stdout.write('No patient is on legal hold.\n');
    else
      printTable(
        context.stdout,
        [
          { title: 'patient', is_whole: true },
          { title: 'since', is_whole: true },
          { title: 'by' },
          { title: 'reason' },
        ],
        holds.map(({ connector, patient_id, since, actor, reason }) => [
          `${connector}:${patient_id}`,
          clinicTime(since, config),
          actor,
          reason,
        ]),
      );
  });
}
