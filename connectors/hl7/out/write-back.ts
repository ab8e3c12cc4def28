/** Which message goes back: the one that `write_back:` names. Each has its own file. */
import type { ClaimDelivery, Delivery } from '../../contract.ts';
import { eligibilityAdt } from './adt-a08.ts';
import { claimOru, eligibilityOru } from './oru-r01.ts';
import type { Outgoing, Writing } from './outbound.ts';
import { claimPin, eligibilityPin } from './pin-i07.ts';

/** The message for an answer about eligibility. */
export function messageFor(writing: Writing, delivery: Delivery): Outgoing {
  switch (writing.config.write_back) {
    case 'oru_r01':
      return eligibilityOru(writing, delivery);
    case 'adt_a08':
      return eligibilityAdt(writing, delivery);
    default:
      return eligibilityPin(writing, delivery);
  }
}

/** The message for an answer about a claim. ADT^A08 has no place for it. */
export function claimMessageFor(writing: Writing, delivery: ClaimDelivery): Outgoing {
  return writing.config.write_back === 'oru_r01'
    ? claimOru(writing, delivery)
    : claimPin(writing, delivery);
}
