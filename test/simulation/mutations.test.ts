/**
 * What the mutations change is in the source as they expect it; `npm run simulate -- --mutations`
 * lives worlds with each.
 */
import { expect, test } from 'vitest';
import { missingText } from './mutations.ts';

test('every text that a mutation changes stands in the source exactly once', () => {
  expect(missingText()).toBeNull();
});
