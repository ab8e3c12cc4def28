import { describe, expect, test } from 'vitest';
import { saysWho } from '../../src/domain/says-who.ts';
import { aCoverage, anAppointment } from './examples.ts';

const visit = anAppointment({
  patient: {
    ...anAppointment({}).patient,
    first_name: 'Ana María',
    last_name: 'Smith-Cross',
    birth_date: '1980-02-03',
  },
  coverages: [
    aCoverage({
      member_id: 'W123-456',
      subscriber: { name: 'Bo Quillfeather', birth_date: '1950-12-01', relationship: 'child' },
    }),
  ],
});

describe('a text of the PMS says who somebody is', () => {
  test.each([
    ['Self-pay: Smith'],
    ['SMITH family trust'],
    ['Quillfeather, B.'],
    ['plan of maria'],
    ['SMITHA01'],
    ['20261123-quillfeatherb'],
    ['1980-02-03'],
    ['A02031980'],
    ['03.02.1980 10:00'],
    ['x-12011950-x'],
    ['Aetna W123456'],
  ])('%s', (text) => expect(saysWho(text, visit)).toBe(true));

  test.each([
    ['Delta Dental of Illinois'],
    ['Guardian Life'],
    ['Anthem Blue'],
    ['05030'],
    ['10000'],
    ['A-1'],
    ['2026-11-23T10:00'],
    ['W123'],
    [''],
  ])('not: %s', (text) => expect(saysWho(text, visit)).toBe(false));
});
