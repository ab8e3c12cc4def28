import { CsvError, parse } from 'csv-parse/sync';
import { EligdError, errorCode } from '../domain/errors.ts';
import type { PayerEntry, PayerMap } from '../domain/policy.ts';
import type { PayerPrices } from '../domain/price.ts';
import { dayHours, isTimeZone } from './config-values.ts';
import { SHIPPED_PAYERS } from './known-payers.ts';
import { nearest, oneOf } from './nearest.ts';
import { payerPrices } from './payer-prices.ts';
import { shippedFile } from './project.ts';
import { readTrusted } from './trusted-files.ts';

export const PAYER_COLUMNS = [
  'pms_name',
  'pms_id',
  'carrier',
  'payor_id',
  'action',
  'reverify_after_days',
  'phone_number',
  'in_network',
  'price_per_inquiry',
  'price_per_code',
  'urgent_factor',
  'free_outcomes',
  'hours',
  'zone',
] as const;

type Column = (typeof PAYER_COLUMNS)[number];
type Row = { line: number; values: Partial<Record<Column, string>> };

/** A payer with a carrier identifier, and the name that people know. */
export type KnownPayer = { name: string; carrier: string; payor_id: string };

/** The payer map of an installation, with every payer that it can name. */
export type PayerList = PayerMap & {
  known: readonly KnownPayer[];
  /** Only payers with their own prices. */
  prices: readonly PayerPrices[];
};

/** For an installation without payers.csv: only the payers that eligd itself knows. */
export const SHIPPED_ONLY: PayerList = payerList(new Map(), new Map(), [], []);

/** Reads payers.csv. Throws with every bad line at once. */
export function loadPayers(file: string): PayerList {
  try {
    return parsePayers(readTrusted(file, { role: 'payer map' }).toString('utf8'), file);
  } catch (error) {
    if (error instanceof EligdError) throw error;
    const code = errorCode(error);
    throw new EligdError('configuration', {
      what: `The payer map ${file} could not be read.`,
      why:
        code === 'ENOENT'
          ? 'There is no such file.'
          : `The system reported ${code ?? 'an unknown error'}.`,
      next:
        'Fix policy.payers in the configuration, or copy ' +
        `${shippedFile('config/payers.example.csv')} to this place.`,
      cause: error,
    });
  }
}

/** Parses `payers.csv`; `file` is only for errors. */
export function parsePayers(text: string, file: string): PayerList {
  const problems: string[] = [];
  const by_id = new Map<string, PayerEntry>();
  const by_name = new Map<string, PayerEntry>();
  const known: KnownPayer[] = [];
  const prices: PayerPrices[] = [];
  for (const { line, values } of readRows(text, file)) {
    const refuse = (problem: string) => problems.push(`- line ${line}: ${problem}`);
    const id = plainId(values.pms_id ?? '');
    const name = plainName(values.pms_name ?? '');
    const entry = payerEntry(values, refuse);
    if (id === '' && name === '')
      refuse('neither pms_name nor pms_id is filled in. Enter the PMS’s name for the payer.');
    if (id !== '' && by_id.has(id))
      refuse('an earlier line has the same pms_id. Keep one of them.');
    // Several IDs may share a name; then the name alone does not decide, and the first line keeps
    // it.
    if (id === '' && by_name.has(name))
      refuse(
        'an earlier line has the same pms_name, apart from case and punctuation. Keep one of ' +
          'them.',
      );
    if (id !== '') by_id.set(id, entry);
    if (name !== '' && !by_name.has(name)) by_name.set(name, entry);
    if (entry.carrier !== '' && (values.pms_name ?? '') !== '')
      known.push({ name: values.pms_name ?? '', ...entry });
    const own = payerPrices(values, refuse);
    if (own !== null) prices.push(own);
  }
  if (problems.length > 0) throw payersError(file, problems);
  return payerList(by_id, by_name, known, prices);
}

/** Builds the list. A line of the file wins over eligd's own, even with an empty carrier. */
function payerList(
  by_id: ReadonlyMap<string, PayerEntry>,
  by_name: ReadonlyMap<string, PayerEntry>,
  known: readonly KnownPayer[],
  prices: readonly PayerPrices[],
): PayerList {
  return {
    prices,
    find: (payor_id, name) =>
      by_id.get(plainId(payor_id)) ??
      by_name.get(plainName(name)) ??
      shippedPayer(plainId(payor_id), plainName(name)),
    known: [...known, ...SHIPPED_PAYERS.filter(({ name }) => !by_name.has(plainName(name)))],
  };
}

function shippedPayer(id: string, name: string): PayerEntry | null {
  const found =
    SHIPPED_PAYERS.find(({ payor_id }) => payor_id !== '' && payor_id === id) ??
    SHIPPED_PAYERS.find((each) => plainName(each.name) === name);
  return found === undefined ? null : { ...NOTHING_SAID, carrier: found.carrier };
}

