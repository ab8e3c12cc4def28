/** Writes commands' entries to the access log, and to the audit trail without opening the store. */
import { existsSync } from 'node:fs';
import { errorCode } from '../domain/errors.ts';
import {
  recordsOfInquiries,
  type ShownRecord,
  writeAccess,
} from '../store/bookkeeping/access-log.ts';
import { actingAs, writeAudit } from '../store/bookkeeping/audit.ts';
import { writeBriefly } from '../store/engine/brief-write.ts';
import type { Tx } from '../store/engine/database.ts';
import { actorOf } from './actor.ts';
import type { CliContext } from './context.ts';

/** A person is waiting for the output, so the command does not wait long. */
const WAIT_MS = 1_000;

/**
 * Records in the access log that `page` shows these records; called before they are printed. If the
 * database cannot be written now, the command says so on stderr and shows them anyway: a full disk
 * must not keep the office from reading.
 */
export async function noteLook(
  context: CliContext,
  page: string,
  records: readonly ShownRecord[],
): Promise<void> {
  if (records.length === 0) return;
  const actor = actorOf(context.environment);
  await noteBriefly(context, (tx, at) => writeAccess(tx, { at, actor, page }, records));
}

/** Records the same for inquiries that the calling service shows. */
export async function noteInquiries(
  context: CliContext,
  page: string,
  inquiries: readonly { id: string; external_id: string }[],
): Promise<void> {
  const actor = actorOf(context.environment);
  await noteBriefly(context, async (tx, at) =>
    writeAccess(tx, { at, actor, page }, await recordsOfInquiries(tx, inquiries)),
  );
}

/** Returns the appointments of a command in the form of the access log. */
export const shownRecords = (
  appointments: readonly {
    connector: string;
    source_id: string;
    input: { patient: { id: string | null } };
  }[],
): ShownRecord[] =>
  appointments.map(({ connector, source_id, input }) => ({
    connector,
    source_id,
    patient_id: input.patient.id,
  }));

/** Records an action that changes nothing in the database itself, such as a changed file. */
export async function noteAction(
  context: CliContext,
  action: { subject: string; to_state: string; reason: string },
): Promise<void> {
  const actor = actorOf(context.environment);
  await noteBriefly(context, (tx, at) =>
    writeAudit(actingAs(tx, actor), [{ at, from_state: null, ...action }]),
  );
}

async function noteBriefly(
  context: CliContext,
  work: (tx: Tx, at: number) => Promise<void>,
): Promise<void> {
  const { state } = await context.config();
  // Users and payers are often set up before the first start.
  if (!existsSync(state.path)) return;
  const { clock } = await context.env();
  try {
    await writeBriefly(state.path, WAIT_MS, (tx) => work(tx, clock.now()));
  } catch (error) {
    context.stderr.write(
      'eligd: This could not be written to the audit trail ' +
        `(${errorCode(error) ?? 'an error'}). See "eligd check".\n`,
    );
  }
}
