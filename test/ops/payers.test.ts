import { describe, expect, test } from 'vitest';
import { EligdError } from '../../src/domain/errors.ts';
import { loadPayers, parsePayers, SHIPPED_ONLY } from '../../src/ops/payers.ts';

const HEADER = 'pms_name,pms_id,carrier,payor_id,action,reverify_after_days\n';

function refusal(text: string): string {
  try {
    parsePayers(text, 'payers.csv');
  } catch (error) {
    if (error instanceof EligdError && error.kind === 'configuration')
      return `${error.what}\n${error.why}`;
    throw error;
  }
  throw new Error('It was accepted.');
}

describe('the payer map', () => {
  const map = parsePayers(
    `\uFEFF${HEADER}"Delta Dental, of ` +
      `Illinois",05030,DELTA_IL,05030,,\nAetna,,AETNA,60054,CALL,14\n\nCash,,,,skip,\n"Aetna  ` +
      `(PPO)",aet1,AETNA_PPO,,attention,\n\n`,
    'payers.csv',
  );

  test('a payer is found by name in any case, punctuation, and spacing', () => {
    const delta = {
      carrier: 'DELTA_IL',
      payor_id: '05030',
      action: 'call',
      reverify_after_days: null,
      phone_number: '',
      hours: null,
      zone: null,
      in_network: new Map(),
    };
    expect(map.find('', '  delta dental of   ILLINOIS. ')).toEqual(delta);
    expect(map.find('', 'Aetna')).toMatchObject({ action: 'call', reverify_after_days: 14 });
    expect(map.find('', 'Delta Dental')).toBeNull();
  });

  test('the payer map has hours and a zone, and reports invalid ones', () => {
    const header = 'pms_name,hours,zone\n';
    expect(
      parsePayers(`${header}Aetna,08:30-18:00,America/Denver\n`, 'payers.csv').find('', 'Aetna'),
    ).toMatchObject({ hours: { opens: 510, closes: 1080 }, zone: 'America/Denver' });
    expect(() => parsePayers(`${header}Aetna,18-8,Chicago\n`, 'payers.csv')).toThrow(
      expect.objectContaining({
        why: expect.stringMatching(/hours are "18-8".*\n.*zone "Chicago"/),
      }),
    );
  });

  test('an ID takes precedence over a name', () => {
    expect(map.find('AET1', 'Aetna')?.carrier).toBe('AETNA_PPO');
    expect(map.find('99999', 'Aetna')?.carrier).toBe('AETNA');
  });

  test('an empty search finds no payer', () => {
    expect(map.find('', '')).toBeNull();
    expect(map.find(' ', '--')).toBeNull();
    expect(SHIPPED_ONLY.find('', '')).toBeNull();
  });

  test.each([
    [
      'an unknown action',
      `${HEADER}Aetna,,A,,cal,\n`,
      '- line 2: its action is "cal". Use call, skip, attention or unsupported',
    ],
    [
      'an age that is not a number',
      `${HEADER}Aetna,,A,,,a month\n`,
      '- line 2: its reverify_after_days is not a number of days.',
    ],
    [
      'no name and no id',
      `${HEADER},,A,,,\n`,
      '- line 2: neither pms_name nor pms_id is filled in.',
    ],
    [
      'a name twice',
      `${HEADER}Aetna,,A,,,\n"AETNA.",,B,,,\n`,
      '- line 3: an earlier line has the same pms_name',
    ],
    [
      'an id twice',
      `${HEADER}Aetna,1,A,,,\nOther,1,B,,,\n`,
      '- line 3: an earlier line has the same pms_id.',
    ],
    [
      'an unknown column',
      'pms_name,carier\nAetna,A\n',
      '- line 1: "carier" is not a known column. Did you mean "carrier"?',
    ],
    [
      'a column twice',
      'pms_name,carrier,carrier\nAetna,A,B\n',
      '- line 1: the column "carrier" appears twice.',
    ],
    ['no header', 'Aetna,A\n', '- line 1: there is no column pms_name or pms_id.'],
    [
      'a short line',
      `${HEADER}Aetna,,A\n`,
      '- line 2: it has a different number of columns than the first line',
    ],
    [
      'a network that is neither yes nor no',
      'pms_name,in_network\nAetna,12345=yes\n',
      '- line 2: its in_network is "12345=yes". Use yes, no, or tax IDs',
    ],
    ['a quote that does not end', `${HEADER}"Aetna,,A,,,\n`, 'its quotes do not match'],
  ])('the payer map refuses %s and names the line', (_, text, told) => {
    expect(refusal(text)).toContain(told);
  });

  test('the payer map reports all errors at once', () => {
    expect(refusal(`${HEADER}Aetna,,A,,x,y\n,,,,,\n`)).toContain('has 3 errors');
  });

  test('a missing payer map is reported', () => {
    expect(() => loadPayers('/nowhere/payers.csv')).toThrow('There is no such file.');
  });
});
