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

  test('every state has a row, and each row leads to a known state', () => {
    expect(Object.keys(table).toSorted()).toEqual([...states].toSorted());
    for (const state of Object.values(table).flat()) expect(states).toContain(state);
  });

  test('no step occurs twice', () => {
    for (const next of Object.values(table)) expect(new Set(next).size).toBe(next.length);
  });

  test('every state can be reached from the first', () => {
    expect([...reachable(table, first)].toSorted()).toEqual([...states].toSorted());
  });
});

describe('an inquiry', () => {
  test('an inquiry is never resent from a state in which the service may have it', () => {
    // Only these return to planned, each with its proof: unsent, absent in two lookups, refused, or
    // never sent.
    const back = INQUIRY_STATES.filter((state) => isInquiryStep(state, 'planned'));
    expect(back.toSorted()).toEqual(['rejected', 'sending', 'uncertain', 'withdrawn']);
    expect(INQUIRY_STATES.filter((state) => isInquiryStep(state, 'sending'))).toEqual(['planned']);
  });

  test('an inquiry in any state can be ended by an answer or the operator', () => {
    for (const state of INQUIRY_STATES) {
      const ends = reachable(INQUIRY_STEPS, state);
      expect(ends.has('answered') || ends.has('withdrawn')).toBe(true);
    }
  });

  test('an inquiry takes no step that is not in the table', () => {
    expect(isInquiryStep('planned', 'answered')).toBe(false);
    expect(isInquiryStep('open', 'planned')).toBe(false);
    expect(isInquiryStep('open', 'withdrawn')).toBe(false);
    expect(isInquiryStep('undecidable', 'planned')).toBe(false);
    expect(isInquiryStep('uncertain', 'withdrawn')).toBe(false);
  });
});

describe('a delivery', () => {
  test('a delivery that was made stays made, and a parked one waits for you', () => {
    expect(DELIVERY_STATES.filter((state) => isDeliveryStep('delivered', state))).toEqual([]);
    expect(DELIVERY_STATES.filter((state) => isDeliveryStep('parked', state))).toEqual(['pending']);
  });
});
