/**
 * The two legs of an inquiry and every legal step of each. The store changes a state only along
 * this table, and writes each step to the audit trail; nothing else in eligd knows which states
 * follow which.
 *
 *     planned     decided, not sent. Nothing at the service.
 *     sending     the intent is committed, the request may be out. Found at start, it becomes
 *                 uncertain.
 *     uncertain   the reply was lost or is not usable: eligd never sends it again without a lookup
 *                 at the service (G1).
 *     open        the service has it, under an id we know.
 *     answered    the service ended it; outcome.ts reads its word in `service_status`.
 *     rejected    the service refused the content; nothing exists there.
 *     undecidable every lookup is used up without proof either way: the operator decides.
 *     withdrawn   not needed any more before it was sent; may come back.
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

export const INQUIRY_STEPS: Readonly<Record<InquiryState, readonly InquiryState[]>> = {
  // open: the check before the call found one that is ours (restored or lost database).
  planned: ['sending', 'withdrawn', 'open'],
  // planned: proven unsent.
  sending: ['open', 'planned', 'uncertain', 'rejected'],
  // planned: proven absent by two lookups.
  uncertain: ['open', 'planned', 'undecidable'],
  // uncertain: the id belongs to somebody else's inquiry, or the service does not know it any more.
  open: ['answered', 'uncertain', 'undecidable'],
  // open: the service withdrew its answer.
  answered: ['open', 'answered'],
  // Both come back when the content changes or the operator says so.
  rejected: ['planned', 'withdrawn'],
  // By the operator, after another lookup.
  undecidable: ['uncertain', 'open', 'withdrawn'],
  // uncertain: the service had said success, so it is looked for before anything else.
  withdrawn: ['planned', 'uncertain'],
};

/**
 * The delivery of one record to one appointment. `failed` is tried again automatically, `parked`
 * only by the operator.
 */
export const DELIVERY_STATES = ['pending', 'failed', 'delivered', 'parked'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const DELIVERY_STEPS: Readonly<Record<DeliveryState, readonly DeliveryState[]>> = {
  pending: ['delivered', 'failed', 'parked'],
  failed: ['delivered', 'failed', 'parked'],
  delivered: [],
  parked: ['pending'],
};

export function isInquiryStep(from: InquiryState, to: InquiryState): boolean {
  return INQUIRY_STEPS[from].includes(to);
}

export function isDeliveryStep(from: DeliveryState, to: DeliveryState): boolean {
  return DELIVERY_STEPS[from].includes(to);
}
