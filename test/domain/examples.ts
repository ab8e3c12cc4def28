import type { AppointmentInput, CoverageInput } from '../../src/domain/appointment.ts';
import type { PayerHours } from '../../src/domain/payer-hours.ts';
import type { PlanningFacts } from '../../src/domain/planning.ts';
import type { ClinicProfile, PayerEntry, Policy, QuestionRule } from '../../src/domain/policy.ts';
import { NO_PRICES, priceList } from '../../src/domain/price.ts';
import { ANYTHING } from '../../src/domain/questions.ts';
import type { BudgetRules } from '../../src/store/calls/budget.ts';

/** No limit, and no known price. */
export const NO_BUDGET: BudgetRules = {
  limits: {
    calls_per_day: null,
    calls_per_month: null,
    dollars_per_day: null,
    dollars_per_month: null,
    time_zone: 'America/Chicago',
  },
  prices: priceList(NO_PRICES, () => []),
};

/** Friday, 20 November 2026, 09:00 in Chicago; the Thursday after is Thanksgiving. */
export const FRIDAY_MS = Date.parse('2026-11-20T15:00:00Z');

export function aCoverage(over: Partial<CoverageInput> = {}): CoverageInput {
  return {
    carrier: 'Delta Dental',
    payor_id: '12345',
    member_id: 'W123',
    group_id: 'G1',
    subscriber: null,
    ...over,
  };
}

/** A visit on Monday, 23 November 2026, 09:30 in Chicago. */
export function anAppointment(over: Partial<AppointmentInput> = {}): AppointmentInput {
  return {
    source_id: 'A-1',
    starts_at: '2026-11-23T15:30:00.000Z',
    status: 'booked',
    patient: { id: 'P-1', first_name: 'Ada', last_name: 'Example', birth_date: '1980-01-02' },
    coverages: [aCoverage()],
    provider: {
      rendering_npi: '',
      billing_npi: '',
      tax_id: '',
      is_specialist: null,
      in_network: null,
    },
    location: null,
    specialty: null,
    procedure_codes: ['D0120'],
    diagnosis_codes: [],
    problems: [],
    ...over,
  };
}

export function aRule(over: Partial<QuestionRule> = {}): QuestionRule {
  return {
    ...ANYTHING,
    name: 'standard',
    benefits_query: ['STANDARD'],
    ...over,
  };
}

export function aPayer(over: Partial<PayerEntry> = {}): PayerEntry {
  return {
    carrier: 'DELTA_DENTAL',
    payor_id: '',
    action: 'call',
    reverify_after_days: null,
    phone_number: '',
    hours: null,
    zone: null,
    in_network: new Map(),
    ...over,
  };
}

/** From 08:00 Eastern to 17:00 Pacific. */
export const NATIONAL: PayerHours = {
  hours: { opens: 8 * 60, closes: 17 * 60 },
  zones: ['America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles'],
  holidays: new Set(),
};

type Changes = Partial<Omit<PlanningFacts, 'clinic' | 'policy'>> & {
  clinic?: Partial<ClinicProfile>;
  policy?: Partial<Policy>;
  payer?: PayerEntry | null;
};

export function facts({ clinic, policy, payer = aPayer(), ...over }: Changes = {}): PlanningFacts {
  const fields = ['patient_name', 'dob', 'member_id', 'tax_id', 'billing_npi'] as const;
  return {
    now: FRIDAY_MS,
    is_clock_trusted: true,
    payers: { find: () => payer },
    ...over,
    clinic: {
      name: 'Riverside Dental',
      time_zone: 'America/Chicago',
      specialty: 'dental',
      tax_id: '123456789',
      billing_npi: '1234567893',
      is_specialist: false,
      in_network: null,
      practice_billing_address: null,
      place_of_service: null,
      closed: new Set(),
      locations: new Map(),
      providers: new Map(),
      ...clinic,
    },
    policy: {
      look_ahead_days: 7,
      min_lead_hours: 4,
      late_visits: 'call_yourself',
      payer_hours: NATIONAL,
      same_day_cutoff: 12 * 60,
      turnaround_days: 2,
      reverify_after_days: 30,
      attempts: 2,
      attempt_pause_hours: 20,
      give_up_after_days: 14,
      calls_per_day: null,
      calls_per_month: null,
      dollars_per_day: null,
      dollars_per_month: null,
      new_codes: 'note',
      benefits_days: 365,
      required_fields: { dental: fields, medical: fields, mental_health: fields },
      questions: { dental: [aRule()], medical: [aRule()], mental_health: [aRule()] },
      claims: {
        ask_after_days: 14,
        ask_again_days: 14,
        max_calls: 6,
        required_fields: [...fields, 'date_of_service'],
        beneficiary: 'PRIMARY',
      },
      ...policy,
    },
  };
}
