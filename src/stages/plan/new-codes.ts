/** Finds procedure codes of a visit that no call has asked about. */
import { codesNotAsked } from '../../domain/ask-again.ts';
import { readDraft } from '../../domain/inquiry.ts';
import type { PlannedCoverage } from '../../domain/planning.ts';
import { latestRecord } from '../../store/answers/answers.ts';
import { codesAsked, type InquiryRow } from '../../store/calls/inquiries.ts';
import type { Tx } from '../../store/engine/database.ts';

/**
 * Returns the codes of the visit that no call for the need has asked about and whose plan terms are
 * unknown. Known are the terms in the record that serves the visit, or those that eligd will add to
 * the answer in progress.
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

/** Returns whether a call asks about codes of the visit that the serving inquiry leaves out. */
export async function asksMore(
  tx: Tx,
  call: InquiryRow,
  { codes, known_codes }: PlannedCoverage,
  serving: InquiryRow,
): Promise<boolean> {
  const known = serving.state === 'answered' ? await earlierCodes(tx, serving) : [...known_codes];
  const missing = codesNotAsked(codes, [codesOf(serving), known]);
  return codesNotAsked(missing, [codesOf(call)]).length < missing.length;
}

const codesOf = ({ draft }: InquiryRow): string[] => readDraft(draft)?.benefits_codes ?? [];

/** Returns the codes whose terms the record of an answer has from earlier calls. */
async function earlierCodes(tx: Tx, { id }: InquiryRow): Promise<string[]> {
  const record = (await latestRecord(tx, id))?.record;
  const earlier = record?.schema === 'eligd.eligibility/1' ? (record.earlier ?? []) : [];
  return earlier.flatMap(({ kind, name }) => (kind === 'code' ? [name] : []));
}

/** Returns the codes of this visit that the calls already sent do not cover. */
export async function newCodes(
  tx: Tx,
  inquiry: InquiryRow,
  coverage: PlannedCoverage,
): Promise<string[]> {
  // An inquiry that has not been sent yet will ask about them, too.
  if (inquiry.state === 'planned' || inquiry.state === 'rejected') return [];
  return await notAsked(tx, coverage, inquiry);
}
