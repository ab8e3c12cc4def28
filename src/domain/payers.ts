/** Whom to call: which payers can be phoned, and what is said of them in a request. */
import type { CoverageInput } from './appointment.ts';
import type { Attention } from './attention.ts';
import type { PayerEntry } from './policy.ts';
import type { Specialty } from './specialty.ts';

/** A payer as the PMS names it, of which the payer map does not say which carrier it is. */
export type UnmappedPayer = { carrier: string; payor_id: string };

/** Who is called: a line of the payer map, or null, and what the PMS says. */
type Called = {
  specialty: Specialty;
  payer: PayerEntry | null;
  coverage: Pick<CoverageInput, 'carrier' | 'payor_id'>;
};

/**
 * Whether the payer map should have a line for this payer. Outside dental the carrier's name as
 * text will do (docs/service.md "Carrier").
 */
export function isUnmapped({ specialty, payer, coverage }: Called): boolean {
  if (specialty !== 'dental' || (payer?.carrier ?? '') !== '') return false;
  // A line that says who takes care of the payer, or gives its payer ID, needs no carrier.
  if (payer !== null && (payer.action !== 'call' || payer.payor_id !== '')) return false;
  return coverage.carrier.trim() !== '' || coverage.payor_id.trim() !== '';
}

/**
 * Dental carriers are an enumeration that ends in UNKNOWN; elsewhere the name as text will do
 * (docs/service.md "Carrier").
 */
export function carrierOf({ specialty, payer, coverage }: Called): string {
  if (payer !== null && payer.carrier !== '') return payer.carrier;
  return specialty === 'dental' ? 'UNKNOWN' : coverage.carrier;
}

/** The payer's electronic ID: the payer map's, otherwise the PMS's. */
export function payerIdOf({ payer, coverage }: Omit<Called, 'specialty'>): string {
  return payer !== null && payer.payor_id !== '' ? payer.payor_id : coverage.payor_id;
}

/** The PMS's name of a payer that the request itself cannot name; empty where it can. */
export function carrierSentence(called: Called): string {
  const name = called.coverage.carrier.trim();
  return carrierOf(called) === 'UNKNOWN' && name !== '' ? `Insurance company: ${name}.` : '';
}

/**
 * Whether somebody knows whom to phone: a carrier's identifier, a payer ID or, outside dental, a
 * name. Everything else is a paid call that nobody can make.
 */
export function isCallable(called: Called): boolean {
  const carrier = carrierOf(called).trim();
  return (carrier !== '' && carrier !== 'UNKNOWN') || payerIdOf(called).trim() !== '';
}

/**
 * What the payer map says of the network, for a tax ID of nine digits; null: nothing. An entry for
 * every tax ID has the empty text as its key.
 */
export function networkOf(payer: PayerEntry | null, tax_id: string): boolean | null {
  return payer?.in_network.get(tax_id) ?? payer?.in_network.get('') ?? null;
}

/** Why no call is made to this payer, before any money is spent; empty: it can be called. */
export function payerAttention(called: Called): Attention[] {
  const { payer, coverage } = called;
  const name = coverage.carrier.trim() || coverage.payor_id.trim() || 'this insurance company';
  const phone = (payer?.phone_number ?? '') === '' ? '' : ` at ${payer?.phone_number}`;
  if (payer?.action === 'attention') {
    return [
      {
        reason: 'payer_needs_attention',
        what: 'The payer map has the action "attention" for this payer, so no call is made.',
        next: `Call the payer yourself${phone}, or change the action in payers.csv.`,
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
