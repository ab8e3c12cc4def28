import { expect, test } from 'vitest';
import { saysDeceased } from '../../src/domain/person.ts';

test.each([
  [['Y', 'yes', 'TRUE', 'X', 'Deceased', 'Deceased 11/02/2026'], true],
  [['2026-11-02', '20261102', '11/2/2026', '11/02/26', 'Nov 2 2026'], true],
  [['N', 'no', 'F', 'false', '0', 'Alive', 'Active', '0000-00-00', '00/00/0000'], false],
  [['', 'U', 'UNK', 'unknown', '0001-01-01', '01/01/1900', '12/31/9999'], undefined],
])('%j say of a patient that they have died: %s', (texts, expected) => {
  expect(texts.map(saysDeceased)).toEqual(texts.map(() => expected));
});
