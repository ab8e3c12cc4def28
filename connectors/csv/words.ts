/**
 * The words of practice management systems: states of an appointment and of a claim, names of
 * people, relationships.
 */
import { normalWord } from '../../src/domain/appointment-states.ts';
import type { ClaimInput } from '../../src/domain/claim.ts';

const OPEN_CLAIM =
  'open, unpaid, outstanding, sent, submitted, resubmitted, billed, rebilled, accepted, ' +
  'acknowledged, pending, in process, processing, in progress, on hold, hold, waiting, ' +
  'waiting to send, waiting on primary, ready to submit, unsent, transmitted, delivered, ' +
  'denied, rejected, appealed, in appeal, under review, partially paid, partial';
const SETTLED_CLAIM =
  'settled, paid, paid in full, closed, complete, completed, finished, done, received, ' +
  'finalized, posted, zero balance, written off, write off, void, voided, cancelled, ' +
  'canceled, withdrawn, deleted, removed, resolved, adjusted off, transferred to patient, ' +
  'patient balance';

const CLAIM_WORDS = new Map<string, ClaimInput['status']>([
  ...OPEN_CLAIM.split(', ').map((word): [string, 'open'] => [word, 'open']),
  ...SETTLED_CLAIM.split(', ').map((word): [string, 'settled'] => [word, 'settled']),
]);

/**
 * Returns a function that reads the state of a claim; null for an unknown word. Configured words
 * win.
 */
export function claimStatusReader(
  configured: Record<string, ClaimInput['status']>,
): (text: string) => ClaimInput['status'] | null {
  const words = new Map(CLAIM_WORDS);
  for (const [word, status] of Object.entries(configured)) words.set(normalWord(word), status);
  return (text) => (text === '' ? 'open' : (words.get(normalWord(text)) ?? null));
}

/** Reads which coverage a claim was sent to: `1`, `primary`, `P`; null for another word. */
export function readRank(text: string): number | null {
  const word = normalWord(text);
  if (/^[1-9]$/.test(word)) return Number(word);
  const rank = [
    /^(?:p|pri|prim|primary|1st|first)\b/,
    /^(?:s|sec|secondary|2nd|second)\b/,
    /^(?:t|ter|tertiary|3rd|third)\b/,
  ];
  const found = rank.findIndex((pattern) => pattern.test(word));
  return found === -1 ? null : found + 1;
}

export type PersonName = { first_name: string; last_name: string };
type NameOrder = 'auto' | 'last_first' | 'first_last';

const SUFFIX = /^(?:jr|sr|ii|iii|iv|v|md|dds|dmd|phd|esq)\.?$/i;
const PARTICLE = new RegExp(
  '^(?:van|von|der|den|de|del|della|di|da|dos|das|du|la|le|el|al|bin|ibn|ben' +
    String.raw`|st\.?|ste\.?|ter|ten|zu|y|mc|mac|'t)$`,
  'i',
);

/**
 * Returns the parts of a name in one cell. The payer hears "First Last", so a name split at the
 * wrong place still reads right.
 */
export function splitName(text: string, order: NameOrder): PersonName {
  const comma = text.indexOf(',');
  if (comma !== -1) {
    const before = text.slice(0, comma).trim();
    const after = text.slice(comma + 1).trim();
    if (SUFFIX.test(after)) return splitName(`${before} ${after}`, order);
    const [given = '', suffix = ''] = after.split(',', 2).map((part) => part.trim());
    const last_name = SUFFIX.test(suffix) ? `${before} ${suffix}` : before;
    return { last_name, first_name: SUFFIX.test(suffix) || suffix === '' ? given : after };
  }
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (words.length < 2) return { first_name: '', last_name: words.join(' ') };
  if (order === 'last_first')
    return { last_name: words[0] ?? '', first_name: words.slice(1).join(' ') };
  let start = words.length - 1;
  while (start > 1 && SUFFIX.test(words[start] ?? '')) start -= 1;
  while (start > 1 && PARTICLE.test(words[start - 1] ?? '')) start -= 1;
  return { first_name: words.slice(0, start).join(' '), last_name: words.slice(start).join(' ') };
}

const SELF = new Set([
  'self',
  'same',
  'insured',
  'patient',
  'subscriber',
  'policyholder',
  'policy holder',
  '18',
  '0',
  's',
  'is self',
  'patient is insured',
]);

/** Returns whether the word means that the patient is the policyholder. */
export function isSelf(relationship: string): boolean {
  return SELF.has(normalWord(relationship));
}
