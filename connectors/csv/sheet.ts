/** An export with its column plan, and the cells of one row. */
import type { AppointmentStatus, FieldProblem } from '../../src/domain/appointment.ts';
import { appointmentStateReader } from '../../src/domain/appointment-states.ts';
import { readAmount } from '../../src/records/values.ts';
import type { RejectedItem } from '../contract.ts';
import {
  type CanonicalColumn,
  COVERAGE_COLUMNS,
  type ColumnPlan,
  type CoverageColumns,
  FIRST_COVERAGE,
  SECOND_COVERAGE,
} from './columns.ts';
import type { CsvConfig } from './config.ts';
import { instantText } from './instants.ts';
import type { RowFault } from './records.ts';
import { readUsualDate } from './usual-date.ts';
import type { Read, TimeParts } from './values.ts';
import * as values from './values.ts';

export type Settings = Pick<CsvConfig, 'date_order' | 'name_order' | 'statuses'> & {
  time_zone: string;
};

/** The data for one file that the functions below share. */
export type Sheet = {
  settings: Settings;
  columns: ColumnPlan;
  statusOf: (text: string) => AppointmentStatus | null;
  startOf: (text: string) => Read<string>;
  dateOf: (text: string) => Read<string>;
  proceduresOf: typeof values.readProcedureCodes;
  countsOf: typeof values.readProcedureCounts;
  has_second_coverage: boolean;
  /** The coverages of which the file has a column about the policyholder. */
  with_subscriber: ReadonlySet<CoverageColumns>;
};

const ROW_REMEDIES: Record<RowFault, string> = {
  'stray quotation mark':
    'Remove the quotation mark from this row, or export again with text in quotation marks.',
  'unclear quotation mark':
    'An open quotation mark here may belong to this row or to another one, so eligd used none ' +
    'of these rows. Remove the mark, or export again with every cell in quotation marks.',
  'line break in a cell':
    'A name, date, or number in this row spans two lines. Remove the line break in the ' +
    'practice management system.',
  'too long': 'Check this row in the export; it is longer than any appointment can be.',
  'too few cells':
    'The row has fewer cells than the header, so eligd cannot tell which is which. Export ' +
    'again, or fix this row.',
  'too many cells':
    'The row has more cells than the header: usually a separator inside a name or note. ' +
    'Export with text in quotation marks, or fix this row.',
};

export const DATE_REMEDIES: Record<string, string> = {
  'impossible date':
    'This day does not exist. Correct it in the practice management system. If day and month ' +
    'are swapped everywhere, set "date_order:".',
  'two-digit year': 'Export years with four digits; 24 may be 1924 or 2024.',
  'not a date':
    'Correct the date in the practice management system, or export dates as YYYY-MM-DD.',
  'not a date in the configured order':
    'Export dates as YYYY-MM-DD, or set "date_order:" to mdy or dmy.',
  'no time of day': 'Export the time of the appointment as well.',
  'not a time': 'Correct the time in the practice management system, or export it as HH:MM.',
};

/**
 * A file has few distinct dates and times; a file with a million different ones must not fill the
 * memory.
 */
const MEMO_MAX = 2_000;

function memoized<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= MEMO_MAX) known.clear();
    const value = read(text);
    known.set(values.ownText(text), value);
    return value;
  };
}

const SUBSCRIBER_COLUMNS = [
  'relationship',
  'subscriber_name',
  'subscriber_last_name',
  'subscriber_first_name',
  'subscriber_dob',
] as const;

const NO_DATE: Read<string> = { value: null, fault: null };

/** Returns what the rows of one file share. */
export function sheetOf(columns: ColumnPlan, settings: Settings): Sheet {
  const stateOf = appointmentStateReader(settings.statuses);
  return {
    settings,
    columns,
    statusOf: memoized((text) => (text === '' ? 'booked' : stateOf(text))),
    startOf: memoized((text) => readStart(text, settings)),
    // Not remembered: birth dates rarely repeat.
    dateOf: (text) => (text === '' ? NO_DATE : readDate(text, settings)),
    proceduresOf: memoized(values.readProcedureCodes),
    countsOf: memoized(values.readProcedureCounts),
    with_subscriber: new Set(
      [FIRST_COVERAGE, SECOND_COVERAGE].filter((names) =>
        SUBSCRIBER_COLUMNS.some((column) => columns.index[names[column]] !== -1),
      ),
    ),
    has_second_coverage: [
      'carrier_2',
      'payor_id_2',
      'member_id_2',
      'group_id_2',
      'subscriber_name_2',
      'subscriber_last_name_2',
    ].some((column) => columns.index[column as CanonicalColumn] !== -1),
  };
}

/** Returns the item for a row that could not be read. */
export function rejectedRow(number: number, fault: RowFault): RejectedItem {
  return {
    position: `row ${number}`,
    field: 'row',
    value_class: fault,
    remedy: ROW_REMEDIES[fault],
  };
}

/** Returns the text with one space for each run of white space. */
export const withSingleSpaces = (text: string): string =>
  /[^\S ]| {2}/.test(text) ? text.replaceAll(/\s+/g, ' ') : text;

