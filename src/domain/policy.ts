import type { DayHours, LeadRules } from './payer-hours.ts';
import type { Specialty } from './specialty.ts';

/**
 * The clinic as planning sees it: the part of the configuration that rules need, with every default
 * filled in.
 */
export type ClinicProfile = {
  name: string;
  /** IANA zone; wall times, business days and "today" are judged in it. */
  time_zone: string;
  specialty: Specialty;
  tax_id: string;
  billing_npi: string;
  is_specialist: boolean;
  /** Null: left to the service to find out (docs/service.md "Inquiry request"). */
  in_network: boolean | null;
  practice_billing_address: string | null;
  /** Where services are given, for medical and mental health; null: not said. */
  place_of_service: string | null;
  /**
   * Local dates on which the clinic is closed, `YYYY-MM-DD`, besides weekends and federal holidays.
   */
  closed: ReadonlySet<string>;
  /** By the PMS's location name or id, lower case. */
  locations: ReadonlyMap<string, ProviderOverride>;
  /** By rendering NPI. */
  providers: ReadonlyMap<string, ProviderOverride>;
};

/** What a location or a provider says otherwise than the clinic; absent: the clinic's value. */
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
  /** Calls for one need, counting those after an UNSUCCESSFUL one. */
  attempts: number;
  /** Pause between an UNSUCCESSFUL answer and the next attempt. */
  attempt_pause_hours: number;
  /** Days after the visit at which asking for an answer ends. */
  give_up_after_days: number;
  /** Null: no limit. */
  calls_per_day: number | null;
  calls_per_month: number | null;
  dollars_per_day: number | null;
  dollars_per_month: number | null;
  /** A visit with codes that the call for its need did not ask about: said, or called about. */
  new_codes: 'note' | 'call';
  /** How long what a payer said of a plan counts as known; never beyond the plan year. */
  benefits_days: number;
  /** Fields without which no call is made, by specialty. */
  required_fields: Readonly<Record<Specialty, readonly RequiredField[]>>;
  questions: Readonly<Record<Specialty, QuestionRules>>;
  claims: ClaimPolicy;
};

/** When payers are asked about claims. */
export type ClaimPolicy = {
  /** Days after the service. */
  ask_after_days: number;
  /** Days after an answer that settles nothing. */
  ask_again_days: number;
  /** The most calls about one claim; after that, it goes on the attention list. */
  max_calls: number;
  required_fields: readonly ClaimRequiredField[];
  /** The service's word for the patient's primary coverage; medical. `none`: it is not sent. */
  beneficiary: string;
};

export const REQUIRED_FIELDS = [
  'patient_name', 'dob', 'member_id', 'tax_id', 'billing_npi', 'rendering_npi', 'group_id',
  'payor_id', 'carrier', 'procedure_codes', 'diagnosis_codes', 'place_of_service', 'billed_amount',
] as const; // biome-ignore format: a list of words reads better in lines than in a column

export type RequiredField = (typeof REQUIRED_FIELDS)[number];

/** For claims also the two that only claims have. */
export const CLAIM_REQUIRED_FIELDS = [
  ...REQUIRED_FIELDS,
  'claim_number',
  'date_of_service',
] as const;

export type ClaimRequiredField = (typeof CLAIM_REQUIRED_FIELDS)[number];

/**
 * Which questions the payer is asked. The first rule of which every condition holds wins; a
 * condition that is null always holds.
 */
export type QuestionRules = readonly QuestionRule[];

export type QuestionRule = {
  /**
   * A need is called after the rule for a patient of whom nothing is known: what another rule asks
   * once more is known is the same need, asked more briefly.
   */
  name: string;
  /** Codes or ranges (`D8000-D8999`). */
  when_codes: readonly CodeRange[] | null;
  /** Payers as the PMS or the payer map calls them: names, payer IDs or carriers. */
  when_payers: readonly string[] | null;
  when_patient: 'new' | 'returning' | null;
  /** Whether the plan's terms are known; a rule for `known` leaves out the codes that are. */
  when_benefits: 'known' | 'unknown' | null;
  /** The payer named terms of the plan within so many days. */
  when_benefits_days: number | null;
  /** The payer said within so many days whether the coverage is active. */
  when_eligibility_days: number | null;
  /** Values of `benefits_query`; custom values pass through. */
  benefits_query: readonly string[];
  /** Whether the appointment's procedure codes go along as `benefits_codes`. */
  with_codes: boolean;
  call_script_id: string | null;
  /** Name of a form of the service; medical and mental health. */
  benefits_form_name: string | null;
};

/** Inclusive, compared as text of equal length; a single code has both ends alike. */
export type CodeRange = { from: string; to: string };

/** One line of `payers.csv`. */
export type PayerEntry = {
  /** The service's carrier identifier, e.g. `DELTA_DENTAL_OF_ILLINOIS`; empty: unmapped. */
  carrier: string;
  payor_id: string;
  /** `unsupported`: the calling service cannot call this payer, so the office has to. */
  action: 'call' | 'skip' | 'attention' | 'unsupported';
  reverify_after_days: number | null;
  /** The payer's telephone number; empty: not said. */
  phone_number: string;
  /** When it answers the phone; null: as `policy.payer_hours` says. */
  hours: DayHours | null;
  /** IANA zone of its hours; null: as `policy.payer_hours` says. */
  zone: string | null;
  /** Whether the provider is in network, by tax ID of nine digits; under '': for every tax ID. */
  in_network: ReadonlyMap<string, boolean>;
};

/** Looks a PMS's payer up by id or by name. */
export type PayerMap = {
  /** `name` is compared without case, punctuation and repeated blanks; an id match wins. */
  find: (payor_id: string, name: string) => PayerEntry | null;
};
