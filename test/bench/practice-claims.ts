/**
 * The claims of the practice of `practice.ts` that are still open in its software two weeks after
 * the visit, and the payers' answers, in words that payers really use. It contains no rule of
 * eligd.
 */
import { Dice } from '../../src/sandbox/dice.ts';
import type { Visit } from './practice.ts';

/** Of 100 visits; the others are paid and posted by then. */
const OPEN_SHARE = 0.12;
const DAY_MS = 86_400_000;
export const EXPORTED_AFTER_DAYS = 14;

export type Claim = {
  id: string;
  visit: Visit;
  /** Until then the payer says that it is pending. */
  decided_at: number;
  decision: 'paid' | 'denied' | 'not_on_file';
  /** The payer's words for it. */
  words: string;
  /** When the software posts the payment; infinite: never, unless the office does something. */
  posted_at: number;
};

const WORDS = {
  paid: ['PAID', 'PROCESSED', 'FINALIZED'],
  denied: ['DENIED', 'DENIED - TIMELY FILING', 'Denied (duplicate)'],
  not_on_file: ['NOT ON FILE'],
} as const;

/** By the day on which the practice software first lists them, earliest first. */
export function openClaims(visits: readonly Visit[]): Claim[] {
  return visits
    .filter(({ id, patient }) => patient.payor_id !== '' && dice(id).chance('open', OPEN_SHARE))
    .map(claimOf)
    .toSorted((a, b) => a.visit.at - b.visit.at);
}

function claimOf(visit: Visit): Claim {
  const drawn = dice(visit.id);
  const part = drawn.fraction('decision');
  const decision = part < 0.7 ? 'paid' : part < 0.92 ? 'denied' : 'not_on_file';
  const is_slow = decision !== 'not_on_file' && drawn.chance('slow', 0.2);
  const days = is_slow ? drawn.integer('decided', 20, 60) : 10;
  const decided_at = visit.at + days * DAY_MS;
  const posted_after = drawn.integer('posted', 20, 90) * DAY_MS;
  return {
    id: `C${visit.id}`,
    visit,
    decided_at,
    decision,
    words: drawn.pick('words', WORDS[decision]),
    posted_at:
      decision === 'paid'
        ? Math.max(decided_at, visit.at + posted_after)
        : Number.POSITIVE_INFINITY,
  };
}

/** The payer's answer on the phone. */
export function claimAnswer(
  { id, visit, decided_at, decision, words }: Claim,
  at: number,
): Record<string, unknown> {
  if (at < decided_at) return { status: 'PENDING', number: id };
  if (decision === 'not_on_file') return { status: words };
  const date = new Date(decided_at).toISOString().slice(0, 10).split('-');
  const [year = '', ...rest] = date;
  const decided_on = [...rest, year].join('-');
  // A payer that says "finalized" says no more.
  if (words === 'FINALIZED') return { status: words, number: id };
  return {
    status: words,
    number: id,
    timeline: { date_processed: decided_on, date_paid: decision === 'paid' ? decided_on : null },
    code_details: visit.codes.map((procedure_code) => ({
      procedure_code,
      ...(decision === 'paid'
        ? { amound_paid: '80.00', patient_responsibility: '20.00' }
        : { amound_paid: '0.00', claim_denial_reason: 'See the remittance.' }),
    })),
  };
}

/**
 * The same as the old rules read it: whole words only, without the evidence. They asked again about
 * unknown words, and about a claim that was not on file, as about a pending one.
 */
export function asOldRulesRead(answer: Record<string, unknown>): Record<string, unknown> {
  const { status, number } = answer;
  const is_known = status === 'PAID' || status === 'DENIED';
  return is_known ? answer : { status: 'PENDING', number };
}

function dice(id: string): Dice {
  return new Dice('claim', id);
}
