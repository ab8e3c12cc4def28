import type { ClaimInput } from './claim.ts';
import { DAMAGED_PATIENT } from './damaged.ts';
import { readDraft } from './inquiry.ts';
import { givenName, lettersAndDigits } from './matching.ts';
import { isNeedOf } from './needs.ts';

/**
 * Returns whether a call was made about the person and the member ID that the claim has now; true
 * if either cannot be read. Another record of the patient has the same name and birth date.
 */
export function isAboutPersonOf(
  call: { need_base: string; draft: string },
  { patient_key, input }: { patient_key: string; input: ClaimInput },
): boolean {
  const { patient, coverage } = input;
  if (patient === DAMAGED_PATIENT) return true;
  if (isNeedOf(call.need_base, patient_key, [coverage])) return true;
  const draft = readDraft(call.draft);
  if (draft === null) return true;
  const asked = [givenName(draft.patient_name), draft.dob, draft.member_id];
  const today = [givenName(patient.first_name), patient.birth_date ?? '', coverage.member_id];
  return asked.map(lettersAndDigits).join() === today.map(lettersAndDigits).join();
}
