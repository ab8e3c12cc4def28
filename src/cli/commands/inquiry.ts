import { type Command, Option } from 'commander';
import { EligdError } from '../../domain/errors.ts';
import { inquiryId } from '../../domain/ids.ts';
import { saysWhoOf } from '../../domain/says-who.ts';
import { SPECIALTIES, type Specialty } from '../../domain/specialty.ts';
import type { Inquiry, InquiryList, ListedInquiry, ServiceClient } from '../../service/api.ts';
import { parseWireTimestamp } from '../../service/dates.ts';
import type { CliContext } from '../context.ts';
import { noteInquiries } from '../looks.ts';
import { printJson, printTable } from '../output.ts';
import { unwrap, withService } from '../service.ts';
import { statusWord } from '../subject.ts';

type Options = { specialty?: Specialty; json?: true; full?: true };

/** The fields that are shown without --full: nothing about the patient. */
type ShownInquiry = { id: string; status: string; created_at: string | null; external_id: string };

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Shows what the service has, for support. Read-only: only the daemon sends inquiries, so ' +
        'none is sent twice.',
    )
    .addHelpText(
      'after',
      `
Examples:
  eligd inquiry list --specialty dental --external-id A-1001
  eligd inquiry get 2f1c7c1e-58a9-4b3f-9d55-0c9f4d1f7a11
`,
    );

  const list = command
    .command('list')
    .description(
      'Lists the inquiries that the service has for one specialty, without patient data.',
    )
    .option('--external-id <id>', 'only inquiries with this label (the appointment ID)');
  withOptions(
    list,
    'as JSON: {"schema", "inquiries": [{"id", "status", "created_at", "external_id"}], ' +
      '"is_complete"}',
  )
    .addHelpText(
      'after',
      `
Examples:
  eligd inquiry list
  eligd inquiry list --specialty medical --external-id A-1001
  eligd inquiry list --json
`,
    )
    .action(async (options: Options & { externalId?: string }) => {
      const { specialty, found } = await withService(context, async ({ client, config }) => {
        const wanted = options.specialty ?? config.clinic.specialty;
        const filter = options.externalId === undefined ? {} : { external_id: options.externalId };
        const how = { priority: 'urgent', keep: () => options.full === true } as const;
        const result = await client.list(wanted, filter, how);
        const found = unwrap(result, { what: 'The inquiries could not be listed.' }, config);
        if (options.full) await printWhole(context, found, { client, specialty: wanted });
        return { specialty: wanted, found };
      });
      if (options.full) await noteInquiries(context, 'inquiry', found.inquiries.map(shown));
      showList(context, specialty, found, options);
    });

  const get = command
    .command('get')
    .alias('show')
    .description(
      'Shows one inquiry at the service: its status, and with --full the request and the answer.',
    )
    .argument('<id>', 'the service’s ID of the inquiry');
  withOptions(get, 'as JSON: {"schema", "id", "status", "created_at", "external_id"}')
    .addHelpText(
      'after',
      `
Examples:
  eligd inquiry get 2f1c7c1e-58a9-4b3f-9d55-0c9f4d1f7a11
  eligd inquiry get 2f1c7c1e-58a9-4b3f-9d55-0c9f4d1f7a11 --full \\
    --specialty medical
`,
    )
    .action(async (id: string, options: Options) => {
      const inquiry = await withService(context, async ({ client, config }) => {
        const specialty = options.specialty ?? config.clinic.specialty;
        const result = await client.read(specialty, inquiryId(id.trim()), { priority: 'urgent' });
        return (
          unwrap(result, { what: 'The inquiry could not be read.' }, config) ?? notThere(specialty)
        );
      });
      await noteInquiries(context, 'inquiry', [shown(inquiry)]);
      if (options.full) printJson(context.stdout, inquiry.raw);
      else if (options.json)
        printJson(context.stdout, { schema: 'eligd.inquiry/1', ...shown(inquiry) });
      else showTable(context, [{ ...inquiry, full: null }]);
    });
}

function withOptions(command: Command, json: string): Command {
  return command
    .addOption(
      new Option('--specialty <name>', 'which specialty (default: the clinic’s)').choices(
        SPECIALTIES,
      ),
    )
    .option('--json', json)
    .option('--full', 'everything from the service, as JSON; contains patient data');
}

function showList(
  context: CliContext,
  specialty: Specialty,
  found: InquiryList,
  options: Options,
): void {
  const { inquiries, is_complete, unreadable_count } = found;
  if (options.full) {
    // `printWhole` has printed them.
  } else if (options.json)
    printJson(context.stdout, {
      schema: 'eligd.inquiries/1',
      inquiries: inquiries.map(shown),
      is_complete,
    });
  else if (inquiries.length === 0)
    context.stdout.write(`The service has no such inquiry (${specialty}).\n`);
  else showTable(context, inquiries);
  if (is_complete) return;
  const unreadable =
    unreadable_count === 0 ? '' : `; ${unreadable_count} entries could not be read`;
  context.stderr.write(
    `eligd cannot tell whether the service’s list is complete; there may be more${unreadable}.\n`,
  );
}

/** Prints each inquiry as the service sent it. If a long list left one out, reads it by its ID. */
async function printWhole(
  context: CliContext,
  { inquiries, is_complete }: InquiryList,
  { client, specialty }: { client: ServiceClient; specialty: Specialty },
): Promise<void> {
  const whole: unknown[] = [];
  for (const { id, full } of inquiries) {
    if (full !== null) whole.push(full.raw);
    else {
      const read = await client.read(specialty, id, { priority: 'urgent' });
      if (read.ok && read.value !== null) whole.push(read.value.raw);
    }
  }
  printJson(context.stdout, { inquiries: whole, is_complete });
}

function showTable(context: CliContext, inquiries: readonly ListedInquiry[]): void {
  const columns = [
    { title: 'ID', is_whole: true },
    { title: 'STATUS' },
    { title: 'CREATED (UTC)' },
    { title: 'EXTERNAL ID' },
  ];
  const rows = inquiries
    .map(shown)
    .map(({ id, status, created_at, external_id }) => [id, status, created_at, external_id]);
  printTable(context.stdout, columns, rows);
}

function shown({
  id,
  status,
  creation_ts,
  request,
}: Pick<Inquiry, 'id' | 'status' | 'creation_ts' | 'request'>): ShownInquiry {
  const created_ms = creation_ts === null ? null : parseWireTimestamp(creation_ts);
  return {
    id,
    status: statusWord(status) ?? '',
    created_at: created_ms === null ? null : new Date(created_ms).toISOString(),
    external_id: shownLabel(request),
  };
}

/** The label of an inquiry; empty when it says who the patient is, as the PMS's ID in it may. */
function shownLabel({ external_id, ...request }: Inquiry['request']): string {
  if (typeof external_id !== 'string') return '';
  const { patient_name, dob, member_id } = request;
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const [, month, day, year] = /^(\d\d)\D(\d\d)\D(\d{4})$/.exec(text(dob)) ?? [];
  const birth_date = year === undefined ? text(dob) : `${year}-${month}-${day}`;
  const people = [{ name: text(patient_name), birth_date }];
  return saysWhoOf(external_id, { people, member_ids: [text(member_id)] }) ? '' : external_id;
}

function notThere(specialty: Specialty): never {
  throw new EligdError('failed', {
    what: 'The service has no inquiry with this ID.',
    why: `eligd asked for it under the specialty ${specialty}.`,
    next: 'Check the ID, or use another --specialty.',
  });
}
