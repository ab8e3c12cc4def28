import { expect, test } from 'vitest';
import { entryActions } from '../../src/office/entry-actions.ts';
import { CALL_REASONS } from '../../src/records/schedule-line.ts';

/** The buttons next to an entry about visit 7. */
function buttonsOf(reason: string): string {
  const target = { subject: { kind: 'appointment', id: 7 }, csrf: 'x', back: 'attention' } as const;
  const entry = { id: 1, reason, what: 'It happened.', next: 'Act.', words: null };
  const offers = { visit: 7, quote: null, again: null, about: null };
  return entryActions(entry, target, offers).text;
}

test.each([...CALL_REASONS, 'answer_late', 'codes_not_asked'])(
  'a user who may have to call the payer finds the call sheet next to %s',
  (reason) => {
    expect(buttonsOf(reason)).toContain('/visit/7/call-sheet');
    expect(buttonsOf(reason)).toContain('/visit/7/called');
  },
);

test('there is no call sheet where a call would change nothing', () => {
  for (const reason of ['field_missing', 'not_covered', 'patient_deceased', 'delivery_parked'])
    expect(buttonsOf(reason)).not.toContain('call-sheet');
});
