/** Drafts the content of an inquiry for planning. */
import type { AppointmentInput, CoverageInput } from './appointment.ts';
import { fittingCodes, planCode } from './codes.ts';
import type { InquiryDraft } from './inquiry.ts';
import { carrierOf, carrierSentence, networkOf, payerIdOf } from './payers.ts';
import type { ClinicProfile, PayerEntry, QuestionRule } from './policy.ts';
import type { Provider } from './provider.ts';
import type { LocalDate } from './time.ts';

type DraftParts = {
  appointment: AppointmentInput;
  under: Parameters<typeof requestOf>[1];
  questions: QuestionRule;
  /** Codes whose plan terms are known; a rule for known benefits leaves them out. */
  known_codes: ReadonlySet<string>;
  visit: LocalDate;
};

export function draftInquiry(
  { appointment, under, questions, known_codes, visit }: DraftParts,
  clinic: ClinicProfile,
): InquiryDraft {
  const shared = requestOf(appointment, under, clinic);
  const codes = fittingCodes(shared.specialty, appointment.procedure_codes);
  const wanted = questions.with_codes ? codes.fitting : [];
  const is_known = questions.when_benefits === 'known';
  const asked = wanted.filter((code) => !is_known || !known_codes.has(planCode(code)));
  return {
    ...shared,
    // Without a code, nobody can answer a question about codes.
    benefits_query: questions.benefits_query.filter(
      (query, _, all) => asked.length > 0 || !isCodeLookup(query) || all.every(isCodeLookup),
    ),
    benefits_codes: asked,
    ...(questions.with_codes && codes.left_out.length > 0
      ? { left_out_codes: codes.left_out }
      : {}),
    call_script_id: questions.call_script_id,
    desired_completion_date: visit,
    ...(shared.specialty === 'dental' || questions.benefits_form_name === null
      ? {}
      : { benefits_form_name: questions.benefits_form_name }),
  };
}

function isCodeLookup(query: string): boolean {
  return query.startsWith('CODE_LOOKUP_');
}

type AskedAbout = Pick<AppointmentInput, 'patient' | 'diagnosis_codes' | 'billed_amount'>;

/**
 * Returns the part of a request that benefits and claims share: patient, coverage, provider, and
 * location.
 */
export function requestOf(
  asked: AskedAbout,
  under: { coverage: CoverageInput; payer: PayerEntry | null; provider: Provider },
  clinic: ClinicProfile,
): Omit<
  InquiryDraft,
  'benefits_query' | 'benefits_codes' | 'call_script_id' | 'desired_completion_date'
> {
  const { patient } = asked;
  const { coverage, payer, provider } = under;
  const { specialty } = provider;
  // Additional fields: those that the specialty has and whose value is known.
  const additional = {
    ...(specialty === 'dental'
      ? {}
      : { place_of_service: provider.place_of_service, billed_amount: asked.billed_amount }),
    ...(specialty === 'medical' ? { insurance_phone_number: payer?.phone_number } : {}),
  };
  return {
    specialty,
    patient_name: `${patient.first_name} ${patient.last_name}`.trim(),
    dob: patient.birth_date ?? '',
    member_id: coverage.member_id,
    group_id: coverage.group_id,
    tax_id: provider.tax_id,
    billing_npi: provider.billing_npi,
    rendering_npi: provider.rendering_npi,
    insurance: carrierOf({ specialty, payer, coverage }),
    insurance_payor_id: payerIdOf({ payer, coverage }),
    insurance_in_network: networkOf(payer, provider.tax_id) ?? provider.in_network,
    is_specialist: provider.is_specialist,
    practice_billing_address: clinic.practice_billing_address ?? '',
    diagnosis_codes: asked.diagnosis_codes,
    additional_info: [carrierSentence({ specialty, payer, coverage }), subscriberSentence(coverage)]
      .filter((sentence) => sentence !== '')
      .join(' '),
    ...Object.fromEntries(Object.entries(additional).filter(([, value]) => (value ?? '') !== '')),
  };
}

/** Names the policyholder if not the patient, because the request has no field for that person. */
function subscriberSentence({ subscriber }: CoverageInput): string {
  if (subscriber === null || subscriber.name === '') return '';
  const born = subscriber.birth_date === null ? '' : `, born ${subscriber.birth_date}`;
  const relationship =
    subscriber.relationship === ''
      ? ''
      : `; the patient is the subscriber's ${subscriber.relationship}`;
  return `Subscriber: ${subscriber.name}${born}${relationship}.`;
}
