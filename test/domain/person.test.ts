import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idsOfSeveral, isSomebodyElse, saysDeceased } from '../../src/domain/person.ts';

test.each([
  [['Y', 'yes', 'TRUE', 'X', 'Deceased', 'Deceased 11/02/2026'], true],
  [['2026-11-02', '20261102', '11/2/2026', '11/02/26', 'Nov 2 2026'], true],
  [['N', 'no', 'F', 'false', '0', 'Alive', 'Active', '0000-00-00', '00/00/0000'], false],
  [['', 'U', 'UNK', 'unknown', '0001-01-01', '01/01/1900', '12/31/9999'], undefined],
])('%j means that a patient has died: %s', (texts, expected) => {
  expect(texts.map(saysDeceased)).toEqual(texts.map(() => expected));
});

test('an ID belongs to several people when two of its records contradict each other', () => {
  const person = fc.record({
    id: fc.constantFrom('P1', 'P2', null),
    first_name: fc.constantFrom('', 'Ann', 'Bob'),
    last_name: fc.constantFrom('', 'Doe', ' doe'),
    birth_date: fc.constantFrom(null, '1980-02-03', '1981-02-03'),
  });
  fc.assert(
    fc.property(fc.array(person, { maxLength: 6 }), (people) => {
      const pairs = people.filter((one) =>
        people.some((other) => other.id === one.id && isSomebodyElse(one, other)),
      );
      expect(idsOfSeveral(people)).toEqual(new Set(pairs.map(({ id }) => id)));
    }),
  );
});
