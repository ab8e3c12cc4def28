/** What commands write to the access log, and to the audit trail without opening the store. */
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

/** Somebody waits for what the command reads, so it does not wait for long. */
const WAIT_MS = 1_000;

/**
 * Notes that `page` shows the records to whoever runs the command; called before they are printed.
 * When the database cannot be written at the moment, the command says so on stderr and shows them
 * all the same: a full disk must not keep the office from reading.
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

/** The same for what the calling service shows of its inquiries. */
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

/** The appointments of a command as the access log has them. */
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

/** Notes what somebody did that changes nothing in the database itself, such as a file. */
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
