import { describe, expect, test } from 'vitest';
import { mergeNeed } from '../../src/domain/merged-needs.ts';
import {
  isWithdrawable,
  type OperatedInquiry,
  refuseWithdrawal,
  releaseInquiry,
  retryInquiry,
} from '../../src/domain/operator.ts';
import { INQUIRY_STATES, type InquiryState, isInquiryStep } from '../../src/domain/states.ts';

const inquiry = (state: InquiryState, hold_reason: string | null = null): OperatedInquiry => ({
  id: 3,
  state,
  hold_reason,
  service_status: null,
});

describe('the operator', () => {
  test('retry never resends an inquiry that the service may have (G1)', () => {
    for (const state of INQUIRY_STATES) {
      const { change } = retryInquiry(inquiry(state));
      if (change?.to == null) continue;
      expect(isInquiryStep(state, change.to)).toBe(true);
      expect(change.to === 'planned').toBe(state === 'rejected');
    }
  });

  test('retry says that an inquiry which the service took is not sent again', () => {
    const { done } = retryInquiry(inquiry('undecidable'));
    expect(done?.what).toBe(
      'eligd looks up inquiry 3 twice more. It is not sent again, because the service said that ' +
        'it has it.',
    );
  });

  test('no state can both be withdrawn and prevent a withdrawal', () => {
    for (const state of INQUIRY_STATES) {
      const is_refused = refuseWithdrawal([inquiry(state)]).length > 0;
      expect(isWithdrawable(inquiry(state)) && is_refused).toBe(false);
    }
    expect(INQUIRY_STATES.filter((state) => isWithdrawable(inquiry(state)))).toEqual([
      'planned',
      'rejected',
      'undecidable',
    ]);
  });

  test('release says so if nothing was on hold', () => {
    expect(releaseInquiry(inquiry('planned')).done?.did).toBe(false);
    expect(releaseInquiry(inquiry('planned', 'operator')).change?.columns).toEqual({
      hold_reason: null,
    });
  });
});

describe('two merged records of one patient', () => {
  const attempt = (id: number, number: number, state: InquiryState) => ({
    id,
    attempt: number,
    retry: 0,
    state,
    service_status: null as string | null,
    sent_at: null as number | null,
    answered_at: null as number | null,
  });
  const answer = (id: number, service_status: string, answered_at: number) => ({
    ...attempt(id, 1, 'answered'),
    service_status,
    answered_at,
  });

  test('the more advanced inquiry counts, and the planned one is not sent (G1)', () => {
    const { order, unneeded } = mergeNeed(
      [attempt(1, 1, 'answered'), attempt(2, 2, 'planned')],
      [attempt(7, 1, 'open')],
    );
    expect(order.map(({ id }) => id)).toEqual([1, 2, 7]);
    expect(unneeded.map(({ id }) => id)).toEqual([2]);
  });

  test.each([
    ['later', answer(1, 'SUCCESS', 5), answer(7, 'SUCCESS', 9), 7],
    ['later, if it is the one in use,', answer(1, 'SUCCESS', 9), answer(7, 'SUCCESS', 5), 1],
    ['successful', answer(1, 'UNSUCCESSFUL', 9), answer(7, 'SUCCESS', 5), 7],
  ])('of two answers, the %s one counts', (_, standing, moving, winner) => {
    expect(mergeNeed([standing], [moving]).order.at(-1)?.id).toBe(winner);
  });

  test('attempts that follow one another stay together', () => {
    const { order } = mergeNeed(
      [attempt(1, 1, 'answered'), attempt(2, 2, 'open')],
      [attempt(7, 1, 'open')],
    );
    expect(order.map(({ id }) => id)).toEqual([7, 1, 2]);
  });

  test('of two inquiries in the same state, the one in use counts', () => {
    const { order, unneeded } = mergeNeed([attempt(1, 1, 'planned')], [attempt(7, 1, 'planned')]);
    expect(order.map(({ id }) => id)).toEqual([7, 1]);
    expect(unneeded.map(({ id }) => id)).toEqual([7]);
  });
});
