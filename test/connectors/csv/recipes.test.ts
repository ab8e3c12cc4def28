/**
 * The query of docs/exports.md returns columns that eligd knows, and rows that it reads completely.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CANONICAL_COLUMNS } from '../../../connectors/csv/columns.ts';
import { readOne } from './support.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/exports.md'), 'utf8');
const [, QUERY = ''] = /```sql\n(.*?)```/s.exec(PAGE) ?? [];
/** The names of the columns: "AS name" at the end of a line of the select list. */
const COLUMNS = [...QUERY.matchAll(/ AS (\w+),?$/gm)].map(([, name = '']) => name);

/** A row as MySQL returns it, for a dependent with one plan. */
const ROW: Record<string, string> = {
  appointment_id: '4711',
  appointment_at: '2026-11-24 09:30',
  status: 'booked',
  patient_id: '12',
  last_name: 'Abara',
  first_name: 'Tim',
  dob: '2015-03-02',
  carrier: 'Delta Dental of Illinois',
  payor_id: '05030',
  member_id: 'D12345678',
  group_id: '5500',
  relationship: '2',
  subscriber_last_name: 'Abara',
  subscriber_first_name: 'Ngozi',
  subscriber_dob: '1984-07-19',
  rendering_npi: '1234567893',
  location: '3',
  procedure_codes: 'D0120;D1120',
  procedure_fees: '52;74.5',
};

test('every column of the Open Dental query is one that eligd knows', () => {
  expect(COLUMNS.length).toBeGreaterThan(20);
  expect(COLUMNS.filter((name) => !CANONICAL_COLUMNS.includes(name as never))).toEqual([]);
  expect(Object.keys(ROW).filter((name) => !COLUMNS.includes(name))).toEqual([]);
});

test.each([',', '\t'])(
  'a row of the query is read completely, separated by %j',
  async (separator) => {
    const lines = [COLUMNS, COLUMNS.map((name) => ROW[name] ?? '')];
    const text = lines.map((cells) => `${cells.join(separator)}\r\n`).join('');
    const { appointments, rejected } = await readOne(text);
    expect(rejected).toEqual([]);
    expect(appointments).toMatchObject([
      {
        problems: [],
        patient: { first_name: 'Tim', last_name: 'Abara', birth_date: '2015-03-02' },
        coverages: [
          {
            carrier: 'Delta Dental of Illinois',
            member_id: 'D12345678',
            subscriber: { name: 'Ngozi Abara', birth_date: '1984-07-19' },
          },
        ],
        procedure_codes: ['D0120', 'D1120'],
      },
    ]);
  },
);
