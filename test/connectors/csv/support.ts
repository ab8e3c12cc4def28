import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeSuiteEnv } from '../../../connectors/conformance/harness.ts';
import type {
  Connector,
  ConnectorEnv,
  PullBatch,
  RejectedItem,
} from '../../../connectors/contract.ts';
import csv from '../../../connectors/csv/index.ts';
import type { AppointmentInput } from '../../../src/domain/appointment.ts';
import type { ClaimInput } from '../../../src/domain/claim.ts';

export type DropFolder = Awaited<ReturnType<typeof dropFolder>>;

/** A drop folder with helpers that fill it and read it. */
export async function dropFolder() {
  const parent = await mkdtemp(join(tmpdir(), 'eligd-csv-'));
  const path = join(parent, 'dropbox');
  const inbox = join(path, 'inbox');
  const names = async (part: string) => (await readdir(join(path, part)).catch(() => [])).sort();
  return {
    path,
    parent,
    names,
    drop: async (name: string, content: string | Buffer) => {
      await mkdir(inbox, { recursive: true, mode: 0o700 });
      await writeFile(join(inbox, name), content);
    },
    read: (part: string, name: string) => readFile(join(path, part, name), 'utf8'),
    /** Every file below a part, by its relative name. */
    contents: async (part: string) => {
      const found = await readdir(join(path, part), { recursive: true, withFileTypes: true }).catch(
        () => [],
      );
      const files = found
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      return Object.fromEntries(
        await Promise.all(
          files.sort().map(async (file) => [file.slice(path.length), await readFile(file, 'utf8')]),
        ),
      );
    },
    remove: () => rm(parent, { recursive: true }),
  };
}

/** A connector on a drop folder, with everything that it handed over. */
export function openCsv(
  folder: DropFolder,
  settings: Record<string, unknown> = {},
  env: Partial<ConnectorEnv> = {},
) {
  const world = makeSuiteEnv();
  const config = csv.config.parse({ folder: folder.path, ...settings });
  const connector: Connector = csv.create(config, { ...world.env, ...env });
  const batches: PullBatch[] = [];
  const appointments: AppointmentInput[] = [];
  const claims: ClaimInput[] = [];
  const rejected: RejectedItem[] = [];
  const finished = new Set<string>();
  const core = { accept: async (_batch: PullBatch): Promise<void> => undefined };
  const pull = async (signal = new AbortController().signal) =>
    connector.pull!({
      cursor: null,
      signal,
      isAccepted: async (key) => finished.has(key),
      accept: async (batch) => {
        await core.accept(batch);
        batches.push(batch);
        appointments.push(...batch.appointments);
        claims.push(...(batch.claims ?? []));
        rejected.push(...batch.rejected);
        if (batch.source.is_last) finished.add(batch.source.key);
      },
    });
  return {
    connector,
    pull,
    batches,
    appointments,
    claims,
    rejected,
    finished,
    core,
    said: world.said,
  };
}

/** The result of one file in a drop folder. */
export async function readOne(
  content: string | Buffer,
  settings: Record<string, unknown> = {},
  env: Partial<ConnectorEnv> = {},
) {
  const folder = await dropFolder();
  try {
    await folder.drop('export.csv', content);
    const opened = openCsv(folder, settings, env);
    await opened.pull();
    const part = (await folder.names('processed')).length > 0 ? 'processed' : 'rejected';
    const reasons = await folder.read(part, 'export.csv.reasons.csv').catch(() => '');
    return {
      ...opened,
      part,
      reasons,
      left: [...(await folder.names('inbox')), ...(await folder.names('processing'))],
    };
  } finally {
    await folder.remove();
  }
}

const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`;
export const line = (...values: string[]) => `${values.map(quoted).join(',')}\r\n`;

/** The suite's appointments as a practice management system would export them. */
export function exportOf(
  appointments: readonly AppointmentInput[],
  broken_items: readonly string[] = [],
): string {
  const rows = appointments.map(
    ({ source_id, starts_at, status, patient, coverages: [coverage] }) =>
      line(
        source_id,
        starts_at,
        status,
        `${patient.last_name}, ${patient.first_name}`,
        patient.birth_date ?? '',
        coverage?.carrier ?? '',
        coverage?.member_id ?? '',
      ),
  );
  for (const [i, text] of broken_items.entries()) {
    const row = i % 2 === 0 ? `"B-1,${text},never closed\r\n` : line('', text, '', '', '', '', '');
    rows.splice(i + 1, 0, row);
  }
  return (
    line('Appt ID', 'appointment_at', 'status', 'Patient', 'DOB', 'Carrier', 'Member ID') +
    rows.join('')
  );
}

/** The suite's claims as a practice management system would export them. */
export function claimsExportOf(claims: readonly ClaimInput[]): string {
  const rows = claims.map(
    ({
      source_id,
      claim_number,
      date_of_service,
      billed_amount,
      procedure_codes,
      patient,
      coverage,
    }) =>
      line(
        source_id,
        claim_number,
        date_of_service ?? '',
        `$${billed_amount}`,
        procedure_codes.join(';'),
        `${patient.last_name}, ${patient.first_name}`,
        patient.birth_date ?? '',
        coverage.carrier,
        coverage.member_id,
      ),
  );
  return (
    line(
      'Claim ID',
      'ICN',
      'DOS',
      'Total Charges',
      'CPT Codes',
      'Patient',
      'DOB',
      'Carrier',
      'Member ID',
    ) + rows.join('')
  );
}
