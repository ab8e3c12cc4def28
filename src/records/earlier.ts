/**
 * Describes the plan terms that a payer stated in earlier calls. They are shown with their own date
 * and source, never as if they were from this call.
 */
import { benefitLine, type Held } from './benefit-line.ts';
import type { EarlierTerm, EligibilityRecord, ProcedureCodeBenefits } from './eligibility.ts';
import { americanDay } from './verdict/reasons.ts';

/** Returns the date of the call in which a term was stated: `03/02/2026`. */
export const saidOn = ({ said_on }: Pick<EarlierTerm, 'said_on'>) => americanDay(said_on);

/** Returns the earlier terms of a code in the form of this call's entries. */
export function earlierCodes(
  { earlier = [] }: EligibilityRecord,
  code: string,
): { path: string; entry: ProcedureCodeBenefits; term: EarlierTerm }[] {
  return earlier.flatMap((term, index) =>
    term.kind === 'code' && term.name === code
      ? [
          {
            path: `earlier[${index}]`,
            entry: {
              code,
              name: term.title,
              asked: false,
              answered: true,
              benefits: term.benefits,
            },
            term,
          },
        ]
      : [],
  );
}

/** Returns one sentence for each term that `isShown`; `heldOf`: the verdict about a code. */
export function earlierNotes(
  { earlier = [] }: EligibilityRecord,
  isShown: (term: EarlierTerm) => boolean,
  heldOf: (code: string | null) => Held,
): string[] {
  return earlier.filter(isShown).map((term) => {
    const { kind, name, title, benefits } = term;
    const what = `${kind} ${name}${title === null ? '' : ` (${title})`}`;
    const held = heldOf(kind === 'code' ? name : null);
    const source = `Said on ${saidOn(term)}, ${sourceWords(term)}, and not asked again`;
    return `${source}: ${what}: ${benefitLine(benefits, held)}`;
  });
}

function sourceWords({ about, inquiry_id, representative, reference_number }: EarlierTerm): string {
  const call = [
    ...(representative === null ? [] : [`by ${representative}`]),
    ...(reference_number === null ? [] : [`reference ${reference_number}`]),
    ...(inquiry_id === null ? [] : [`inquiry ${inquiry_id}`]),
  ].join(', ');
  const who = about === 'patient' ? 'about this patient' : 'about the same plan';
  return call === '' ? who : `${who} (${call})`;
}
