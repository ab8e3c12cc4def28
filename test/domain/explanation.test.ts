import { expect, test } from 'vitest';
import { type CurrentInquiry, explain } from '../../src/domain/explanation.ts';
import { OPERATOR_HOLD } from '../../src/domain/operator.ts';
import { REFUSED_NEIGHBOR } from '../../src/domain/refusal.ts';

const LOST: CurrentInquiry = {
  appointment: 7,
  coverage_rank: 1,
  stage: 2,
  id: 1,
  state: 'uncertain',
  service_status: null,
  due_at: 0,
  hold_reason: null,
  lookup_at: 60_000,
  poll_at: null,
  sent_at: 0,
  was_accepted: 0,
  overdue_since: null,
  reason: null,
  has_unread: 0,
};

/** What the page and `eligd explain` say about a visit whose call was lost. */
function whyOf(over: Partial<CurrentInquiry>): string {
  const visit = {
    connector: 'pms',
    kind: 'appointment' as const,
    situation: 'asking' as const,
    closed_reason: null,
    plan_wait: null,
    plan_due_at: null,
    starts_at: 100_000,
  };
  const progress = {
    inquiries: [{ ...LOST, ...over }],
    entries: [],
    deliveries: [],
    halts: [],
  };
  return explain(visit, progress, { now: 1, budget: null }).why;
}

test.each([null, REFUSED_NEIGHBOR])('a visit whose lost call is on hold says so', (reason) => {
  const held = 'If the service does not have it, the call stays on hold.';
  const hold_reason = OPERATOR_HOLD;
  expect(whyOf({ hold_reason, reason })).toContain(held);
  expect(whyOf({ reason })).not.toContain('hold');
  // eligd never makes a call again that the service said it took.
  expect(whyOf({ hold_reason, reason, was_accepted: 1 })).not.toContain('hold');
});
