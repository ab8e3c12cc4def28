import type { Attention, AttentionReason } from './attention.ts';
import { nextBusinessDay } from './business-days.ts';
import { type ClaimInput, claimHorizon } from './claim.ts';
import { fittingCodes } from './codes.ts';
import { requestOf } from './draft.ts';
import { CLOCK_RETRY_MS } from './due-times.ts';
import type { InquiryDraft } from './inquiry.ts';
import { needBase } from './needs.ts';
import { payerAttention } from './payers.ts';
import { isInsured, type PlanningFacts } from './planning.ts';
import { effectiveProvider } from './provider.ts';
import { missingClaimFields } from './required-fields.ts';
import { addDays, type Instant, instantOf, type LocalDate, localDate, yearOf } from './time.ts';

/** What planning decides about a claim (docs/design.md "Planning rules", applied to claims). */
type ClaimDecision =
  | { kind: 'close'; reason: 'settled' | 'past' | 'no_coverage' | 'skipped' }
  /** The claim is younger than `ask_after_days`: eligd asks nothing before `until`. */
  | { kind: 'wait'; until: Instant; reason: 'claim_too_young' | 'clock_unproven' }
  /** The office has to fix something first. */
  | { kind: 'raise'; attention: Attention[] }
  | { kind: 'ask'; claim: PlannedClaim };

export type PlannedClaim = {
  need_base: string;
  /** The year of service. */
  benefit_year: number;
  draft: InquiryDraft;
  /** Replaces the time of the visit in the send order and in the polling schedule. */
  wanted_by: Instant;
};

/**
 * Days until the call should be made. No patient is waiting for the answer, and an answer on the
 * same day costs more.
 */
const COMPLETION_DAYS = 3;
/** Days after that at which eligd gives up on the answer, as it does after a visit. */
const GRACE_DAYS = 7;

const INSURANCE_AWAITED: Attention = {
  reason: 'insurance_awaited',
  what:
    'eligd made no call about the claim: the practice management system has not sent the ' +
    'patient’s insurance yet.',
  next: 'Enter the insurance there and save the patient; eligd then calls automatically.',
};

/**
 * Decides what to do about a claim. Pure: the same claim and facts give the same decision.
 * `is_missing`: the last full export does not contain the claim.
 */
export function planClaim(
  patient_key: string,
  claim: ClaimInput,
  is_missing: boolean,
  facts: PlanningFacts,
): ClaimDecision {
  const { now, clinic, policy } = facts;
  if (claim.status === 'settled' || is_missing) return { kind: 'close', reason: 'settled' };
  if (claim.insurance === 'awaited') return { kind: 'raise', attention: [INSURANCE_AWAITED] };
  if (!isInsured(claim.coverage)) return { kind: 'close', reason: 'no_coverage' };
  const { date_of_service } = claim;
  if (date_of_service !== null) {
    const asks_at = instantOf(
      addDays(date_of_service, policy.claims.ask_after_days),
      0,
      clinic.time_zone,
    );
    if (asks_at > now) return { kind: 'wait', until: asks_at, reason: 'claim_too_young' };
    if (claimHorizon(claim, now) < now) {
      return facts.is_clock_trusted
        ? { kind: 'close', reason: 'past' }
        : { kind: 'wait', until: now + CLOCK_RETRY_MS, reason: 'clock_unproven' };
    }
  }
  const payer = facts.payers.find(claim.coverage.payor_id, claim.coverage.carrier);
  if (payer?.action === 'skip') return { kind: 'close', reason: 'skipped' };
  const provider = effectiveProvider(claim, clinic);
  const attention = [
    ...payerAttention({ specialty: provider.specialty, payer, coverage: claim.coverage }),
    ...missingClaimFields(claim, provider, policy.claims.required_fields),
  ];
  if (attention.length > 0 || date_of_service === null) return { kind: 'raise', attention };
  const under = { coverage: claim.coverage, payer, provider };
  return {
    kind: 'ask',
    claim: plannedClaim(patient_key, { ...claim, date_of_service }, under, facts),
  };
}

