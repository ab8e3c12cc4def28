import { localDate, yearOf } from './time.ts';

/** Sentences that a person should see beside a record. */
export function deliveryNotes(
  inquiry: { answered_at: number | null; benefit_year: number },
  time_zone: string,
): string[] {
  if (inquiry.answered_at === null) return [];
  const called = localDate(inquiry.answered_at, time_zone);
  if (yearOf(called) >= inquiry.benefit_year) return [];
  return [
    `The payer was asked on ${called}, before the benefit year ${inquiry.benefit_year} of ` +
      'the visit began: deductibles and maximums may have started anew.',
  ];
}