const NOTHING_SAID: PayerEntry = {
  carrier: '',
  payor_id: '',
  action: 'call',
  reverify_after_days: null,
  phone_number: '',
  hours: null,
  zone: null,
  in_network: new Map(),
};

/** Normalizes case, punctuation, and spaces. Empty stays empty and matches nothing. */
export function plainName(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

export function plainId(id: string): string {
  return id.trim().toUpperCase();
}

function payerEntry(values: Row['values'], refuse: (problem: string) => void): PayerEntry {
  const action = (values.action ?? '').toLowerCase() || 'call';
  if (!isAction(action))
    refuse(
      `its action is "${action}". Use call, skip, attention or unsupported, or leave it empty ` +
        'for call.',
    );
  const days = values.reverify_after_days ?? '';
  if (!/^\d{0,4}$/.test(days))
    refuse(
      'its reverify_after_days is not a number of days. Use a number such as 30, or leave it ' +
        'empty.',
    );
  return {
    carrier: values.carrier ?? '',
    payor_id: values.payor_id ?? '',
    action: isAction(action) ? action : 'attention',
    reverify_after_days: days === '' ? null : Number(days),
    phone_number: values.phone_number ?? '',
    hours: openHours(values.hours ?? '', refuse),
    zone: zoneOf(values.zone ?? '', refuse),
    in_network: networks(values.in_network ?? '', refuse),
  };
}

/** Parses `08:00-17:00`; empty: the hours of every payer. */
function openHours(text: string, refuse: (problem: string) => void): PayerEntry['hours'] {
  const hours = text === '' ? null : dayHours(text);
  if (text !== '' && hours === null)
    refuse(`its hours are "${text}". Use a form such as 08:00-17:00, or leave them empty.`);
  return hours;
}

function zoneOf(text: string, refuse: (problem: string) => void): string | null {
  if (text === '' || isTimeZone(text)) return text || null;
  const meant = nearest(text, Intl.supportedValuesOf('timeZone'));
  refuse(
    `its zone "${text}" is not the name of a time zone. ` +
      (meant === null ? 'Use a name such as America/Chicago.' : `Did you mean ${meant}?`),
  );
  return null;
}

/** Parses `yes`, `no`, or values by tax ID: `123456789=yes; 987654321=no`. */
function networks(text: string, refuse: (problem: string) => void): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  for (const part of text.split(';').map((each) => each.trim())) {
    if (part === '') continue;
    const [, id = '', word = ''] = /^(?:(\d{2}-?\d{7})\s*=\s*)?(yes|no)$/i.exec(part) ?? [];
    if (word === '') {
      refuse(
        `its in_network is "${text}". Use yes, no, or tax IDs such as 123456789=yes; ` +
          '987654321=no.',
      );
      break;
    }
    found.set(id.replace('-', ''), word.toLowerCase() === 'yes');
  }
  return found;
}

function isAction(word: string): word is PayerEntry['action'] {
  return word === 'call' || word === 'skip' || word === 'attention' || word === 'unsupported';
}

function readRows(text: string, file: string): Row[] {
  try {
    const rows: { record: Row['values']; info: { lines: number } }[] = parse(text, {
      bom: true,
      columns: (header: string[]) => columnsOf(header, file),
      info: true,
      skip_empty_lines: true,
      trim: true,
    });
    return rows.map(({ record, info }) => ({ line: info.lines, values: record }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error.lines === 'number' ? `line ${error.lines}: ` : '';
    const what =
      error.code === 'CSV_RECORD_INCONSISTENT_COLUMNS'
        ? 'it has a different number of columns than the first line'
        : 'its quotes do not match';
    throw payersError(file, [
      `- ${line}${what}. Put quotes around a value that contains a comma or a quote.`,
    ]);
  }
}

function columnsOf(header: string[], file: string): string[] {
  const names = header.map((name) => name.trim().toLowerCase());
  const problems = names.flatMap((name, index) => {
    if (!PAYER_COLUMNS.some((column) => column === name)) {
      const meant = nearest(name, PAYER_COLUMNS);
      return [
        `- line 1: "${name}" is not a known column. ` +
          (meant === null ? `Known: ${PAYER_COLUMNS.join(', ')}.` : `Did you mean "${meant}"?`),
      ];
    }
    return names.indexOf(name) < index
      ? [`- line 1: the column "${name}" appears twice. Delete one.`]
      : [];
  });
  if (!names.includes('pms_name') && !names.includes('pms_id')) {
    problems.push(
      `- line 1: there is no column ${oneOf(['pms_name', 'pms_id'])}. The first line must ` +
        'name the columns.',
    );
  }
  if (problems.length > 0) throw payersError(file, problems);
  return names;
}

function payersError(file: string, problems: string[]): EligdError {
  return new EligdError('configuration', {
    what:
      `The payer map ${file} has ` +
      `${problems.length === 1 ? 'an error' : `${problems.length} errors`}.`,
    why: problems.join('\n'),
    next:
      'Fix the file, then run the command again. ' +
      `${shippedFile('config/payers.example.csv')} is an example.`,
  });
}
