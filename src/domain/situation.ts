/**
 * The situation of an appointment is derived, never stored, so it cannot disagree with the rows
 * that it is derived from. It is total (G2): every appointment is in exactly one situation. The
 * first that holds counts:
 *
 *     closed      it has a `closed_reason`.
 *     attention   an open entry is about it or about one of its inquiries (but for
 *                 INFORMATIONAL_REASONS); an inquiry of it was refused or cannot be decided, or a
 *                 delivery is parked; or nothing says what it waits for, which is a bug.
 *     waiting     a coverage has no inquiry yet, or it changed before its inquiry was sent:
 *                 planning looks at `plan_due_at`.
 *     planned     decided, not sent.
 *     asking      the request is out, in a lookup, or with the service.
 *     answered    the answer is here and not yet written into the practice management system.
 *     delivered   the newest answer is written.
 *
 * Of several coverages the least advanced counts. Of several inquiries for one coverage (another
 * attempt, another need) the newest counts, and one that is withdrawn counts as nothing.
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

/** Entries that only inform, while the appointment continues automatically. */
export const INFORMATIONAL_REASONS: readonly AttentionReason[] = [
  'payer_unmapped',
  'payers_unreadable',
  'codes_not_asked',
  'duplicate_call',
  'answer_late',
  ...VERDICT_REASONS,
];

/**
 * The progress of one coverage's inquiry; the smallest one decides. Below zero, it has no inquiry.
 */
export const STAGES = {
  none: -1,
  blocked: 0,
  planned: 1,
  asking: 2,
  answered: 3,
  delivered: 4,
} as const;
