import { parseDraft } from './inquiry.ts';
import { localDate, yearOf } from './time.ts';

/** Returns sentences to show next to a record. */
export function deliveryNotes(
  inquiry: {
    answered_at: number | null;
    benefit_year: number;
    draft: string;
    entered_by: string | null;
  },
  time_zone: string,
): string[] {
  const { left_out_codes = [] } = parseDraft(inquiry.draft);
  if (inquiry.entered_by !== null)
    return [`Entered by the office (${inquiry.entered_by}); eligd made no call.`];
  const left_out =
    left_out_codes.length === 0
      ? []
      : [
          `Not asked about: ${left_out_codes.join(', ')}. The calling service takes standard ` +
            'procedure codes only.',
        ];
  if (inquiry.answered_at === null) return left_out;
  const called = localDate(inquiry.answered_at, time_zone);
  if (yearOf(called) >= inquiry.benefit_year) return left_out;
  return [
    ...left_out,
    `The insurance company was asked on ${called}, before the benefit year ` +
      `${inquiry.benefit_year} of the visit began: deductibles and maximums may have been ` +
      'reset.',
  ];
}
