import { expect, it } from 'vitest';
import { readUsualDate } from '../../../connectors/csv/usual-date.ts';
import { isoDate, readDateParts } from '../../../connectors/csv/values.ts';

/** As the general reader reads it. */
function general(text: string) {
  const { value, fault } = readDateParts(text, 'ymd', false);
  return { value: value === null ? null : isoDate(value), fault };
}

it('the shortcut reads every day as the general reader does', () => {
  for (const year of ['0000', '0001', '1753', '1849', '1900', '2000', '2026', '2200', '9999']) {
    for (let month = 0; month <= 13; month += 1) {
      for (let day = 0; day <= 32; day += 1) {
        const [mm, dd] = [month, day].map((number) => String(number).padStart(2, '0'));
        const text = `${year}-${mm}-${dd}`;
        expect(readUsualDate(text), text).toEqual(general(text));
      }
    }
  }
});

it.each(['', '2026-1-05', '2026/01/05', '2026-01-05 ', '20260105', '２０２６-01-05', '2026-0x-05'])(
  'the shortcut leaves %j to the general reader',
  (text) => {
    expect(readUsualDate(text)).toBeNull();
  },
);
