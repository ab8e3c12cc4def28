import type { FinalOutcome } from './outcome.ts';
import { unquoted } from './quotes.ts';

/**
 * Something that waits for you (G2): what happened and why, and what to do, in sentences an
 * office manager understands.
 */
export type Attention = {
  reason: AttentionReason;
  what: string;
  next: string;
  /**
   * Words of somebody else, as sentences that follow `what`: of the calling service, of a FHIR
   * server, of an HL7 receiver, or the name of a file. They may name a patient, so they are shown
   * only where patients are (G6).
   */
  words?: string | null;
};

/** What happened: with all words for those who may see patients, and without for everybody else. */
export function entryText(
  { what, words }: Pick<Attention, 'what' | 'words'>,
  { patients }: { patients: boolean },
): string {
  if (patients) return words == null || words === '' ? what : `${what} ${words}`;
  return words == null || words === '' ? unquoted(what) : `${unquoted(what)} ${MORE_SAID}`;
}

const MORE_SAID = 'More was said, which may name a patient: --patients shows it.';

/**
 * Stable words for programs, with who sets them. Sentences that need no value stand here; others
 * are made where they arise.
 */
export const ATTENTION_REASONS = {
  // planning
  field_missing: 'A field that a call needs is empty.',
  field_malformed: 'A field that a call needs has a value that cannot be right.',
  too_late_to_call: 'The visit is too near for a call.',
  insurance_awaited:
    'The practice management system has said nothing about the patient’s insurance yet.',
  answer_unwritable: 'No answer could be written into the practice management system.',
  patient_deceased: 'The practice management system says that the patient has died.',
  payer_needs_attention: 'The payer map says that a person takes care of this payer.',
  payer_unsupported: 'The payer map says that the calling service cannot call this payer.',
  payer_not_callable:
    'Nobody could phone this payer: its name is not in the payer map, and there is no payer ID.',
  codes_not_asked: 'Codes of the visit are not among those that the payer was asked about.',
  payer_unmapped: 'Payers of the PMS are not in the payer map.',
  payers_unreadable: 'The payer map was changed and has an error; the one before it is used.',
  fees_unreadable: 'The fee schedule was changed and has an error; the one before it is used.',
  vanished: 'The appointment was missing from two exports in a row that should have named it.',
  row_unreadable: 'A row or message could not be read.',
  file_rejected: 'Nothing in a file could be read.',
  planning_failed: 'eligd failed to plan the appointment, and tries again.',
  // inquiry
  inquiry_unreadable: 'What is stored about an inquiry is damaged; it is not sent.',
  refused: 'The service refused the content of the inquiry.',
  unconfirmed: 'A reply was lost, and whether the service has the inquiry is still not known.',
  undecidable: 'It could not be found out whether the service has the inquiry.',
  lost_at_service: 'The service does not know an inquiry any more that it had accepted.',
  extra_call: 'The service holds more than one inquiry for one need.',
  unsuccessful: 'The payer could not be asked successfully in all attempts.',
  cancelled_by_service: 'The service cancelled the inquiry.',
  payer_waits: 'The payer cannot be reached, and the visit is near.',
  answer_unusable: 'An answer is there, and no record could be made of it.',
  answer_late: 'The answer is late, and the visit is in less than a day.',
  answer_missing: 'The answer is late, and the visit is in less than four hours.',
  no_answer: 'The visit is over and the answer never came.',
  verification_failed:
    'A check of the calls that verification.require names is not met, or never came.',
  coverage_conflict:
    'What the payers of two coverages say about who pays first does not fit together.',
  claim_unsettled:
    'The payer was asked about a claim as often as policy.claims.max_calls allows, and has ' +
    'not settled it.',
  claim_denied: 'The payer has denied a claim.',
  claim_partly_paid: 'The payer has paid a claim in part, or denied codes of it.',
  claim_not_on_file: 'The payer says that it does not have the claim.',
  claim_unclear: 'The payer is done with a claim, and did not say what it decided.',
  // what an answer comes to (policy.attention)
  not_eligible: 'The plan is inactive, has ended, or has not begun on the day of the visit.',
  not_covered: 'A scheduled procedure is not covered.',
  limit_reached: 'A frequency or age limit stands against a scheduled procedure.',
  maximum_used_up: 'Nothing is left of the maximum.',
  prior_authorization: 'A scheduled procedure needs prior authorization.',
  out_of_network: 'The office is out of network.',
  downgrade: 'The plan pays for a cheaper procedure instead.',
  referral_required: 'The plan requires a referral.',
  not_primary: 'Another coverage pays first.',
  // delivery
  delivery_parked: 'A record could not be written into the practice management system.',
  // installation
  submission_stopped: 'Nothing is sent to the service at the moment.',
  observe_mode: 'The configuration says mode: observe, so no calls are made.',
  webhook_silent: 'The service has stopped sending webhook events.',
  subscription_elsewhere: 'The service reports to somebody else.',
  subscription_failed: 'The service does not keep the subscription as it should be.',
  answers_away: 'The calling service cannot be asked for results.',
  clock_wrong: 'The clock of this computer differs from the service’s.',
  connector_cannot_read: 'Appointments cannot be read.',
  connector_cannot_listen: 'Messages cannot be received.',
  connector_cannot_write: 'Results cannot be written.',
  payer_unreachable: 'Several calls in a row to one payer brought no answer; further ones wait.',
  port_taken: 'eligd cannot listen at an address of its configuration.',
  database_damaged: 'SQLite’s own check finds errors in the database.',
  backup_missing: 'No backup was made for more than two days.',
  purge_missing: 'Old data was not deleted for more than two days.',
  export_missing: 'No export arrived by its usual hour.',
  export_empty: 'The last export holds no rows.',
  export_small: 'The last export holds less than half of the usual rows.',
} as const;

export type AttentionReason = keyof typeof ATTENTION_REASONS;

/** Reasons that are about the installation: something is wrong until it ends. */
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

/** Reasons that planning sets and takes back automatically each time it looks at an appointment. */
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

/**
 * Reasons that are about the answer alone: nobody has to act on them once what was asked for is
 * closed.
 */
export const ANSWER_REASONS: readonly AttentionReason[] = [
  'unsuccessful',
  'cancelled_by_service',
  'payer_waits',
  'verification_failed',
  'answer_late',
  'answer_missing',
  'no_answer',
];

/** For an inquiry that ended without an answer after so many calls. */
export function unanswered(outcome: FinalOutcome | null, calls: number): Attention {
  if (outcome === 'cancelled') {
    return {
      reason: 'cancelled_by_service',
      what: 'The service cancelled the inquiry. It is not sent again automatically.',
      next: 'Ask the calling service why, or call the payer yourself.',
    };
  }
  return {
    reason: 'unsuccessful',
    what: `The payer could not be asked successfully (${calls} ${calls === 1 ? 'call' : 'calls'}).`,
    next:
      'Read the summary in the record, check the member id and the payer, or call the payer ' +
      'yourself.',
  };
}

/**
 * What the answer itself asks somebody to do. The visit goes on without it, so these change no
 * situation; once handled (`eligd done`) they stay away until the answer changes.
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