function plannedClaim(
  patient_key: string,
  claim: ClaimInput & { date_of_service: LocalDate },
  under: Parameters<typeof requestOf>[1],
  facts: PlanningFacts,
): PlannedClaim {
  const { now, clinic, policy } = facts;
  const today = localDate(now, clinic.time_zone);
  const completion = nextBusinessDay(
    addDays(today, COMPLETION_DAYS),
    new Set([...clinic.closed, ...policy.payer_hours.holidays]),
  );
  const shared = requestOf(claim, under, clinic);
  const { beneficiary } = policy.claims;
  const draft: InquiryDraft = {
    ...shared,
    benefits_query: [],
    benefits_codes: fittingCodes(shared.specialty, claim.procedure_codes).fitting,
    call_script_id: null,
    desired_completion_date: completion,
    claim: {
      claim_number: claim.claim_number,
      date_of_service: claim.date_of_service,
      // The specification does not name the word for any other coverage.
      beneficiary: claim.coverage_rank === 1 && beneficiary !== 'none' ? beneficiary : '',
    },
  };
  return {
    need_base: needBase({
      patient_key,
      coverage: claim.coverage,
      tax_id: draft.tax_id,
      question_set: `${shared.specialty}:claim:${claim.source_id}`,
    }),
    benefit_year: yearOf(claim.date_of_service),
    draft,
    wanted_by: instantOf(addDays(completion, GRACE_DAYS), 0, clinic.time_zone),
  };
}

type Said = {
  status: string;
  said_status: string | null;
  codes: readonly { code: string; denial_reason: string | null; appeal_info: string | null }[];
};

const DECIDED: Readonly<Record<string, { reason: AttentionReason; what: string; next: string }>> = {
  denied: {
    reason: 'claim_denied',
    what: 'The insurance company denied the claim.',
    next: 'Appeal or correct the claim in time, or settle it in your practice software.',
  },
  partly_paid: {
    reason: 'claim_partly_paid',
    what: 'The insurance company paid the claim in part.',
    next: 'Check what is missing; appeal in time, or settle it in your practice software.',
  },
  not_on_file: {
    reason: 'claim_not_on_file',
    what: 'The insurance company does not have the claim.',
    next: 'Check the claim number and the insurance company, and send the claim again.',
  },
  final: {
    reason: 'claim_unclear',
    what: 'The insurance company finished the claim, but did not say what it decided.',
    next: 'Look for the remittance, or call the insurance company.',
  },
};

/**
 * Builds the attention item for a claim that the payer has decided and the office must act on;
 * null: no action is needed. `is_final`: the payer only said that the claim is finished. eligd asks
 * about such a claim again only after the PMS has changed it.
 */
export function decidedClaim({ status, said_status, codes }: Said, is_final: boolean) {
  const decided = DECIDED[status === 'unknown' && is_final ? 'final' : status];
  if (decided === undefined) return null;
  const reasons = codes.flatMap(({ code, denial_reason }) =>
    denial_reason === null ? [] : [`${code}: ${denial_reason}`],
  );
  const appeals = [...new Set(codes.flatMap(({ appeal_info }) => appeal_info ?? []))];
  const words = [...(said_status === null ? [] : [`“${said_status}”`]), ...reasons];
  const said = words.length === 0 ? '' : `It said: ${words.join('; ')}.`.replace('..', '.');
  const appeal = appeals.length === 0 ? '' : `Appeal: ${appeals.join(' ')}`;
  return {
    reason: decided.reason,
    what: decided.what,
    words: [said, appeal].filter((text) => text !== '').join(' ') || null,
    next: `${decided.next} eligd asks again once the claim changes there.`,
  } satisfies Attention;
}

/** Builds the attention item for a claim that this many calls have not settled. */
export function unsettled(calls: number): Attention {
  return {
    reason: 'claim_unsettled',
    what:
      'The insurance company was asked about this claim ' +
      `${calls === 1 ? 'once' : `${calls} times`} and has not settled it. eligd does ` +
      'not ask again.',
    next: 'Call the insurance company yourself; the call records show what it said.',
  };
}
