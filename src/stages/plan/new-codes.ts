/** Codes of a visit that neither its call nor an earlier one is about. */
import { codesNotAsked } from '../../domain/ask-again.ts';
import type { PlannedCoverage } from '../../domain/planning.ts';
import { latestRecord } from '../../store/answers/answers.ts';
import { codesAsked, type InquiryRow } from '../../store/calls/inquiries.ts';
import type { Tx } from '../../store/engine/database.ts';

/**
 * Codes of the visit that no call for the need has asked about, and of which the plan's terms are
 * not known either: those of the answer that serves, or that an answer under way will be joined
 * with.
 */
export async function notAsked(
  tx: Tx,
  { need_base, benefit_year, codes, known_codes, plan_since }: PlannedCoverage,
  serving: InquiryRow,
): Promise<string[]> {
  if (codes.length === 0) return [];
  const asked = await codesAsked(tx, { need_base, benefit_year, since: plan_since });
  const known = serving.state === 'answered' ? await earlierCodes(tx, serving) : known_codes;
  return codesNotAsked(codes, [...asked, [...known]]);
}

/** Codes of which the record of an answer has the terms from earlier calls. */
async function earlierCodes(tx: Tx, { id }: InquiryRow): Promise<string[]> {
  const record = (await latestRecord(tx, id))?.record;
  const earlier = record?.schema === 'eligd.eligibility/1' ? (record.earlier ?? []) : [];
  return earlier.flatMap(({ kind, name }) => (kind === 'code' ? [name] : []));
}

/** Codes of this visit that the calls which were sent are not about. */
export async function newCodes(
  tx: Tx,
  inquiry: InquiryRow,
  coverage: PlannedCoverage,
): Promise<string[]> {
  // What is not sent yet asks about them, too.
  if (inquiry.state === 'planned' || inquiry.state === 'rejected') return [];
  return await notAsked(tx, coverage, inquiry);
}
