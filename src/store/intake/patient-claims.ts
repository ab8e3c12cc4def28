/**
 * Claims whose source stores insurance with the patient, and updates about the patients of claims.
 */
import type { CoverageInput } from '../../domain/appointment.ts';
import type { ClaimInput } from '../../domain/claim.ts';
import { inForceOn } from '../../domain/coverage-period.ts';
import { parsed } from '../../domain/damaged.ts';
import { keysOfPatient, patientKey } from '../../domain/needs.ts';
import { appointmentSubject, writeAudit } from '../bookkeeping/audit.ts';
import { CHANGED } from '../calls/due-at-once.ts';
import { planVisitAgain } from '../calls/plan-due.ts';
import type { IntakeContext } from './context.ts';

const NO_COVERAGE: CoverageInput = {
  carrier: '',
  payor_id: '',
  member_id: '',
  group_id: '',
  subscriber: null,
};

/**
 * Returns the claim with the patient's insurance at the claim's coverage rank; marked as awaited
 * when `coverages` is undefined (nothing has arrived), and without coverage when the patient has
 * none.
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

/** Returns the columns of a claim that depend on its content. */
export function contentOf(connector: string, claim: ClaimInput) {
  const content = JSON.stringify(claim);
  return { content, patient_key: patientKey(connector, claim) };
}

/**
 * Changes the patient's claims that are open, or closed for lack of insurance. Returns how many
 * changed.
 */
export async function changeClaimsOf(
  { tx, connector, now }: IntakeContext,
  patient_id: string,
  change: (claim: ClaimInput) => ClaimInput,
): Promise<number> {
  const keys = keysOfPatient(connector, patient_id);
  const rows = await tx
    .selectFrom('appointments')
    .select(['id', 'content'])
    .where('patient_key', '>=', keys.from)
    .where('patient_key', '<', keys.before)
    .where('kind', '=', 'claim')
    .where('superseded_at', 'is', null)
    .where((where) =>
      where.or([where('closed_reason', 'is', null), where('closed_reason', '=', 'no_coverage')]),
    )
    .execute();
  let changed_count = 0;
  for (const { id, content } of rows) {
    const before = parsed(content) as ClaimInput | null;
    if (before === null) await planVisitAgain(tx, id);
    if (before?.patient.id !== patient_id) continue;
    const after = contentOf(connector, change(before));
    if (after.content === content) continue;
    await tx
      .updateTable('appointments')
      .set({
        ...after,
        closed_reason: null,
        closed_at: null,
        plan_due_at: CHANGED,
        plan_wait: null,
        updated_at: now,
      })
      .where('id', '=', id)
      .execute();
    const reason = 'The patient data changed in the practice management system.';
    await writeAudit(tx, [
      { at: now, subject: appointmentSubject(id), from_state: null, to_state: 'changed', reason },
    ]);
    changed_count += 1;
  }
  return changed_count;
}
