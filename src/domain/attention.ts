import { createHash } from 'node:crypto';
import type { FinalOutcome } from './outcome.ts';
import { unquoted } from './quotes.ts';

/**
 * Something that waits for the office or the operator (G2): what happened, why, and what to do, in
 * sentences that an office manager understands.
 */
export type Attention = {
  reason: AttentionReason;
  what: string;
  next: string;
  /**
   * Words of others as sentences that follow `what`: words of the calling service, a FHIR server,
   * or an HL7 receiver, or a file name. They may identify a patient, so eligd shows them only
   * together with patient data (G6).
   */
  words?: string | null;
};

/**
 * Returns what happened: with the words of others for users who may see patient data; for other
 * users without those words, and without quotations.
 */
export function entryText(
  { what, words }: Pick<Attention, 'what' | 'words'>,
  { patients }: { patients: boolean },
): string {
  if (patients) return words == null || words === '' ? what : `${what} ${words}`;
  return words == null || words === '' ? unquoted(what) : `${unquoted(what)} ${WORDS_HIDDEN}`;
}

/**
 * Returns a hash of the text of an item, so that a user cannot mark an item done whose text has
 * changed.
 */
export function entryMark({
  what,
  next,
  words,
}: Pick<Attention, 'what' | 'next' | 'words'>): string {
  const text = JSON.stringify([what, next, words ?? '']);
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

const WORDS_HIDDEN = 'More details may identify a patient; --patients shows them.';

/**
 * The reasons of attention items, which programs can rely on, each with its meaning. They are
 * grouped by the part of eligd that raises them, which also builds the sentences of the item.
 */
const ATTENTION_REASONS = {
  // planning
  field_missing: 'A field that a call needs is empty.',
  field_malformed: 'A field that a call needs has an invalid value.',
  too_late_to_call: 'The visit is too soon for a call.',
  insurance_awaited: 'The practice management system has not sent the patient’s insurance yet.',
  answer_unwritable: 'An answer could not be written to the practice management system.',
  patient_deceased: 'The practice management system says that the patient has died.',
  payer_needs_attention: 'The payer map says that the office handles this payer.',
  payer_unsupported: 'The payer map says that the calling service cannot call this payer.',
  payer_not_callable:
    'The calling service would not know whom to phone: the payer’s name is not in the payer ' +
    'map, and there is no payer ID.',
  codes_not_asked: 'The payer was not asked about some codes of the visit.',
  payer_unmapped: 'Some payers in the practice management system are not in the payer map.',
  payers_unreadable: 'The payer map has an error; eligd keeps using the previous one.',
  fees_unreadable: 'The fee schedule has an error; eligd keeps using the previous one.',
  vanished: 'The appointment was missing from two exports in a row that should have contained it.',
  row_unreadable: 'A row or message could not be read.',
  file_rejected: 'A file could not be read at all.',
  planning_failed: 'eligd failed to plan the appointment, and tries again.',
  // inquiry
  inquiry_unreadable: 'The stored inquiry is damaged; eligd does not send it.',
  refused: 'The service rejected the content of the inquiry.',
  unconfirmed:
    'A reply was lost, and eligd still does not know whether the service has the inquiry.',
  undecidable: 'eligd could not find out whether the service has the inquiry.',
  lost_at_service: 'The service no longer knows an inquiry that it had accepted.',
  duplicate_call:
    'The service has a call that nothing needs: a second one for the same question, or one that ' +
    'was withdrawn.',
  doubtful_call: 'The account at the service holds a call that may be for this patient.',
  unsuccessful: 'No attempt got an answer from the payer.',
  cancelled_by_service: 'The service canceled the inquiry.',
  payer_waits: 'The payer cannot be reached, and the visit is close.',
  answer_unusable: 'eligd could not make a record of an answer.',
  answer_late: 'The answer is late, and the visit is in less than a day.',
  answer_missing: 'The answer is late, and the visit is in less than four hours.',
  no_answer: 'The visit is over, and no answer arrived.',
  verification_failed:
    'A required check of the call (verification.require) was not met or is missing.',
  coverage_conflict: 'The two payers contradict each other about who pays first.',
  claim_unsettled:
    'eligd made as many calls about a claim as allowed (policy.claims.max_calls), and the payer ' +
    'has not settled it.',
  claim_denied: 'The payer has denied a claim.',
  claim_partly_paid: 'The payer paid only part of a claim, or denied some of its codes.',
  claim_not_on_file: 'The payer says that it does not have the claim.',
  claim_unclear: 'The payer finished a claim, but did not say what it decided.',
  // answers that need action (policy.attention)
  not_eligible: 'The plan is inactive, has ended, or has not begun on the day of the visit.',
  not_covered: 'A scheduled procedure is not covered.',
  limit_reached: 'A frequency or age limit applies to a scheduled procedure.',
  maximum_used_up: 'Nothing is left of the maximum.',
  prior_authorization: 'A scheduled procedure needs prior authorization.',
  out_of_network: 'The office is out of network.',
  downgrade: 'The plan pays for a cheaper procedure instead.',
  referral_required: 'The plan requires a referral.',
  not_primary: 'Another coverage pays first.',
  // delivery
  delivery_parked: 'A record could not be written to the practice management system.',
  // installation
  submission_stopped: 'eligd is not sending anything to the service right now.',
  observe_mode: 'The configuration says mode: observe, so no calls are made.',
  webhook_silent: 'The service has stopped sending webhook events.',
  subscription_elsewhere: 'The service sends webhook events to another address.',
  subscription_failed: 'The service does not store the webhook subscription correctly.',
  answers_away: 'eligd cannot ask the calling service for results.',
  clock_wrong: 'The clock of this computer differs from the service’s.',
  connector_cannot_read: 'Appointments cannot be read.',
  connector_cannot_listen: 'Messages cannot be received.',
  connector_cannot_write: 'Results cannot be written.',
  messages_unread: 'Messages were received, and have not been read for minutes.',
  payer_unreachable: 'Several calls in a row to one payer got no answer; further ones wait.',
  port_taken: 'eligd cannot listen on a configured address.',
  database_damaged: 'SQLite’s integrity check found errors in the database.',
  backup_missing: 'There has been no backup for more than two days.',
  purge_missing: 'Old data has not been deleted for more than two days.',
  export_missing: 'No export arrived by the usual time.',
  export_empty: 'The last export has no rows.',
  export_small: 'The last export has less than half of the usual rows.',
} as const;

export type AttentionReason = keyof typeof ATTENTION_REASONS;

/** Reasons that concern the installation: each stays open until the problem ends. */
export const INCIDENT_REASONS = [
  'submission_stopped',
  'observe_mode',
  'webhook_silent',
  'subscription_elsewhere',
  'subscription_failed',
  'answers_away',
  'clock_wrong',
  'connector_cannot_read',
  'connector_cannot_listen',
  'connector_cannot_write',
  'messages_unread',
  'payer_unreachable',
  'port_taken',
  'database_damaged',
  'backup_missing',
  'purge_missing',
  'export_missing',
  'export_empty',
  'export_small',
] as const satisfies readonly AttentionReason[];

export type IncidentReason = (typeof INCIDENT_REASONS)[number];

/** Reasons that planning sets and clears automatically each time it checks an appointment. */
export const PLANNING_REASONS: readonly AttentionReason[] = [
  'field_missing',
  'field_malformed',
  'too_late_to_call',
  'insurance_awaited',
  'patient_deceased',
  'answer_unwritable',
  'payer_needs_attention',
  'payer_unsupported',
  'payer_not_callable',
  'codes_not_asked',
  'planning_failed',
];

/** Reasons that concern only the answer: they need no action once the appointment is closed. */
export const ANSWER_REASONS: readonly AttentionReason[] = [
  'unsuccessful',
  'cancelled_by_service',
  'payer_waits',
  'verification_failed',
  'answer_late',
  'answer_missing',
  'no_answer',
];

/** Reasons that say of a call that nobody knows whether the service has it. */
export const LOST_REASONS = ['undecidable', 'lost_at_service'] as const;

/** Also while eligd still looks it up. */
export const UNKNOWN_REASONS = ['unconfirmed', ...LOST_REASONS] as const;

/** Returns the item for an inquiry that ended without an answer after this many calls. */
export function unanswered(outcome: FinalOutcome | null, calls: number): Attention {
  if (outcome === 'cancelled') {
    return {
      reason: 'cancelled_by_service',
      what: 'The service canceled the inquiry. eligd does not send it again automatically.',
      next: 'Ask the calling service why, or call the insurance company yourself.',
    };
  }
  return {
    reason: 'unsuccessful',
    what:
      `We could not get an answer from the insurance company (${calls} ` +
      `${calls === 1 ? 'call' : 'calls'}).`,
    next:
      'Read the summary in the record, check the member ID and the carrier, or call the ' +
      'insurance company yourself.',
  };
}

/**
 * Reasons for which the answer itself asks the office to act. The visit can take place without that
 * action, so these reasons change no situation. Once handled (`eligd done`), they do not return
 * until the answer changes.
 */
export const VERDICT_REASONS = [
  'not_eligible',
  'not_covered',
  'limit_reached',
  'maximum_used_up',
  'prior_authorization',
  'out_of_network',
  'downgrade',
  'referral_required',
  'not_primary',
] as const satisfies readonly AttentionReason[];
