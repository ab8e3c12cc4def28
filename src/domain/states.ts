/**
 * The states of an inquiry and of a delivery, and every legal step between them. The store allows
 * only these steps and writes each one to the audit trail. Only this table defines the steps.
 *
 *     planned     decided, not sent. Nothing at the service.
 *     sending     the intent is committed; the request may have left. If its process dies, or the
 *                 reply cannot be committed, it becomes uncertain.
 *     uncertain   the reply was lost or is unusable: eligd never sends it again without a lookup
 *                 at the service (G1).
 *     open        the service has it, under an ID that eligd knows.
 *     answered    the service has finished it; outcome.ts reads `service_status`.
 *     rejected    the service rejected the content; it has no such inquiry.
 *     undecidable the service said that it took the inquiry, and does not list it: the operator
 *                 decides.
 *     withdrawn   no longer needed, and no call of its own is open; may be planned again.
 */
export const INQUIRY_STATES = [
  'planned',
  'sending',
  'uncertain',
  'open',
  'answered',
  'rejected',
  'undecidable',
  'withdrawn',
] as const;
export type InquiryState = (typeof INQUIRY_STATES)[number];

/**
 * The states that each state can change to. A comment says when a step that is not obvious occurs.
 */
export const INQUIRY_STEPS: Readonly<Record<InquiryState, readonly InquiryState[]>> = {
  // open: a list showed a call for it, which had seemed absent, or which a lost database made.
  planned: ['sending', 'withdrawn', 'open'],
  // planned: the request never left, or the service refused to take it.
  sending: ['open', 'planned', 'uncertain', 'rejected'],
  // planned: two lookups proved that the service does not have it.
  uncertain: ['open', 'planned', 'undecidable'],
  // uncertain: the ID belongs to another inquiry, or the service no longer knows it.
  open: ['answered', 'uncertain', 'undecidable'],
  // open: the service withdrew its answer.
  answered: ['open', 'answered'],
  // planned: its content was corrected, or the operator retries it. withdrawn: no visit needs it.
  rejected: ['planned', 'withdrawn'],
  // The operator decides, after another lookup.
  undecidable: ['uncertain', 'open', 'withdrawn'],
  // uncertain: the service had reported success, so eligd looks it up first.
  withdrawn: ['planned', 'uncertain'],
};

/**
 * The delivery of one record to one appointment. eligd retries `failed` automatically and `parked`
 * only when the operator says so.
 */
export const DELIVERY_STATES = ['pending', 'failed', 'delivered', 'parked'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const DELIVERY_STEPS: Readonly<Record<DeliveryState, readonly DeliveryState[]>> = {
  pending: ['delivered', 'failed', 'parked'],
  failed: ['delivered', 'failed', 'parked'],
  delivered: [],
  parked: ['pending'],
};

/** Returns whether an inquiry may change from one state to the other. */
export function isInquiryStep(from: InquiryState, to: InquiryState): boolean {
  return INQUIRY_STEPS[from].includes(to);
}

/** Returns whether a delivery may change from one state to the other. */
export function isDeliveryStep(from: DeliveryState, to: DeliveryState): boolean {
  return DELIVERY_STEPS[from].includes(to);
}
