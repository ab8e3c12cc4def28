import type { DayHours, LeadRules } from './payer-hours.ts';
import type { Specialty } from './specialty.ts';

/**
 * The clinic as planning sees it: the part of the configuration that rules need, with every default
 * filled in.
 */
export type ClinicProfile = {
  name: string;
  /** IANA zone of wall times, business days, and "today". */
  time_zone: string;
  specialty: Specialty;
  tax_id: string;
  billing_npi: string;
  is_specialist: boolean;
  /** Null: the service finds it out (docs/service.md "Inquiry request"). */
  in_network: boolean | null;
  practice_billing_address: string | null;
  /** Where services are provided, for medical and mental health; null: not given. */
  place_of_service: string | null;
  /**
   * Local dates on which the clinic is closed, `YYYY-MM-DD`, in addition to weekends and federal
   * holidays.
   */
  closed: ReadonlySet<string>;
  /** Keys: the PMS's location name or ID, lower case. */
  locations: ReadonlyMap<string, ProviderOverride>;
  /** Keys: rendering NPI. */
  providers: ReadonlyMap<string, ProviderOverride>;
};

/** Values of a location or a provider that differ from the clinic's; absent: the clinic's value. */
export type ProviderOverride = {
  specialty?: Specialty;
  tax_id?: string;
  billing_npi?: string;
  is_specialist?: boolean;
  in_network?: boolean;
  place_of_service?: string;
};

/** Planning rules (docs/design.md "Planning rules"). */
export type Policy = LeadRules & {
  look_ahead_days: number;
  reverify_after_days: number;
  /** Calls for one need, including those after an UNSUCCESSFUL one. */
  attempts: number;
  /** Pause between an UNSUCCESSFUL answer and the next attempt. */
  attempt_pause_hours: number;
  /** Days after the visit when eligd stops polling for an answer. */
  give_up_after_days: number;
  /** Null: no limit. */
  calls_per_day: number | null;
  calls_per_month: number | null;
  dollars_per_day: number | null;
  dollars_per_month: number | null;
  /** For codes that the call for the visit's need did not ask about: note them, or call again. */
  new_codes: 'note' | 'call';
  /** How long the plan terms from a payer count as known; never beyond the plan year. */
  benefits_days: number;
  /** Fields required for a call, by specialty. */
  required_fields: Readonly<Record<Specialty, readonly RequiredField[]>>;
  questions: Readonly<Record<Specialty, QuestionRules>>;
  claims: ClaimPolicy;
};

/** When eligd asks payers about claims. */
type ClaimPolicy = {
  /** Days after the date of service. */
  ask_after_days: number;
  /** Days after an answer that did not settle the claim. */
  ask_again_days: number;
  /** The most calls about one claim; after that, it goes on the attention list. */
  max_calls: number;
  required_fields: readonly ClaimRequiredField[];
  /** The service's word for the patient's primary coverage; medical only. `none`: not sent. */
  beneficiary: string;
};

export const REQUIRED_FIELDS = [
  'patient_name', 'dob', 'member_id', 'tax_id', 'billing_npi', 'rendering_npi', 'group_id',
  'payor_id', 'carrier', 'procedure_codes', 'diagnosis_codes', 'place_of_service', 'billed_amount',
] as const; // biome-ignore format: a list of words reads better in lines than in a column

export type RequiredField = (typeof REQUIRED_FIELDS)[number];

/** The fields of appointments, and two fields that only claims have. */
export const CLAIM_REQUIRED_FIELDS = [
  ...REQUIRED_FIELDS,
  'claim_number',
  'date_of_service',
] as const;

export type ClaimRequiredField = (typeof CLAIM_REQUIRED_FIELDS)[number];

/**
 * The rules for which questions the payer is asked. The first rule whose conditions all hold wins;
 * a null condition always holds.
 */
export type QuestionRules = readonly QuestionRule[];

export type QuestionRule = {
  /**
   * The name of a need's question set is that of the rule for a patient without history. A rule
   * that asks less because more is known belongs to the same need.
   */
  name: string;
  /** Codes or ranges (`D8000-D8999`). */
  when_codes: readonly CodeRange[] | null;
  /** Payers as named by the PMS or the payer map: names, payer IDs, or carriers. */
  when_payers: readonly string[] | null;
  when_patient: 'new' | 'returning' | null;
  /** Whether the plan's terms are known; a rule for `known` leaves out codes with known terms. */
  when_benefits: 'known' | 'unknown' | null;
  /** The payer described terms of the plan within this many days. */
  when_benefits_days: number | null;
  /** The payer said within this many days whether the coverage is active. */
  when_eligibility_days: number | null;
  /** Values of `benefits_query`; custom values pass through. */
  benefits_query: readonly string[];
  /** Whether the appointment's procedure codes are sent as `benefits_codes`. */
  with_codes: boolean;
  call_script_id: string | null;
  /** Name of one of the service's forms; medical and mental health only. */
  benefits_form_name: string | null;
};

/** Inclusive, compared as text of equal length; for a single code, both ends are equal. */
export type CodeRange = { from: string; to: string };

/** One line of `payers.csv`. */
export type PayerEntry = {
  /** The service's carrier identifier, e.g. `DELTA_DENTAL_OF_ILLINOIS`; empty: unmapped. */
  carrier: string;
  payor_id: string;
  /** `unsupported`: the calling service cannot call this payer, so the office must. */
  action: 'call' | 'skip' | 'attention' | 'unsupported';
  reverify_after_days: number | null;
  /** The payer's phone number; empty: not given. */
  phone_number: string;
  /** When it answers the phone; null: as in `policy.payer_hours`. */
  hours: DayHours | null;
  /** IANA zone of its hours; null: as in `policy.payer_hours`. */
  zone: string | null;
  /** Whether the provider is in network, by nine-digit tax ID; the key '' is for every tax ID. */
  in_network: ReadonlyMap<string, boolean>;
};

/** Looks up a payer of the PMS by ID or by name. */
export type PayerMap = {
  /** `name` is compared without case, punctuation, and repeated spaces; an ID match wins. */
  find: (payor_id: string, name: string) => PayerEntry | null;
};
