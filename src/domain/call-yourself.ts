/** Tells the office about a visit that is too soon for a call: whom to phone and what to ask. */
import type { AppointmentInput } from './appointment.ts';
import type { Attention, AttentionReason } from './attention.ts';
import type { InquiryDraft } from './inquiry.ts';
import { nextOpening, type PayerHours, payerHoursBetween } from './payer-hours.ts';
import type { ClinicProfile } from './policy.ts';
import { effectiveProvider } from './provider.ts';
import { HOUR_MS, type Instant, localDate, localDateTime } from './time.ts';
import { hoursText, type Turnaround } from './turnaround.ts';

/** Attention reasons for which the office phones the payer itself. */
export const PHONE_REASONS: readonly AttentionReason[] = [
  'too_late_to_call',
  'payer_unsupported',
  'payer_needs_attention',
];

/** With at least this many payer hours left, the office has time to phone the payer itself. */
export const CALL_YOURSELF_HOURS = 4;

type LateVisit = {
  /** The payer's name in the PMS; empty: it has none. */
  payer_name: string;
  phone_number: string;
  hours: PayerHours;
  starts_at: Instant;
  /** The last instant at which the call could have been sent. */
  call_by: Instant;
  /** The learned turnaround of the payer's calls; null: too few calls. */
  turnaround: Turnaround | null;
  draft: Pick<InquiryDraft, 'specialty' | 'benefits_query' | 'benefits_codes'>;
  /** The last call was unsuccessful, and the next attempt is too late. */
  has_failed?: boolean;
};

/** Builds the attention item for a visit that is too soon for a call. */
export function callYourself(visit: LateVisit, now: Instant, time_zone: string): Attention {
  const { payer_name, phone_number, hours, starts_at, call_by, turnaround } = visit;
  const name = payer_name.trim() || 'the insurance company';
  const who = phone_number === '' ? name : `${name} (${phone_number})`;
  const opening = nextOpening(now, starts_at, hours);
  const left = payerHoursBetween(now, starts_at, hours);
  const no_call = visit.has_failed
    ? 'The last call was unsuccessful, and eligd makes no other one: its answer would come too ' +
      'late for the visit.'
    : 'eligd made no call: the answer would come too late for the visit. eligd must get the ' +
      `visit by ${localDateTime(call_by, time_zone).replace('T', ' ')}.`;
  const what =
    no_call +
    (turnaround === null
      ? ''
      : ` Nine of ten calls to this insurance company took up to ${hoursText(turnaround.p90_ms)} ` +
        'during its phone hours.');
  if (opening === null || left * HOUR_MS < 1) {
    return {
      reason: 'too_late_to_call',
      what: `${what} ${capital(name)} does not answer the phone before the visit.`,
      next: 'See the patient without an answer, and check the insurance after the visit.',
    };
  }
  const until = localDateTime(opening.to, time_zone);
  const from =
    opening.from <= now
      ? 'now'
      : `from ${localDateTime(opening.from, time_zone).replace('T', ' ')}`;
  const open = `${capital(name)} answers the phone ${from} to ${until.replace('T', ' ')}.`;
  const asked = questions(visit.draft, localDate(starts_at, time_zone))
    .map((question, index) => `(${index + 1}) ${question}`)
    .join(' ');
  const hurry =
    left < CALL_YOURSELF_HOURS
      ? 'There is little time left, so call at once or see the patient without an answer.'
      : 'There is still time to ask.';
  return {
    reason: 'too_late_to_call',
    what: `${what} ${open}`,
    next:
      `${hurry} Call ${who} yourself: "eligd list --attention --patients" shows the IDs. ` +
      `Ask: ${asked}`,
  };
}

/** Returns what the call would have asked, as questions to read out on the phone, in order. */
export function questions(
  { benefits_query, benefits_codes }: LateVisit['draft'],
  visit_day: string,
): string[] {
  const codes = benefits_codes.join(', ');
  const sentences: Readonly<Record<string, readonly string[]>> = {
    STANDARD: LEFT,
    DEDUCTIBLES_AND_MAXIMUMS: LEFT,
    MAXIMUMS: LEFT,
    PLAN_INFO: ['Which plan is it, and what does it pay in and out of network?'],
    TREATMENT_HISTORY: ['Which services were paid for this patient, and when?'],
    PSYCHOTHERAPY: ['What does the plan pay for psychotherapy, and how many sessions?'],
    OFFICE_VISIT_NEW_PATIENT: ['What does the plan pay for the first office visit?'],
    PULMONARY_REHAB_COVERAGE: ['What does the plan pay for pulmonary rehabilitation?'],
    CODE_LOOKUP_BENEFITS: [`What does the plan pay for ${codes}, after which waiting period?`],
    CODE_LOOKUP_FREQUENCIES: [`How often does the plan pay for ${codes}, and when again?`],
    CODE_LOOKUP_PRIOR_AUTH: [`Does ${codes} need prior authorization?`],
    UNKNOWN: [],
  };
  const asked = benefits_query.flatMap(
    (query) => sentences[query] ?? [`What does the plan say about ${plainWords(query)}?`],
  );
  return [
    ...new Set([
      `Is the plan active on ${visit_day}, since when, and until when?`,
      ...asked,
      'Who spoke with me, and what is the reference number of this call?',
    ]),
  ];
}

const LEFT = [
  'What are the deductible and the yearly maximum, and how much of each is left?',
] as const;

function plainWords(query: string): string {
  return query.toLowerCase().replaceAll('_', ' ');
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Returns the patient and provider data to read out on the phone: patient data (G6). */
export function callSheet(appointment: AppointmentInput, clinic: ClinicProfile): string[] {
  const { patient, coverages } = appointment;
  const { tax_id, billing_npi, rendering_npi } = effectiveProvider(appointment, clinic);
  const said = (label: string, value: string) => (value === '' ? [] : [`${label} ${value}`]);
  const insured = coverages.map(({ carrier, payor_id, member_id, group_id, subscriber }) =>
    [
      carrier.trim() || payor_id,
      ...said('member ID', member_id),
      ...said('group', group_id),
      ...said('subscriber', subscriber?.name ?? ''),
      ...said('born', subscriber?.birth_date ?? ''),
    ].join(', '),
  );
  return [
    `Patient: ${patient.first_name} ${patient.last_name}, born ${patient.birth_date ?? 'unknown'}`,
    ...insured.map((each) => `Insurance: ${each}`),
    `Office: ${[
      ...said('tax ID', tax_id),
      ...said('NPI', billing_npi),
      ...(rendering_npi === billing_npi ? [] : said('treating NPI', rendering_npi)),
    ].join(', ')}`,
  ];
}
