import { expect, test } from 'vitest';
import { problemSentence } from '../../src/domain/problem-sentence.ts';

test.each([
  ['no header row found', 'File: No header row was found.'],
  ['no such column', 'File: There is no column for dob.'],
  ['more than one column', 'File: Two columns look like dob.'],
  ['not a date', 'File, dob: not a date.'],
])('an item that is rejected for %s is described in a sentence', (value_class, sentence) => {
  expect(problemSentence({ position: 'file', field: 'dob', value_class })).toBe(sentence);
});
