/**
 * The source contains each text that the mutations change; `npm run simulate -- --mutations` runs
 * worlds with each mutation.
 */
import { expect, test } from 'vitest';
import { missingText } from './mutations.ts';

test('every text that a mutation changes occurs in the source exactly once', () => {
  expect(missingText()).toBeNull();
});
