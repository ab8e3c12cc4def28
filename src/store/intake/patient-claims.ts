/**
 * Claims whose source keeps insurance with the patient, and what becomes known about the patients
 * of claims.
 */
import { createHash } from 'node:crypto';
import type { CoverageInput } from '../../domain/appointment.ts';
import type { ClaimInput } from '../../domain/claim.ts';
import { inForceOn } from '../../domain/coverage-period.ts';
import { patientKey } from '../../domain/needs.ts';
import { appointmentSubject, writeAudit } from '../bookkeeping/audit.ts';
import type { IntakeContext } from './context.ts';

const NO_COVERAGE: CoverageInput = {
  carrier: '',
  payor_id: '',
  member_id: '',
  group_id: '',
  subscriber: null,
};

/**
 * The claim with the patient's first insurance; `undefined` when nothing has come about it, empty
 * when the patient pays.
 */
export function insuredClaim(
  claim: ClaimInput,
  coverages: readonly CoverageInput[] | undefined,
): ClaimInput {
  if (claim.insurance === undefined) return claim;
  if (coverages === undefined) return { ...claim, coverage: NO_COVERAGE, insurance: 'awaited' };
  return {
    ...claim,
    coverage: inForceOn(coverages, claim.date_of_service)[claim.coverage_rank - 1] ?? NO_COVERAGE,
    insurance: 'of_patient',
  };
}

/** What of a claim's row depends on its content. */
export function contentOf(connector: string, claim: ClaimInput) {
  const content = JSON.stringify(claim);
  const content_hash = createHash('sha256').update(content).digest('base64');
  return { content, content_hash, patient_key: patientKey(connector, claim) };
}

/**
 * Changes the patient's claims that are open or were closed for want of insurance. Returns how many
 * are different now.
 */
export async function changeClaimsOf(
  { tx, connector, now }: IntakeContext,
  patient_id: string,
  change: (claim: ClaimInput) => ClaimInput,
): Promise<number> {
  const rows = await tx
    .selectFrom('appointments')
    .select(['id', 'content'])
    .where('patient_key', '>=', `${connector}|${patient_id}|`)
    // The character after the bar: whatever begins with the id and a bar comes before it.
    .where('patient_key', '<', `${connector}|${patient_id}}`)
    .where('kind', '=', 'claim')
    .where('superseded_at', 'is', null)
    .where((where) =>
      where.or([where('closed_reason', 'is', null), where('closed_reason', '=', 'no_coverage')]),
    )
    .execute();
  let different = 0;
  for (const { id, content } of rows) {
    const before = JSON.parse(content) as ClaimInput;
    if (before.patient.id !== patient_id) continue;
    const after = contentOf(connector, change(before));
    if (after.content === content) continue;
    await tx
      .updateTable('appointments')
      .set({
        ...after,
        closed_reason: null,
        closed_at: null,
        plan_due_at: now,
        plan_wait: null,
        updated_at: now,
      })
      .where('id', '=', id)
      .execute();
    const reason = 'The practice management system has changed what it says about the patient.';
    await writeAudit(tx, [
      { at: now, subject: appointmentSubject(id), from_state: null, to_state: 'changed', reason },
    ]);
    different += 1;
  }
  return different;
}
