/** Decides whether `eligd ask` may order another call for a coverage, and phrases its reply. */
import type { Attention } from './attention.ts';
import { planCode } from './codes.ts';
import type { Done } from './operator.ts';
import { type Cents, dollars } from './price.ts';
import type { InquiryState } from './states.ts';

const refused = (what: string): Done => ({ did: false, what });

export const NOT_PLANNED = refused(
  'eligd has not planned this visit yet. It does so in the next pass.',
);

/**
 * Returns why eligd orders no call while the newest inquiry for the need is in this state; null: it
 * may. There is one call per need at a time (G1), and the next call requires an answer first.
 */
export function refuseAsking({ id, state }: { id: number; state: InquiryState }): Done | null {
  switch (state) {
    case 'answered':
      return null;
    case 'planned':
      return refused(`Inquiry ${id} about this is already planned, but not sent yet.`);
    case 'sending':
    case 'uncertain':
    case 'open':
      return refused(`A call about this is already in progress (inquiry ${id}).`);
    case 'undecidable':
      return refused(
        `eligd does not know whether the service has inquiry ${id}. Run "eligd retry ` +
          `inquiry:${id}".`,
      );
    case 'rejected':
      return refused(
        `The service rejected inquiry ${id}. Correct it in your practice software, or run ` +
          `"eligd retry inquiry:${id}".`,
      );
    case 'withdrawn':
      return refused(`Inquiry ${id} was withdrawn. eligd plans it again when the visit changes.`);
  }
}

/** Says what was ordered, and what it costs. */
export function ordered(id: number, cents: Cents | null): Done {
  const cost = cents === null ? 'Its cost is unknown (prices.per_inquiry).' : '';
  return {
    did: true,
    what: `A call was ordered (inquiry ${id}). ${cost || `It costs ${dollars(cents)}.`}`,
  };
}

/** Says that no further call is needed, because one is planned that serves the visit, too. */
export const alreadyPlanned = (id: number): Done => ({
  did: true,
  what: `Inquiry ${id} about this is already planned, but not sent yet. It serves this visit, too.`,
});

/** Builds the attention item for a visit with codes that its answer does not cover. */
export function notAskedAbout(codes: readonly string[], source_id: string): Attention {
  const list = codes.join(', ');
  return {
    reason: 'codes_not_asked',
    what:
      'The insurance company was asked about other procedures for this patient, but not about ' +
      `${list}.`,
    next: `Call the insurance company yourself, or order a call with "eligd ask ${source_id}".`,
  };
}

/**
 * Returns the procedure codes of a visit that no call for its need has asked about. `asked`: what
 * each of those calls asked.
 */
export function codesNotAsked(
  wanted: readonly string[],
  asked: readonly (readonly string[])[],
): string[] {
  const known = new Set(asked.flat().map(planCode));
  return wanted.filter((code) => !known.has(planCode(code)));
}
