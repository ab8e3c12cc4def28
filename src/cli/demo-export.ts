import { addDays, dayOfWeek } from '../domain/time.ts';

const LAST = [
  'Alvarez',
  'Brandt',
  'Chen',
  'Dubois',
  'Eriksen',
  'Fofana',
  'Greco',
  'Hansen',
  "O'Malley",
  'Jensen',
  'Kaur',
  'Lindqvist',
];
const FIRST = [
  'Amelia',
  'Bruno',
  'Carmen',
  'Dario',
  'Elif',
  'Farah',
  'Gideon',
  'Hana',
  'Ivo',
  'June',
];
const PAYERS = [
  ['Delta Dental of Illinois', '05030'],
  ['MetLife Dental', '65978'],
  ['Cigna Dental PPO', '62308'],
  ['Guardian Life', '64246'],
] as const;
const CODES = ['D0120 D1110', 'D0150 D0274', 'D2740', 'D4341 D4910', 'D2392 D0120', 'D6010'];

/** The practice's fees, in dollars. */
const FEES: Readonly<Record<string, string>> = {
  ...{ D0120: '62.00', D0150: '98.00', D0274: '75.00', D1110: '112.00', D2392: '265.00' },
  ...{ D2740: '1380.00', D4341: '310.00', D4910: '165.00', D6010: '2450.00' },
};

const HEADER = [
  'appointment_id',
  'appointment_at',
  'status',
  'patient_id',
  'patient_name',
  'dob',
  'carrier',
  'payor_id',
  'member_id',
  'group_id',
  'rendering_npi',
  'procedure_codes',
  'procedure_fees',
];
type Row = Record<(typeof HEADER)[number], string>;

/** Typical errors of a front office's export; the demo shows how eligd handles each. */
const FLAWS: Readonly<Record<number, Partial<Row>>> = {
  4: { member_id: '' },
  9: { dob: '1987-02-30' },
  14: { status: 'cancelled' },
  19: { carrier: '', payor_id: '', member_id: '', group_id: '' },
  24: { rendering_npi: '1234567890' },
  27: { member_id: 'UNSUCC-20931' },
  29: { member_id: 'CANCEL-2901' },
  31: { member_id: 'UNSUCC1-5521' },
  ...{ 32: { member_id: 'USEDUP-3302' }, 33: { member_id: 'INACTIVE-7' } },
  ...{ 34: { member_id: 'NOTCOVERED-3401' }, 35: { member_id: 'OUTOFNET-3507' } },
};
const DAYS = 7;
/** Visits on the last day that need no action. */
const ROUTINE: ReadonlySet<number> = new Set([18, 20, 21, 23, 25, 26, 28, 37]);
/**
 * The last day is still ahead when the demo ends. It has some of everything: most visits need no
 * action, and the office has to act on a few.
 */
const LAST_DAY: ReadonlySet<number> = new Set([...ROUTINE, 4, 29, 32, 33, 34, 35]);

/**
 * Builds a practice's CSV export of `count` appointments over the week after `today`. All people
 * are made up. The last patient has two visits, which cost one call; some rows have errors of real
 * exports.
 */
export function demoExport(today: string, count: number): string {
  const rows = Array.from({ length: count }, (_, index) =>
    appointment(today, index, Math.min(index, count - 2)),
  );
  const lines = rows.map((row) => HEADER.map((column) => row[column]).join(','));
  return `${[HEADER.join(','), ...lines].join('\r\n')}\r\n`;
}

function appointment(today: string, index: number, person: number): Row {
  const [carrier, payor_id] = PAYERS[person % PAYERS.length] ?? PAYERS[0];
  const codes = CODES[ROUTINE.has(index) ? 0 : index % CODES.length] ?? '';
  const hour = 8 + (index % 9);
  const days = LAST_DAY.has(index) ? DAYS : 1 + (index % 6);
  return {
    appointment_id: String(7001 + index),
    appointment_at:
      `${workday(today, days)} ` +
      `${String(hour).padStart(2, '0')}:${index % 2 === 0 ? '00' : '30'}`,
    status: 'scheduled',
    patient_id: String(300 + person),
    patient_name: `${FIRST[person % FIRST.length]} ${LAST[person % LAST.length]}`,
    dob: [
      String(1950 + ((person * 7) % 60)),
      String(1 + (person % 12)).padStart(2, '0'),
      String(1 + ((person * 5) % 28)).padStart(2, '0'),
    ].join('-'),
    carrier,
    payor_id,
    member_id: `${ROUTINE.has(index) ? 'ACTIVE-' : 'W'}${String(40_100_200 + person * 977)}`,
    group_id: person % 3 === 0 ? '0012345' : '',
    rendering_npi: '1245319599',
    procedure_codes: codes,
    procedure_fees: codes
      .split(' ')
      .map((code) => FEES[code] ?? '')
      .join(';'),
    ...FLAWS[index],
  };
}

/** Returns the day of the last visits of an export. */
export const lastVisitDay = (today: string): string => workday(today, DAYS);

/** Returns the day, moved past Sunday, when the practice is closed. */
function workday(today: string, days: number): string {
  const date = addDays(today, days);
  return dayOfWeek(date) === 7 ? addDays(date, 1) : date;
}
