import type {
  ClaimResponse,
  ClaimResponseItem,
  ClaimResponseItemAdjudication,
  CodeableConcept,
  Communication,
  DocumentReference,
  Money as FhirMoney,
  Reference,
} from '@medplum/fhirtypes';
import { wallClockText } from '../../../src/domain/time.ts';
import type { ClaimCode, ClaimStatusRecord } from '../../../src/records/claim-status.ts';
import {
  type ClaimSummary,
  OUTCOME_SENTENCES,
  summarizeClaim,
} from '../../../src/records/summary.ts';
import type { ClaimDelivery } from '../../contract.ts';
import { type Json, listAt, textAt } from '../element.ts';
import { ADJUDICATIONS, CLAIM_TYPES, LOINC, PAYMENT_TYPES } from '../systems.ts';
import { moneyOf } from './benefits.ts';
import { type About, answeredAt, base64 } from './resources.ts';

type Parts = { delivery: ClaimDelivery; about: About };

/**
 * Builds the response from the payer's answer about a claim. `claim` is the server's Claim; null if
 * it cannot be read.
 */
export function claimResponse({ delivery, about }: Parts, claim: Json | null): ClaimResponse {
  const { record } = delivery;
  const items = claim === null ? [] : adjudicated(record, claim);
  const paid = total(record.claim.codes.map(({ paid }) => moneyOf(paid)));
  const { paid_on } = record.claim;
  return {
    resourceType: 'ClaimResponse',
    identifier: [about.identifier],
    status: 'active',
    type: claimType(record, claim),
    use: 'claim',
    patient: about.patient,
    created: answeredAt(record, about),
    insurer: about.insurer,
    request: about.subject as NonNullable<ClaimResponse['request']>,
    outcome: outcomeOf(record),
    disposition: claimDisposition(record),
    ...(items.length === 0 ? {} : { item: items }),
    ...(record.claim.status === 'paid' && paid !== null
      ? {
          payment: {
            type: { coding: [{ system: PAYMENT_TYPES, code: 'complete' }] },
            amount: paid,
            ...(paid_on === null ? {} : { date: paid_on }),
          },
        }
      : {}),
    processNote: claimLines(delivery, about.time_zone).map((text, index) => ({
      number: index + 1,
      text,
    })),
  };
}

function claimType({ specialty }: ClaimStatusRecord, claim: Json | null): CodeableConcept {
  const [coding] = listAt(claim?.type, 'coding');
  const code = textAt(coding, 'code');
  if (code !== '') return { coding: [{ system: textAt(coding, 'system') || CLAIM_TYPES, code }] };
  return {
    coding: [{ system: CLAIM_TYPES, code: specialty === 'dental' ? 'oral' : 'professional' }],
  };
}

function outcomeOf({ outcome, claim }: ClaimStatusRecord): ClaimResponse['outcome'] {
  if (outcome !== 'successful' || claim.status === 'not_on_file') return 'error';
  if (claim.status === 'pending') return 'queued';
  return claim.status === 'unknown' ? 'partial' : 'complete';
}

const WORDS: Readonly<Record<ClaimStatusRecord['claim']['status'], string>> = {
  paid: 'The insurance company says that the claim is paid.',
  partly_paid: 'The insurance company says that the claim is paid in part.',
  approved: 'The insurance company says that the claim is approved.',
  denied: 'The insurance company says that the claim is denied.',
  pending: 'The insurance company says that the claim is being processed.',
  not_on_file: 'The insurance company says that it has no such claim.',
  unknown: 'What became of the claim is unknown.',
};

function claimDisposition({ outcome, claim }: ClaimStatusRecord): string {
  return outcome === 'successful'
    ? WORDS[claim.status]
    : `${OUTCOME_SENTENCES[outcome]} Nothing is known about the claim.`;
}

/**
 * Matches items of the Claim by their codes; unknown values are left out (G8), and an item without
 * known values has no entry.
 */
function adjudicated(record: ClaimStatusRecord, claim: Json): ClaimResponseItem[] {
  return listAt(claim, 'item').flatMap((item) => {
    const itemSequence = Number(textAt(item, 'sequence'));
    const own = listAt(item.productOrService, 'coding').map((coding) =>
      textAt(coding, 'code').toUpperCase(),
    );
    const said = record.claim.codes.filter(({ code }) => own.includes(code));
    const adjudication = said.length === 1 && said[0] !== undefined ? adjudications(said[0]) : [];
    return itemSequence > 0 && adjudication.length > 0 ? [{ itemSequence, adjudication }] : [];
  });
}

