/** Where the year's money went, by kind of call and by the reason for asking about codes. */
import { type InquiryDraft, parseDraft } from '../../src/domain/inquiry.ts';
import { isUrgent } from '../../src/domain/price.ts';
import { localDate } from '../../src/domain/time.ts';
import type { InquiryRow } from '../../src/store/calls/inquiries.ts';
import { type Patient, planOn, YEAR } from './practice.ts';

export type CostPart = { calls: number; codes: number; urgent: number; cents: number };

type SentCall = Pick<InquiryRow, 'draft' | 'sent_at' | 'charge_cents' | 'attempt'>;

export type CostParts = {
  all: CostPart;
  /** By kind of call. */
  kinds: Record<string, CostPart>;
  /** Codes that eligd asked about, by reason. */
  codes_of: Record<string, number>;
};

/** The parts of calls, in the order in which they were sent. */
export function costParts(
  calls: readonly { call: SentCall; patient: Patient }[],
  time_zone: string,
): CostParts {
  const parts: CostParts = { all: nothing(), kinds: {}, codes_of: {} };
  const met = new Set<string>();
  for (const { call, patient } of calls) {
    const draft = parseDraft(call.draft);
    const kind = kindOf(patient, draft, { is_first: !met.has(patient.id), attempt: call.attempt });
    if (draft.claim === undefined) met.add(patient.id);
    const codes = draft.claim === undefined ? draft.benefits_codes.length : 0;
    const sent_on = localDate(call.sent_at ?? 0, time_zone);
    const of_kind = parts.kinds[kind] ?? nothing();
    parts.kinds[kind] = of_kind;
    for (const part of [parts.all, of_kind]) {
      part.calls += 1;
      part.codes += codes;
      part.urgent += isUrgent(draft, sent_on) ? 1 : 0;
      part.cents += call.charge_cents ?? 0;
    }
    const whose = codesOf(patient, call.sent_at ?? 0);
    if (codes > 0) parts.codes_of[whose] = (parts.codes_of[whose] ?? 0) + codes;
  }
  return parts;
}

const nothing = (): CostPart => ({ calls: 0, codes: 0, urgent: 0, cents: 0 });

function kindOf(
  patient: Patient,
  draft: InquiryDraft,
  { is_first, attempt }: { is_first: boolean; attempt: number },
): string {
  if (draft.claim !== undefined) return attempt === 1 ? 'claims' : 'claims asked about again';
  if (patient.payor_id === '') return 'payers nobody can phone';
  if (!is_first) return 'later visits of the year';
  return patient.is_returning ? 'first of the year, returning' : 'first of the year, new';
}

/** Why eligd had to ask about a code, as far as the patient is the reason. */
function codesOf(patient: Patient, at: number): string {
  if (patient.payor_id === '') return 'payers nobody can phone';
  if (!planOn(patient, at).is_calendar) return 'plan years that end on an unknown day';
  if (patient.group_id === '') return 'patients without a group';
  return Number(patient.birth_date.slice(0, 4)) > YEAR - 19 ? 'children' : 'adults of a group';
}
