/** Claims whose source keeps insurance with the patient. */
import type { CoverageInput } from '../domain/appointment.ts';
import type { ClaimInput } from '../domain/claim.ts';
import type { Tx } from './database.ts';

const NO_COVERAGE: CoverageInput = { carrier: '', payor_id: '', member_id: '', group_id: '', subscriber: null };

/** The claim with the patient's first insurance; `undefined` when nothing has come about it, empty when the patient pays. */
export function insuredClaim(claim: ClaimInput, coverages: readonly CoverageInput[] | undefined): ClaimInput {
  if (claim.insurance === undefined) return claim;
  if (coverages === undefined) return { ...claim, coverage: NO_COVERAGE, insurance: 'awaited' };
  return { ...claim, coverage: coverages[claim.coverage_rank - 1] ?? NO_COVERAGE, insurance: 'of_patient' };
}

/** Fills in the claims of a patient that wait for the insurance, which has come now. */
export async function insureClaims(
  tx: Tx,
  connector: string,
  patient_id: string,
  coverages: readonly CoverageInput[],
  now: number,
): Promise<void> {
  const rows = await tx
    .selectFrom('appointments')
    .select(['id', 'content'])
    .where('patient_key', '>=', `${connector}|${patient_id}|`)
    .where('patient_key', '<', `${connector}|${patient_id}}`)
    .where('kind', '=', 'claim')
    .where('superseded_at', 'is', null)
    .where('closed_reason', 'is', null)
    .execute();
  for (const { id, content } of rows) {
    const claim = JSON.parse(content) as ClaimInput;
    if (claim.insurance !== 'awaited') continue;
    await tx
      .updateTable('appointments')
      .set({ content: JSON.stringify(insuredClaim(claim, coverages)), plan_due_at: now, updated_at: now })
      .where('id', '=', id)
      .execute();
  }
}
