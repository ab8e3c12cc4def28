/**
 * Which message goes back about each delivery: the one that `write_back:` names. Each has its own
 * file; an ADT^A08 is about all coverages of a visit (`adt-a08.ts`).
 */
import type { ClaimDelivery, Delivery } from '../../contract.ts';
import { claimOru, eligibilityOru } from './oru-r01.ts';
import type { Outgoing, Writing } from './outbound.ts';
import { claimPin, eligibilityPin } from './pin-i07.ts';

/** The message for an answer about eligibility. */
export function messageFor(writing: Writing, delivery: Delivery): Outgoing {
  return writing.config.write_back === 'oru_r01'
    ? eligibilityOru(writing, delivery)
    : eligibilityPin(writing, delivery);
}

/** The message for an answer about a claim. ADT^A08 has no place for it. */
export function claimMessageFor(writing: Writing, delivery: ClaimDelivery): Outgoing {
  return writing.config.write_back === 'oru_r01'
    ? claimOru(writing, delivery)
    : claimPin(writing, delivery);
}
