import { expect, test } from 'vitest';
import type { CurrentInquiry } from '../../src/domain/explanation.ts';
import { OPERATOR_HOLD } from '../../src/domain/operator.ts';
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

const IN_ASKING: CurrentInquiry = {
  ...{ appointment: 7, coverage_rank: 1, stage: 2, id: 1, state: 'planned', reason: null },
  ...{ service_status: null, due_at: 0, lookup_at: null, poll_at: null, sent_at: null },
  was_accepted: null,
  ...{ hold_reason: OPERATOR_HOLD, overdue_since: null, has_unread: 0 },
};

test.each([
  { state: 'planned' as const, is_offered: true },
  { state: 'uncertain' as const, is_offered: true },
  { state: 'open' as const, is_offered: false },
])('a call on hold that is $state can be released: $is_offered', ({ state, is_offered }) => {
  const target = { subject: { kind: 'appointment', id: 7 }, csrf: 'x', back: 'attention' } as const;
  const entry = { id: 1, reason: 'unconfirmed', what: 'It happened.', next: 'Act.', words: null };
  const about = { id: 7, closed_reason: null, inquiries: [{ ...IN_ASKING, state }] };
  const { text } = entryActions(entry, target, { visit: 7, quote: null, again: null, about });
  expect(text.includes('/visit/7/release')).toBe(is_offered);
  expect(text).not.toContain('/visit/7/hold');
});