function adjudications(code: ClaimCode): ClaimResponseItemAdjudication[] {
  const entries: [CodeableConcept, FhirMoney | null][] = [
    [{ coding: [{ system: ADJUDICATIONS, code: 'benefit' }] }, moneyOf(code.paid)],
    [
      { coding: [{ system: ADJUDICATIONS, code: 'deductible' }] },
      moneyOf(code.applied_to_deductible),
    ],
    [{ text: 'Patient responsibility' }, moneyOf(code.patient_responsibility)],
  ];
  return entries.flatMap(([category, amount]) => (amount === null ? [] : [{ category, amount }]));
}

/** Returns the sum if all amounts are known. */
function total(amounts: readonly (FhirMoney | null)[]): FhirMoney | null {
  const known = amounts.flatMap((amount) =>
    amount === null ? [] : [Math.round((amount.value ?? 0) * 100)],
  );
  if (known.length === 0 || known.length < amounts.length) return null;
  return { value: known.reduce((sum, cents) => sum + cents, 0) / 100, currency: 'USD' };
}

const LINES: [keyof ClaimSummary | 'specialty' | 'asked_at' | 'inquiry', string][] = [
  ['said_status', "Payer's word"],
  ['claim_number', "Payer's number"],
  ['received_on', 'Received'],
  ['processed_on', 'Processed'],
  ['paid_on', 'Paid'],
  ['processed_up_to', 'Processed up to'],
  ['turnaround', 'Turnaround'],
  ['call_ended_at', 'Call ended'],
  ['representative', 'Representative'],
  ['reference_number', 'Reference number'],
  ['recordings', 'Recordings'],
  ['transcripts', 'Transcripts'],
  ['call_summary', 'Summary of the call'],
  ['confidence', 'Confidence by the checks of the call'],
  ['completeness', 'Completeness'],
  ['questions', 'Asked about'],
  ['asked_at', 'Asked at'],
  ['specialty', 'Specialty'],
  ['outcome', 'Outcome of the call'],
  ['status', "The service's word for it"],
  ['inquiry', 'Inquiry'],
];

/** Formats the record for people. */
export function claimLines(delivery: ClaimDelivery, time_zone: string): string[] {
  const { record, notes } = delivery;
  const told = summarizeClaim(record);
  const summary = {
    ...told,
    call_ended_at: wallClockText(told.call_ended_at, time_zone),
    specialty: record.specialty,
    asked_at: wallClockText(record.inquiry_created_at ?? '', time_zone),
    inquiry: record.inquiry_id,
  };
  return [
    claimDisposition(record),
    ...notes,
    ...LINES.flatMap(([key, name]) =>
      summary[key] === '' ? [] : [`${name}: ${String(summary[key])}`],
    ),
    ...summary.codes.map(({ code, line }) => `${code}: ${line}`),
    ...summary.notes,
  ];
}

/** Builds the document for a server that does not accept ClaimResponse. */
export function claimDocument({ delivery, about }: Parts): DocumentReference {
  const { record } = delivery;
  const title = `Claim status: ${claimDisposition(record)}`;
  const date = answeredAt(record, about);
  const attach = (contentType: string, text: string) => ({
    attachment: { contentType, title, creation: date, data: base64(text) },
  });
  return {
    resourceType: 'DocumentReference',
    identifier: [about.identifier],
    status: 'current',
    type: { coding: [{ system: LOINC, code: '48768-6' }], text: 'Claim status' },
    subject: about.patient,
    date,
    description: title,
    content: [
      attach('text/plain', `${claimLines(delivery, about.time_zone).join('\n')}\n`),
      attach('application/json', JSON.stringify(record)),
    ],
    context: { related: [about.subject] },
  };
}

export function claimCommunication({ delivery, about }: Parts): Communication {
  return {
    resourceType: 'Communication',
    identifier: [about.identifier],
    status: 'completed',
    category: [{ text: 'Claim status' }],
    subject: about.patient,
    about: [about.subject as Reference<never>],
    sent: answeredAt(delivery.record, about),
    payload: [{ contentString: claimLines(delivery, about.time_zone).join('\n') }],
  };
}
