/**
 * The outcome of an inquiry at the service, and the payer's answer: answers with missing values,
 * which must stay missing (G8).
 */
import type { PayerClock } from './payer-clock.ts';
import { CODES, HOUR_MS, MINUTE_MS, type Plan } from './plan.ts';
import { Random } from './random.ts';

/** `results`: the version of the answer that is shown; null while there is no answer. */
export type Stage = { at: number; status: string; results: number | null };

/** `payers`: when they answer the phone; null: always, also at night. */
export function timelineOf(
  { service }: Plan,
  random: Random,
  now: number,
  payers: PayerClock | null,
): Stage[] {
  const took_ms = random.int(20 * MINUTE_MS, service.answers_within_hours * HOUR_MS);
  const done_at = payers?.after(now, took_ms / HOUR_MS) ?? now + took_ms;
  const stages: Stage[] = [
    {
      at: now,
      status: random.pick(['SCHEDULED', 'SCHEDULED', 'UNKNOWN', 'QUEUED']),
      results: null,
    },
    { at: now + (done_at - now) / 2, status: 'IN_PROGRESS', results: null },
  ];
  if (random.chance(service.never)) return stages;
  const push = (at: number, status: string, results: number | null) =>
    stages.push({ at, status, results });
  if (random.chance(service.cancelled)) {
    push(done_at, 'CANCELLED', null);
    return stages;
  }
  if (random.chance(service.unsuccessful)) {
    push(done_at, 'UNSUCCESSFUL', null);
    if (random.chance(service.revised)) push(done_at + random.int(1, 30) * HOUR_MS, 'SUCCESS', 1);
    return stages;
  }
  const full_at = random.chance(service.empty_success)
    ? done_at + random.int(1, 60) * MINUTE_MS
    : done_at;
  if (full_at > done_at) push(done_at, 'SUCCESS', null);
  push(full_at, 'SUCCESS', 1);
  if (random.chance(service.takes_back)) {
    push(full_at + 2 * HOUR_MS, 'IN_PROGRESS', null);
    push(full_at + 4 * HOUR_MS, 'SUCCESS', 1);
  }
  if (random.chance(service.revised)) push(full_at + random.int(5, 40) * HOUR_MS, 'SUCCESS', 2);
  return stages;
}

export type Said = {
  is_active: boolean | undefined;
  deductible: string | null | undefined;
  covered: boolean | undefined;
  /** `YYYY-MM-DD`. If it is empty or impossible, eligd cannot use it. */
  begins: string | undefined;
};

/** The content of answer `version` to the inquiry; undefined and null are missing values. */
export function saidIn(id: string, version: number): Said {
  const random = new Random(version, `answer ${id}`);
  return {
    is_active: random.pick([true, true, false, undefined]),
    deductible: random.pick(['50.00', '$1,500.00', 'N/A', 'unlimited', '', null, undefined]),
    covered: random.pick([true, false, undefined]),
    begins: random.pick(['2026-01-01', '2025-12-31', '2024-02-29', '', '2026-02-30', undefined]),
  };
}

/** `ended_at`: when the call behind this version ended, as the service writes it. */
export function answerFor(
  plan: Plan,
  { id, request }: { id: string; request: Record<string, unknown> },
  version: number,
  ended_at: string,
): unknown {
  const random = new Random(version, `form ${id}`);
  if (plan.service.poison_answer && random.chance(0.3)) {
    return random.pick([
      'words only',
      7,
      [],
      [[]],
      { call_details: 5, procedure_codes: [[null]], maximums: 'none' },
    ]);
  }
  const said = saidIn(id, version);
  const { service } = plan;
  const [code, other] = CODES[plan.specialty];
  const call = {
    representative_name: `Rep of ${id}`,
    reference_number: `REF-${id}-${version}`,
    call_end_time: ended_at,
    [service.transcript]: 'Hello.',
    custom_answers: { 'Anything else?': 'No.' },
    of_tomorrow: { unknown: true },
  };
  const call_details = { list: [call], object: call, absent: undefined }[service.call_details];
  if (request.type === 'CLAIMS_STATUS')
    return { call_details, ...claimAnswer(plan, { id, version, code: other }) };
  return {
    call_details,
    plan_information: {
      plan_name: `REF-${id}-${version}`,
      is_active: said.is_active,
      effective_date: dateOf(said.begins, service.dates),
    },
    maximums: {
      individual_deductible: said.deductible,
      coverage_limit: amountOf(1500, service.amounts),
    },
    treatment_history: {
      [dateOf('2026-03-04', service.dates) ?? '']: [
        {
          procedure_code: other,
          tooth_numbers: service.tooth_numbers === 'texts' ? ['3', '14'] : [3, 14],
          surfaces: ['M'],
        },
      ],
    },
    procedure_classes: { PREVENTIVE: { is_covered: true } },
    procedure_codes: [
      [{ procedure_code: code, procedure_name: 'one' }, { is_covered: said.covered }],
      [{ procedure_code: other, procedure_name: 'two' }, { is_covered: true }],
    ],
    extra_info: { missing_tooth_clause: 'None.' },
  };
}

/** The payer's word for a claim, and what it means (docs/questions.md). */
const CLAIM_WORDS = {
  PAID: 'paid',
  Pending: 'pending',
  'In process': 'pending',
  DENIED: 'denied',
  'NOT ON FILE': 'not_on_file',
  PROCESSED: 'unknown',
  'AWAITING COB': 'unknown',
} as const;
type ClaimWord = keyof typeof CLAIM_WORDS;

/**
 * What the payer said about the claim; null: nothing. After `DECIDED` words, the office has to act
 * first.
 */
export function claimSaidIn(id: string): ClaimWord | null {
  const words = Object.keys(CLAIM_WORDS) as ClaimWord[];
  return new Random(1, `claim ${id}`).pick([...words, 'Pending', 'In process', null]);
}

/** The word that eligd writes for it. */
export const claimStatusFor = (said: ClaimWord | null) =>
  said === null ? 'unknown' : CLAIM_WORDS[said];

export const DECIDED: readonly (ClaimWord | null)[] = ['DENIED', 'NOT ON FILE', 'PROCESSED'];

function claimAnswer(
  { service }: Plan,
  { id, version, code }: { id: string; version: number; code: string },
): Record<string, unknown> {
  const said = claimSaidIn(id);
  const is_paid = said === 'PAID';
  return {
    status: said,
    number: `REF-${id}-${version}`,
    timeline: {
      date_received: dateOf('2026-03-04', service.dates),
      date_paid: is_paid ? dateOf('2026-03-09', service.dates) : null,
    },
    code_details: is_paid
      ? [{ procedure_code: code, amound_paid: amountOf(90, service.amounts) }]
      : null,
  };
}

function dateOf(date: string | undefined, form: Plan['service']['dates']): string | undefined {
  if (date === undefined || date === '' || form === 'iso') return date;
  const [year, month, day] = date.split('-');
  return form === 'slashes' ? `${month}/${day}/${year}` : `${month}-${day}-${year}`;
}

const DOLLARS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2 });

function amountOf(amount: number, form: Plan['service']['amounts']): string | number {
  if (form === 'number') return amount;
  return form === 'text' ? amount.toFixed(2) : `$${DOLLARS.format(amount)}`;
}
