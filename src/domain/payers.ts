/** Decides which payers can be phoned, and what a request says about them. */
import type { CoverageInput } from './appointment.ts';
import type { Attention } from './attention.ts';
import type { PayerEntry } from './policy.ts';
import type { Specialty } from './specialty.ts';

/**
 * A payer as the PMS names it, of which the payer map does not say which carrier it is. `says_who`:
 * the name says who a patient is.
 */
export type UnmappedPayer = { carrier: string; payor_id: string; says_who?: true };

/** The payer to call: its line in the payer map or null, and its name and ID in the PMS. */
type Called = {
  specialty: Specialty;
  payer: PayerEntry | null;
  coverage: Pick<CoverageInput, 'carrier' | 'payor_id'>;
};

/**
 * Returns whether the payer map should have a line for this payer. For specialties other than
 * dental, the carrier's name is enough (docs/service.md "Carrier").
 */
export function isUnmapped({ specialty, payer, coverage }: Called): boolean {
  if (specialty !== 'dental' || (payer?.carrier ?? '') !== '') return false;
  // A line with another action, or with a payer ID, needs no carrier.
  if (payer !== null && (payer.action !== 'call' || payer.payor_id !== '')) return false;
  return coverage.carrier.trim() !== '' || coverage.payor_id.trim() !== '';
}

/**
 * Returns the carrier for a request. Dental carriers are an enumeration that includes UNKNOWN;
 * other specialties accept the name as text (docs/service.md "Carrier").
 */
export function carrierOf({ specialty, payer, coverage }: Called): string {
  if (payer !== null && payer.carrier !== '') return payer.carrier;
  return specialty === 'dental' ? 'UNKNOWN' : coverage.carrier;
}

/** Returns the payer's electronic ID from the payer map, or else from the PMS. */
export function payerIdOf({ payer, coverage }: Omit<Called, 'specialty'>): string {
  return payer !== null && payer.payor_id !== '' ? payer.payor_id : coverage.payor_id;
}

/** Names a payer that has no carrier identifier; empty if the request already names it. */
export function carrierSentence(called: Called): string {
  const name = called.coverage.carrier.trim();
  return carrierOf(called) === 'UNKNOWN' && name !== '' ? `Insurance company: ${name}.` : '';
}

/**
 * Returns whether the calling service knows whom to phone: by a carrier identifier, a payer ID, or,
 * outside dental, a name. Without these, eligd would pay for a call that nobody can make.
 */
export function isCallable(called: Called): boolean {
  const carrier = carrierOf(called).trim();
  return (carrier !== '' && carrier !== 'UNKNOWN') || payerIdOf(called).trim() !== '';
}

/**
 * Returns whether the payer map lists a nine-digit tax ID as in network; null: it does not say. The
 * empty key applies to every tax ID.
 */
export function networkOf(payer: PayerEntry | null, tax_id: string): boolean | null {
  return payer?.in_network.get(tax_id) ?? payer?.in_network.get('') ?? null;
}

/** Returns why eligd cannot call this payer, before any money is spent; empty: it can. */
export function payerAttention(called: Called): Attention[] {
  const { payer, coverage } = called;
  const name = coverage.carrier.trim() || coverage.payor_id.trim() || 'this insurance company';
  const phone = (payer?.phone_number ?? '') === '' ? '' : ` at ${payer?.phone_number}`;
  if (payer?.action === 'attention') {
    return [
      {
        reason: 'payer_needs_attention',
        what:
          'The payer map has the action "attention" for this insurance company, so no call is ' +
          'made.',
        next: `Call the insurance company yourself${phone}, or change the action in payers.csv.`,
      },
    ];
  }
  if (payer?.action === 'unsupported') {
    return [
      {
        reason: 'payer_unsupported',
        what: `eligd made no call: the calling service cannot call ${name} (payers.csv).`,
        next: `Call the insurance company yourself${phone}.`,
      },
    ];
  }
  if (isCallable(called)) return [];
  if (coverage.carrier.trim() === '') {
    return [
      {
        reason: 'field_missing',
        what: 'eligd made no call: the insurance company is missing.',
        next:
          'Enter the insurance company in your practice software. eligd will call after the ' +
          'next export.',
      },
    ];
  }
  return [
    {
      reason: 'payer_not_callable',
      what:
        `eligd made no call: the calling service does not know which company "${name}" is, and ` +
        'the visit has no payer ID.',
      next:
        'Enter the payer ID in your practice software, or ask IT to run "eligd payers" and map ' +
        'the name. eligd then calls.',
    },
  ];
}
