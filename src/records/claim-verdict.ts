/** Decides a claim's status: first from the evidence, then from the payer's words. */
import type { ClaimCode, ClaimStatus } from './claim-status.ts';

/** The configured meaning of a payer's words, by those words as written. */
export type ClaimWords = Readonly<Record<string, ClaimStatus>>;

/** The parts of an answer that decide the status regardless of its words. */
type ClaimEvidence = {
  is_paid_on: boolean;
  codes: readonly Pick<ClaimCode, 'paid' | 'denial_reason' | 'answered'>[];
};

/**
 * Words that a status may begin with, letters only. The longest match counts, so that "not paid" is
 * never read as "paid".
 */
const STATUS_WORDS: Readonly<Partial<Record<ClaimStatus, readonly string[]>>> = {
  paid: [
    ...['PAID', 'PAYMENT ISSUED', 'PAYMENT SENT', 'FINALIZED PAID', 'PROCESSED AND PAID'],
    'PROCESSED PAID',
  ],
  partly_paid: [
    ...['PARTIALLY PAID', 'PARTLY PAID', 'PARTIAL PAYMENT', 'PAID IN PART', 'PAID PARTIALLY'],
    ...['PARTIALLY DENIED', 'PARTLY DENIED', 'PARTIAL DENIAL', 'DENIED IN PART'],
  ],
  approved: ['APPROVED', 'ALLOWED'],
  denied: ['DENIED', 'REJECTED', 'FINALIZED DENIED', 'PROCESSED AND DENIED', 'PROCESSED DENIED'],
  pending: [
    ...['PENDING', 'PENDED', 'IN PROCESS', 'IN PROGRESS', 'PROCESSING', 'RECEIVED', 'ACCEPTED'],
    ...['IN REVIEW', 'UNDER REVIEW', 'ON HOLD', 'SUSPENDED', 'OPEN', 'NOT YET PROCESSED'],
    'NOT PROCESSED',
  ],
  not_on_file: [...['NOT ON FILE', 'NO CLAIM ON FILE', 'NOT FOUND', 'NO RECORD', 'NOT RECEIVED']],
};

/** Words for a claim that the payer has finished, without the decision. */
const FINAL_WORDS = ['FINALIZED', 'PROCESSED', 'COMPLETED', 'CLOSED', 'ADJUDICATED'];
/** What people say before that word: "claim denied", "the claim was paid". */
const SUBJECT = /^(?:THE |THIS )?CLAIM (?:STATUS )?(?:IS |WAS |HAS BEEN )?/;
/** After the first word, these reverse its meaning: "approved, not paid" is not approved. */
const TURNING = /\b(?:NOT|NEVER|REVERSED|VOIDED|RESCINDED)\b/;

/**
 * Returns our word for what the payer said. Evidence decides first: a payment date with amounts, or
 * every code denied. Next come the words that the status begins with, and then the configured
 * words.
 */
export function claimStatusOf(
  said: string | null,
  evidence: ClaimEvidence,
  claim_words: ClaimWords = {},
): ClaimStatus {
  const words = plain(said);
  const by_word = leadingStatus(words.replace(SUBJECT, ''));
  const proven = provenStatus(evidence);
  if (proven !== null) return proven === 'paid' && by_word === 'partly_paid' ? by_word : proven;
  if (by_word === 'approved' && evidence.is_paid_on) return 'paid';
  if (by_word !== null) return by_word;
  const configured = Object.entries(claim_words).find(([word]) => plain(word) === words);
  return configured?.[1] ?? 'unknown';
}

/** Returns whether the payer says that the claim is finished without saying what it decided. */
export function isFinalWord(said: string | null): boolean {
  const words = plain(said).replace(SUBJECT, '');
  return FINAL_WORDS.some((word) => begins(words, word));
}

function plain(said: string | null): string {
  return (said ?? '')
    .toUpperCase()
    .replaceAll(/[^A-Z]+/g, ' ')
    .trim();
}

function begins(words: string, word: string): boolean {
  return words === word || words.startsWith(`${word} `);
}

function leadingStatus(words: string): ClaimStatus | null {
  let best: { status: ClaimStatus; word: string } | null = null;
  for (const [status, candidates] of Object.entries(STATUS_WORDS)) {
    for (const word of candidates) {
      if (begins(words, word) && word.length > (best?.word.length ?? 0))
        best = { status: status as ClaimStatus, word };
    }
  }
  if (best === null || TURNING.test(words.slice(best.word.length))) return null;
  return best.status;
}

function provenStatus({ is_paid_on, codes }: ClaimEvidence): ClaimStatus | null {
  const said = codes.filter(({ answered }) => answered);
  const isPaid = ({ paid }: (typeof said)[number]) =>
    paid !== null && 'amount' in paid && Number(paid.amount) > 0;
  const isDenied = (code: (typeof said)[number]) => code.denial_reason !== null && !isPaid(code);
  const denied = said.filter(isDenied).length;
  if (said.length > 0 && denied === said.length) return 'denied';
  if (!is_paid_on || !said.some(isPaid)) return null;
  return denied > 0 ? 'partly_paid' : 'paid';
}
