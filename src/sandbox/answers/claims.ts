import { addDays, type Day, dayOfWire } from '../calendar.ts';
import type { Json, JsonObject } from '../json.ts';
import { claimScenarioOf } from '../scenarios.ts';
import type { AnswerContext } from './context.ts';

type ClaimStatus = 'APPROVED' | 'DENIED' | 'PENDING' | 'NOT_ON_FILE';

/** The payer's decision: a status, and whether an approved claim is paid. */
type Outcome = { status: ClaimStatus; is_paid: boolean };

/** Words that some payers use in place of the usual status. */
const SAID: { readonly [scenario: string]: string } = {
  DUPLICATE: 'Denied (duplicate)',
  ODDSTATUS: 'AWAITING_COB',
  PARTLY: 'PARTIALLY PAID',
  PROCESSED: 'PROCESSED',
  TIMELY: 'DENIED - TIMELY FILING',
};

const DENIAL_REASONS = [
  'The service is not a covered benefit.',
  'Prior authorization was not on file.',
  'The claim was received after the filing limit.',
  'Records were requested and not received.',
];

/** Returns the results record of a claims-status inquiry. `amound_paid` is the wire's spelling. */
export function claimResults(context: AnswerContext): { [field: string]: Json | undefined } {
  const { status, is_paid } = outcomeOf(context);
  const number =
    context.request.claim_number ||
    `CLM${claimDice(context).integer('number', 100_000_000, 999_999_999)}`;
  if (status === 'NOT_ON_FILE') {
    return { status, unprocessed_claim_info: unprocessed(context) };
  }
  if (claimScenarioOf(context.request.claim_number) === 'FINALIZED')
    return { status: 'FINALIZED', number };
  const decided = status !== 'PENDING';
  return {
    status: SAID[claimScenarioOf(context.request.claim_number) ?? ''] ?? status,
    number,
    timeline: timeline(context, status, is_paid),
    unprocessed_claim_info: decided ? undefined : unprocessed(context),
    code_details: decided ? codeDetails(context, status) : undefined,
  };
}

function outcomeOf(context: AnswerContext): Outcome {
  switch (claimScenarioOf(context.request.claim_number)) {
    case 'PAID':
    case 'PROCESSED':
    case 'FINALIZED':
    case 'PARTLY':
      return { status: 'APPROVED', is_paid: true };
    case 'APPROVED':
    case 'ODDSTATUS':
      return { status: 'APPROVED', is_paid: false };
    case 'DENIED':
    case 'TIMELY':
    case 'DUPLICATE':
      return { status: 'DENIED', is_paid: false };
    case 'PENDING':
      return { status: 'PENDING', is_paid: false };
    case 'PENDING1':
      return context.attempt === 1
        ? { status: 'PENDING', is_paid: false }
        : { status: 'APPROVED', is_paid: true };
    case 'CLEARED':
      return context.edition === 'first'
        ? { status: 'PENDING', is_paid: false }
        : { status: 'APPROVED', is_paid: true };
    case 'OVERTURNED':
      if (context.attempt > 1) return { status: 'APPROVED', is_paid: true };
      return { status: context.edition === 'first' ? 'DENIED' : 'PENDING', is_paid: false };
    case 'NOTONFILE':
      return { status: 'NOT_ON_FILE', is_paid: false };
    case undefined:
      return {
        status: drawnStatus(claimDice(context).of(context.edition).fraction('status')),
        is_paid: true,
      };
  }
}

function drawnStatus(fraction: number): ClaimStatus {
  if (fraction < 0.6) return 'APPROVED';
  return fraction < 0.78 ? 'DENIED' : fraction < 0.93 ? 'PENDING' : 'NOT_ON_FILE';
}

/** Returns the dice of a claim, which are the same for every inquiry about it. */
function claimDice(context: AnswerContext): AnswerContext['person'] {
  return context.person.of(
    'claim',
    context.request.claim_number ?? '',
    context.request.claims_date_of_service ?? '',
  );
}

function timeline(context: AnswerContext, status: ClaimStatus, is_paid: boolean): JsonObject {
  const dice = claimDice(context);
  const { formats } = context;
  const received = notAfterCall(
    context,
    addDays(serviceDay(context), dice.integer('received', 1, 7)),
  );
  if (status === 'PENDING') return { date_received: formats.date(received) };
  const processed = notAfterCall(context, addDays(received, dice.integer('processed', 3, 14)));
  if (status === 'DENIED' || !is_paid)
    return { date_received: formats.date(received), date_processed: formats.date(processed) };
  const paid = notAfterCall(context, addDays(processed, dice.integer('paid', 1, 5)));
  return {
    date_received: formats.date(received),
    date_processed: formats.date(processed),
    date_paid: formats.date(paid),
  };
}

function unprocessed(context: AnswerContext): JsonObject {
  const dice = claimDice(context);
  return {
    date_processed_up_to: context.formats.date(
      addDays(context.as_of, -dice.integer('backlog', 5, 20)),
    ),
    turnaround_time: dice.chance('turnaround unknown', 0.3) ? null : '30 days',
  };
}

/**
 * Splits the billed amount among payer, contract, and patient, so that the parts of all codes never
 * exceed the bill.
 */
function codeDetails(context: AnswerContext, status: ClaimStatus): Json[] {
  const dice = claimDice(context);
  const codes = context.request.benefits_codes?.length
    ? context.request.benefits_codes
    : [fallbackCode(context)];
  const billed = Math.round(
    (context.request.billed_amount ?? dice.integer('billed', 80, 900)) * 100,
  );
  const per_code = Math.floor(billed / codes.length);
  return codes.map((code) => codeDetail(context, code.toUpperCase(), per_code, status));
}

function codeDetail(
  context: AnswerContext,
  code: string,
  billed: number,
  status: ClaimStatus,
): JsonObject {
  const dice = claimDice(context).of(code);
  const { formats } = context;
  const is_denied = status === 'DENIED' || dice.chance('denied', 0.1);
  const allowed = is_denied ? 0 : Math.floor(billed * dice.pick('allowed', [0.5, 0.6, 0.75, 1]));
  const deductible = Math.floor(allowed * dice.pick('deductible', [0, 0, 0.1, 0.3]));
  const coinsurance = Math.floor((allowed - deductible) * dice.pick('coinsurance', [0, 0.1, 0.2]));
  return {
    procedure_code: code,
    amound_paid: formats.claimAmount(allowed - deductible - coinsurance),
    patient_responsibility: formats.claimAmount(deductible + coinsurance),
    patient_applied_to_deductible: formats.claimAmount(deductible),
    adjustment_details:
      allowed < billed && !is_denied ? 'Contractual adjustment to the allowed amount.' : null,
    claim_denial_reason: is_denied ? dice.pick('denial', DENIAL_REASONS) : null,
    appeal_or_correction_info: is_denied
      ? 'Appeals in writing within 180 days of the decision.'
      : null,
  };
}

function fallbackCode(context: AnswerContext): string {
  return context.specialty === 'dental'
    ? 'D0120'
    : context.specialty === 'medical'
      ? '99213'
      : '90834';
}

function serviceDay(context: AnswerContext): Day {
  const said = context.request.claims_date_of_service;
  const day = typeof said === 'string' ? dayOfWire(said) : undefined;
  return day ?? addDays(context.as_of, -claimDice(context).integer('service day', 30, 90));
}

function notAfterCall(context: AnswerContext, day: Day): Day {
  return day > context.as_of ? context.as_of : day;
}
