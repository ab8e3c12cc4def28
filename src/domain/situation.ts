/**
 * The situation of an appointment is derived, never stored, so it cannot disagree with the rows
 * that it is derived from. It is total (G2): every appointment is in exactly one situation, the
 * first of these that applies:
 *
 *     closed      it has a `closed_reason`.
 *     attention   an open item concerns it or one of its inquiries (except for
 *                 INFORMATIONAL_REASONS); one of its inquiries was rejected or cannot be decided;
 *                 a delivery is parked; or no row shows what it waits for, which is a bug.
 *     waiting     a coverage has no inquiry yet, or it changed before its inquiry was sent:
 *                 planning checks it at `plan_due_at`.
 *     planned     a call is planned, and not sent yet.
 *     asking      the request is out, in a lookup, or with the service.
 *     answered    the answer has arrived and is not written to the practice management system yet.
 *     delivered   the newest answer is written.
 *
 * Of several coverages, the least advanced decides. Of several inquiries for one coverage (another
 * attempt, another need), the newest decides; withdrawn inquiries do not count.
 */
import { type AttentionReason, VERDICT_REASONS } from './attention.ts';

export const SITUATIONS = [
  'waiting',
  'planned',
  'asking',
  'answered',
  'delivered',
  'attention',
  'closed',
] as const;
export type SituationWord = (typeof SITUATIONS)[number];

/** Reasons that only inform, while eligd continues with the appointment automatically. */
export const INFORMATIONAL_REASONS: readonly AttentionReason[] = [
  'payer_unmapped',
  'payers_unreadable',
  'codes_not_asked',
  'duplicate_call',
  'doubtful_call',
  'answer_late',
  ...VERDICT_REASONS,
];

/**
 * The progress of one coverage's inquiry; the lowest stage decides. Below zero, there is no
 * inquiry.
 */
export const STAGES = {
  none: -1,
  blocked: 0,
  planned: 1,
  asking: 2,
  answered: 3,
  delivered: 4,
} as const;
