/** Builds the resources of an answer. Pure: the same delivery gives the same resources (G4). */
import type {
  Communication,
  CoverageEligibilityRequest,
  CoverageEligibilityResponse,
  DocumentReference,
  Identifier,
  Provenance,
  Reference,
} from '@medplum/fhirtypes';
import type { EligibilityRecord } from '../../../src/records/eligibility.ts';
import { OUTCOME_SENTENCES } from '../../../src/records/summary.ts';
import { holdsAt } from '../../../src/records/verdict.ts';
import type { Delivery } from '../../contract.ts';
import { LOINC, PROVENANCE_PARTICIPANTS } from '../systems.ts';
import { benefitItems, procedureConcept } from './benefits.ts';
import { disposition, lines, narrative } from './narrative.ts';

/** The subjects of an answer, as references of the server. */
export type About = {
  identifier: Identifier & { system: string; value: string };
  patient: Reference<never>;
  coverage: Reference<never>;
  insurer: Reference<never>;
  /** The appointment or claim that the inquiry was made for. */
  subject: Reference<never>;
  /** Used if the record has no time of its own: stable for the batch. */
  batch_created_at: string;
  /** The clinic's: people read times on its clock. */
  time_zone: string;
};

type Parts = { delivery: Delivery; about: About };

/** The fields about calls that both kinds of records have. */
export type Called = Pick<EligibilityRecord, 'calls' | 'inquiry_created_at'>;

const PURPOSE: ('benefits' | 'validation')[] = ['benefits', 'validation'];

export function eligibilityRequest({ delivery, about }: Parts): CoverageEligibilityRequest {
  const { record } = delivery;
  const codes = record.asked.benefits_codes
    .filter(isSaid)
    .map((code) => ({ productOrService: procedureConcept(code) }));
  return {
    resourceType: 'CoverageEligibilityRequest',
    identifier: [about.identifier],
    status: 'active',
    purpose: PURPOSE,
    patient: about.patient,
    created: record.inquiry_created_at ?? answeredAt(record, about),
    insurer: about.insurer,
    supportingInfo: [{ sequence: 1, information: about.subject }],
    insurance: [{ focal: true, coverage: about.coverage }],
    ...(codes.length === 0 ? {} : { item: codes }),
  };
}

/**
 * Builds the response. `request` is null if the server does not accept CoverageEligibilityRequest;
 * then its identifier replaces it, because the element is required.
 */
export function eligibilityResponse(
  { delivery, about }: Parts,
  request: Reference<never> | null,
): CoverageEligibilityResponse {
  const { record, verdict } = delivery;
  const { plan } = record;
  const items = benefitItems(delivery);
  const inforce = holdsAt(record, verdict);
  const start = plan?.effective_date ?? null;
  const end = plan?.termination_date ?? null;
  // FHIR does not allow a period that ends before it begins; both dates are in the text.
  const is_period = start !== null && end !== null ? start <= end : start !== null || end !== null;
  return {
    resourceType: 'CoverageEligibilityResponse',
    text: narrative(delivery, about.time_zone),
    identifier: [about.identifier],
    status: 'active',
    purpose: PURPOSE,
    patient: about.patient,
    created: answeredAt(record, about),
    request: (request ?? {
      type: 'CoverageEligibilityRequest',
      identifier: about.identifier,
    }) as CoverageEligibilityResponse['request'],
    outcome: outcomeOf(record),
    disposition: disposition(delivery),
    insurer: about.insurer,
    insurance: [
      {
        coverage: about.coverage,
        ...(inforce === null ? {} : { inforce }),
        ...(is_period
          ? {
              benefitPeriod: {
                ...(start === null ? {} : { start }),
                ...(end === null ? {} : { end }),
              },
            }
          : {}),
        ...(items.length === 0 ? {} : { item: items }),
      },
    ],
    ...(record.outcome === 'successful'
      ? {}
      : { error: [{ code: { text: OUTCOME_SENTENCES[record.outcome] } }] }),
  };
}

function outcomeOf({
  outcome,
  completeness,
}: EligibilityRecord): CoverageEligibilityResponse['outcome'] {
  if (outcome !== 'successful') return 'error';
  return completeness === 'complete' ? 'complete' : 'partial';
}

/** Returns the end of the last call, if known. */
export function answeredAt(record: Called, about: About): string {
  return lastCallEnd(record) ?? record.inquiry_created_at ?? about.batch_created_at;
}

function lastCallEnd({ calls }: Called): string | null {
  return (
    calls
      .map(({ ended_at }) => ended_at)
      .filter((at) => at !== null)
      .toSorted()
      .at(-1) ?? null
  );
}

/** Names the source of the answer: the payer's representative on the phone, recorded by eligd. */
export function provenance(
  { delivery, about }: { delivery: { record: Called }; about: About },
  target: Reference<never>,
): Provenance {
  const { record } = delivery;
  const ended_at = lastCallEnd(record);
  const references = [
    ...new Set(record.calls.map(({ reference_number }) => reference_number).filter(isSaid)),
  ];
  const representatives = [
    ...new Set(record.calls.map(({ representative }) => representative).filter(isSaid)),
  ];
  const agent = (code: string, display: string) => ({
    type: { coding: [{ system: PROVENANCE_PARTICIPANTS, code }] },
    who: { display },
  });
  return {
    resourceType: 'Provenance',
    target: [target],
    ...(ended_at === null ? {} : { occurredDateTime: ended_at }),
    recorded: answeredAt(record, about),
    activity: { text: 'Phone call to the payer' },
    agent: [
      agent('assembler', 'eligd'),
      ...representatives.map((name) => ({
        ...agent('informant', name),
        onBehalfOf: about.insurer,
      })),
    ],
    entity: [
      {
        role: 'source',
        what: {
          identifier: about.identifier,
          display:
            references.length === 0
              ? 'Insurance inquiry'
              : `Insurance inquiry, call reference ${references.join(', ')}`,
        },
      },
    ],
  };
}

/** FHIR does not allow a text without a letter. */
const isSaid = (text: string | null): text is string => text !== null && text.trim() !== '';

export const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');

/** Builds a document for people, with the full record for programs attached. */
export function documentReference({ delivery, about }: Parts): DocumentReference {
  const { record } = delivery;
  const title = `Insurance eligibility: ${disposition(delivery)}`;
  const date = answeredAt(record, about);
  return {
    resourceType: 'DocumentReference',
    identifier: [about.identifier],
    status: 'current',
    type: { coding: [{ system: LOINC, code: '48768-6' }], text: 'Insurance eligibility' },
    subject: about.patient,
    date,
    description: title,
    content: [
      {
        attachment: {
          contentType: 'text/plain',
          title,
          creation: date,
          data: base64(`${lines(delivery, about.time_zone).join('\n')}\n`),
        },
      },
      {
        attachment: {
          contentType: 'application/json',
          title: record.schema,
          creation: date,
          data: base64(JSON.stringify(record)),
        },
      },
    ],
    context: { related: [about.subject] },
  };
}

/** Builds the last fallback for an answer, if a server accepts nothing else. */
export function answerCommunication({ delivery, about }: Parts): Communication {
  const { record } = delivery;
  return {
    resourceType: 'Communication',
    identifier: [about.identifier],
    status: 'completed',
    category: [{ text: 'Insurance eligibility' }],
    subject: about.patient,
    about: [about.subject],
    sent: answeredAt(record, about),
    payload: [{ contentString: lines(delivery, about.time_zone).join('\n') }],
  };
}
