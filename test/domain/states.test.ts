import { describe, expect, test } from 'vitest';
import {
  DELIVERY_STATES,
  DELIVERY_STEPS,
  INQUIRY_STATES,
  INQUIRY_STEPS,
  isDeliveryStep,
  isInquiryStep,
} from '../../src/domain/states.ts';

const LEGS = [
  { leg: 'inquiry', first: 'planned', states: INQUIRY_STATES, steps: INQUIRY_STEPS },
  { leg: 'delivery', first: 'pending', states: DELIVERY_STATES, steps: DELIVERY_STEPS },
] as const satisfies {
  leg: string;
  first: string;
  states: readonly string[];
  steps: Record<string, readonly string[]>;
}[];

function reachable(steps: Record<string, readonly string[]>, from: string): Set<string> {
  const reached = new Set([from]);
  for (const state of reached) for (const next of steps[state] ?? []) reached.add(next);
  return reached;
}

describe.each(LEGS)('the table of the $leg leg', ({ first, states, steps }) => {
  const table: Record<string, readonly string[]> = steps;

  test('has a row for every state and leads to no other', () => {
    expect(Object.keys(table).toSorted()).toEqual([...states].toSorted());
    for (const state of Object.values(table).flat()) expect(states).toContain(state);
  });

  test('names no step twice', () => {
    for (const next of Object.values(table)) expect(new Set(next).size).toBe(next.length);
  });

  test('reaches every state from the first', () => {
    expect([...reachable(table, first)].toSorted()).toEqual([...states].toSorted());
  });
});

describe('an inquiry', () => {
  test('is never sent again from a state in which the service may have it', () => {
    // Only these go back to planned, each with its proof: unsent, absent by two lookups, refused,
    // not sent before.
    const back = INQUIRY_STATES.filter((state) => isInquiryStep(state, 'planned'));
    expect(back.toSorted()).toEqual(['rejected', 'sending', 'uncertain', 'withdrawn']);
    expect(INQUIRY_STATES.filter((state) => isInquiryStep(state, 'sending'))).toEqual(['planned']);
  });

  test('can be ended from every state, by an answer or by a person', () => {
    for (const state of INQUIRY_STATES) {
      const ends = reachable(INQUIRY_STEPS, state);
      expect(ends.has('answered') || ends.has('withdrawn')).toBe(true);
    }
  });

  test('takes no step that is not in the table', () => {
    expect(isInquiryStep('planned', 'answered')).toBe(false);
    expect(isInquiryStep('open', 'planned')).toBe(false);
    expect(isInquiryStep('open', 'withdrawn')).toBe(false);
    expect(isInquiryStep('undecidable', 'planned')).toBe(false);
    expect(isInquiryStep('uncertain', 'withdrawn')).toBe(false);
  });
});

describe('a delivery', () => {
  test('that was made stays made, and one that is parked waits for you', () => {
    expect(DELIVERY_STATES.filter((state) => isDeliveryStep('delivered', state))).toEqual([]);
    expect(DELIVERY_STATES.filter((state) => isDeliveryStep('parked', state))).toEqual(['pending']);
  });
});
