/**
 * The sandbox's data about dental procedure codes: the class by number range, and the usual limits
 * of some codes. The nomenclature belongs to the American Dental Association and requires a
 * license; the names here are our own generic words.
 */
export type DentalClass =
  | 'DIAGNOSTIC'
  | 'PREVENTIVE'
  | 'RESTORATIVE'
  | 'MAJOR_RESTORATIVE'
  | 'ENDODONTICS'
  | 'PERIODONTICS'
  | 'PROSTHODONTICS'
  | 'IMPLANTS'
  | 'ORAL_SURGERY'
  | 'ORTHODONTICS'
  | 'ADJUNCTIVE';

export const DENTAL_CLASSES: readonly DentalClass[] = [
  'DIAGNOSTIC',
  'PREVENTIVE',
  'RESTORATIVE',
  'MAJOR_RESTORATIVE',
  'ENDODONTICS',
  'PERIODONTICS',
  'PROSTHODONTICS',
  'IMPLANTS',
  'ORAL_SURGERY',
  'ORTHODONTICS',
  'ADJUNCTIVE',
];

/** Each entry has the first number after its range, in ascending order. */
const RANGES: readonly (readonly [number, DentalClass])[] = [
  [1000, 'DIAGNOSTIC'],
  [2000, 'PREVENTIVE'],
  [2500, 'RESTORATIVE'],
  [3000, 'MAJOR_RESTORATIVE'],
  [4000, 'ENDODONTICS'],
  [5000, 'PERIODONTICS'],
  [6000, 'PROSTHODONTICS'],
  [6200, 'IMPLANTS'],
  [7000, 'PROSTHODONTICS'],
  [8000, 'ORAL_SURGERY'],
  [9000, 'ORTHODONTICS'],
  [10_000, 'ADJUNCTIVE'],
];

type CodeFacts = { name: string; frequency?: string; age_limit?: number; downgrade?: string };

const CODES: { readonly [code: string]: CodeFacts } = {
  D0120: { name: 'recall exam', frequency: '2 per calendar year' },
  D0140: { name: 'problem exam', frequency: '2 per calendar year' },
  D0150: { name: 'full exam', frequency: '1 per 36 months' },
  D0210: { name: 'full-mouth images', frequency: '1 per 60 months' },
  D0220: { name: 'single image', frequency: 'As needed' },
  D0272: { name: 'two bitewings', frequency: '1 per calendar year' },
  D0274: { name: 'four bitewings', frequency: '1 per 12 months' },
  D0330: { name: 'panoramic image', frequency: '1 per 60 months, shared with full-mouth images' },
  D1110: { name: 'adult cleaning', frequency: '2 per calendar year' },
  D1120: { name: 'child cleaning', frequency: '2 per calendar year' },
  D1206: { name: 'fluoride varnish', frequency: '2 per calendar year', age_limit: 18 },
  D1208: { name: 'fluoride', frequency: '1 per calendar year', age_limit: 18 },
  D1351: { name: 'sealant', frequency: '1 per tooth per 36 months', age_limit: 15 },
  D2140: { name: 'metal filling', frequency: '1 per surface per 24 months' },
  D2330: { name: 'front filling', frequency: '1 per surface per 24 months' },
  D2391: {
    name: 'back filling',
    frequency: '1 per surface per 24 months',
    downgrade: 'Paid as a metal filling (D2140).',
  },
  D2392: {
    name: 'back filling',
    frequency: '1 per surface per 24 months',
    downgrade: 'Paid as a metal filling (D2150).',
  },
  D2740: {
    name: 'crown',
    frequency: '1 per tooth per 60 months',
    downgrade: 'Paid as a base metal crown on molars.',
  },
  D2750: {
    name: 'crown',
    frequency: '1 per tooth per 60 months',
    downgrade: 'Paid as a base metal crown on molars.',
  },
  D2950: { name: 'core build-up', frequency: '1 per tooth per 60 months' },
  D3310: { name: 'front root canal', frequency: '1 per tooth per lifetime' },
  D3330: { name: 'molar root canal', frequency: '1 per tooth per lifetime' },
  D4341: { name: 'deep cleaning', frequency: '1 per quadrant per 24 months' },
  D4342: { name: 'partial deep cleaning', frequency: '1 per quadrant per 24 months' },
  D4910: { name: 'gum maintenance', frequency: '4 per calendar year, shared with cleanings' },
  D5110: { name: 'upper denture', frequency: '1 per 60 months' },
  D6010: { name: 'implant', frequency: '1 per tooth per lifetime' },
  D6240: { name: 'bridge unit', frequency: '1 per tooth per 60 months' },
  D7140: { name: 'simple extraction', frequency: '1 per tooth per lifetime' },
  D7210: { name: 'surgical extraction', frequency: '1 per tooth per lifetime' },
  D8080: { name: 'braces', frequency: '1 per lifetime', age_limit: 19 },
  D9222: { name: 'deep sedation', frequency: 'Only with covered surgery' },
};

/** Returns the code as a payer says it: upper case, with the leading D that callers may omit. */
export function fullDentalCode(code: string): string {
  const upper = code.toUpperCase();
  return upper.startsWith('D') ? upper : `D${upper}`;
}

export function classOf(code: string): DentalClass {
  const number = Number(code.slice(1));
  return RANGES.find(([end]) => number < end)?.[1] ?? 'ADJUNCTIVE';
}

export function factsOf(code: string): CodeFacts {
  return CODES[code] ?? { name: `Code ${code}` };
}
