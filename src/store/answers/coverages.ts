/** Combines the answers about all coverages of an appointment. */
import { readAppointment } from '../../domain/damaged.ts';
import { type Coordination, coordinate } from '../../records/coordination.ts';
import type { EligibilityRecord } from '../../records/eligibility.ts';
import { raiseAttention, resolveAttention } from '../bookkeeping/attention.ts';
import { appointmentSubject } from '../bookkeeping/audit.ts';
import { inquiryById } from '../calls/inquiries.ts';
import { inquiriesOf } from '../calls/links.ts';
import type { Tx } from '../engine/database.ts';
import { latestRecord } from './answers.ts';

/**
 * Combines the answers so far about the coverages of an appointment, and raises or resolves the
 * attention item about a contradiction between them. Returns null when there is nothing to combine:
 * a single coverage, or a claim.
 */
export async function joinCoverages(
  tx: Tx,
  appointment: number,
  now: number,
): Promise<Coordination | null> {
  const row = await tx
    .selectFrom('appointments')
    .select(['kind', 'connector', 'source_id', 'starts_at', 'content'])
    .where('id', '=', appointment)
    .executeTakeFirst();
  if (row === undefined || row.kind !== 'appointment') return null;
  const { coverages } = readAppointment(row);
  if (coverages.length < 2) return null;
  const answers = await newestAnswers(tx, appointment);
  const joined = coordinate(
    coverages.map((_, index) => ({ rank: index + 1, record: answers.get(index + 1) ?? null })),
  );
  const about = {
    connector: row.connector,
    appointment,
    inquiry: null,
    subject: appointmentSubject(appointment),
  };
  if (joined === null || joined.conflict === null) {
    await resolveAttention(tx, about.subject, now, ['coverage_conflict']);
    return joined;
  }
  const next =
    'Ask the patient which one is primary, and have the insurance companies correct their ' +
    'records before a claim is sent.';
  await raiseAttention(
    tx,
    about,
    { reason: 'coverage_conflict', what: joined.conflict, next },
    now,
  );
  return joined;
}

/** Returns, by coverage rank, the record of the newest inquiry with a successful answer. */
export async function newestAnswers(
  tx: Tx,
  appointment: number,
): Promise<Map<number, EligibilityRecord>> {
  const answers = new Map<number, EligibilityRecord>();
  for (const { id, coverage_rank } of await inquiriesOf(tx, appointment)) {
    if ((await inquiryById(tx, id))?.state === 'withdrawn') continue;
    const record = (await latestRecord(tx, id))?.record;
    if (record?.schema === 'eligd.eligibility/1' && record.outcome === 'successful')
      answers.set(coverage_rank, record);
  }
  return answers;
}
