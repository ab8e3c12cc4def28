/**
 * Chooses the message for each delivery, as `write_back:` says. Each type has its own file; an
 * ADT^A08 covers all coverages of a visit (`adt-a08.ts`).
 */
import type { ClaimDelivery, Delivery } from '../../contract.ts';
import { claimOru, eligibilityOru } from './oru-r01.ts';
import type { Outgoing, Writing } from './outbound.ts';
import { claimPin, eligibilityPin } from './pin-i07.ts';

/** Builds the message for an answer about eligibility. */
export function messageFor(writing: Writing, delivery: Delivery): Outgoing {
  return writing.config.write_back === 'oru_r01'
    ? eligibilityOru(writing, delivery)
    : eligibilityPin(writing, delivery);
}

/** Builds the message for an answer about a claim. ADT^A08 has no fields for it. */
export function claimMessageFor(writing: Writing, delivery: ClaimDelivery): Outgoing {
  return writing.config.write_back === 'oru_r01'
    ? claimOru(writing, delivery)
    : claimPin(writing, delivery);
}