/** The cells of one row by canonical column, and the list of their problems. */
export class Cells {
  readonly problems: FieldProblem[] = [];
  readonly sheet: Sheet;
  private readonly cells: readonly string[];

  constructor(sheet: Sheet, cells: readonly string[]) {
    this.sheet = sheet;
    this.cells = cells;
  }

  raw(column: CanonicalColumn): string {
    const i = this.sheet.columns.index[column];
    return i === -1 ? '' : (this.cells[i] ?? '');
  }

  plain(column: CanonicalColumn): string {
    const cell = this.raw(column);
    return cell === '' ? '' : values.plainCell(cell);
  }

  name(column: CanonicalColumn): string {
    const cell = this.raw(column);
    return cell === '' ? '' : withSingleSpaces(values.cleanCell(cell));
  }

  /**
   * Returns an identifier with its leading zeros; empty, with a problem, if a spreadsheet has
   * rounded it.
   */
  id(column: CanonicalColumn): string {
    const text = this.plain(column);
    if (!values.isScientific(text)) return text;
    this.report(
      column,
      'number in scientific notation',
      'A spreadsheet has rounded this number. Export again without opening the file in a ' +
        'spreadsheet.',
    );
    return '';
  }

  date(column: CanonicalColumn): string | null {
    const { value, fault } = this.sheet.dateOf(this.plain(column));
    if (fault !== null) this.report(column, fault, DATE_REMEDIES[fault] ?? '');
    return value;
  }

  read<T>(column: CanonicalColumn, readCell: (text: string) => Read<T>, remedy: string): T | null {
    const { value, fault } = readCell(this.plain(column));
    if (fault !== null) this.report(column, fault, remedy);
    return value;
  }

  /** Returns dollars as decimal text; empty if missing or, with a problem, unreadable. */
  amount(column: CanonicalColumn): string {
    const reading = readAmount(this.plain(column));
    if (reading.is === 'silent') return '';
    if (reading.is === 'read' && 'amount' in reading.value) return reading.value.amount;
    this.report(column, 'not an amount', 'Export the amount as a plain number, such as 120.00.');
    return '';
  }

  codes(
    column: CanonicalColumn,
    readCell: (text: string) => { codes: string[]; lost: boolean },
  ): string[] {
    const text = this.plain(column);
    if (text === '') return [];
    const { codes, lost } = readCell(text);
    if (lost)
      this.report(
        column,
        'no code in it',
        'Export the codes themselves (D1110), separated by commas, not their descriptions.',
      );
    return codes;
  }

  /** Returns how often each repeated code is scheduled; null: no code is repeated. */
  counts(): Record<string, number> | null {
    return this.sheet.countsOf(this.plain('procedure_codes'));
  }

  /** Returns the charge for each code; null if the export has none, or no readable one. */
  fees(): Record<string, string> | null {
    const text = this.plain('procedure_fees');
    if (text === '') return null;
    const fees = values.readProcedureFees(this.plain('procedure_codes'), text);
    if (fees === null)
      this.report(
        'procedure_fees',
        'not a fee for each code',
        'Give one fee for each procedure code, in the same order, separated by semicolons.',
      );
    return fees === null || Object.keys(fees).length === 0 ? null : fees;
  }

  report(column: CanonicalColumn, value_class: string, remedy: string): void {
    const field = column.replace(/_2$/, '');
    const coverage_rank = field === column ? 1 : 2;
    const about = COVERAGE_COLUMNS.has(field) ? { field, coverage_rank } : { field };
    this.problems.push({ field: this.sheet.columns.header[column], value_class, remedy, about });
  }
}

/**
 * Reads the start from one cell: a date and its time, with a blank or a line break between them.
 */
function readStart(text: string, settings: Settings): Read<string> {
  const [dateText = '', timeText] = text.split('\n', 2);
  const date = values.readDateParts(dateText, settings.date_order, true);
  if (date.value === null) return { value: null, fault: date.fault };
  const own = timeText ?? date.value.rest;
  if (own === '') return { value: null, fault: 'no time of day' };
  const time = values.readTime(own) ?? timeBehindDate(own, settings);
  if (time === null) return { value: null, fault: 'not a time' };
  return { value: instantText(date.value, time, settings.time_zone), fault: null };
}

/**
 * Reads the time after a date. Some databases store a time on a date long ago: `1899-12-30
 * 14:30:00`.
 */
function timeBehindDate(text: string, settings: Settings): TimeParts | null {
  const date = values.readDateParts(text, settings.date_order, true);
  return date.value === null || date.value.rest === '' ? null : values.readTime(date.value.rest);
}

/** Reads a date alone; a midnight after it is allowed. */
function readDate(text: string, settings: Settings): Read<string> {
  const usual = readUsualDate(text);
  if (usual !== null) return usual;
  const { value, fault } = values.readDateParts(text, settings.date_order, false);
  if (value === null) return { value: null, fault };
  if (value.rest !== '' && values.readTime(value.rest) === null)
    return { value: null, fault: 'not a date' };
  return { value: values.isoDate(value), fault: null };
}
