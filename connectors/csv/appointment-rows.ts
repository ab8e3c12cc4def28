/** Joins the rows of one appointment in a file: many exports have one row for each procedure. */
import type { AppointmentInput, CoverageInput } from '../../src/domain/appointment.ts';
import { isSomebodyElse } from '../../src/domain/person.ts';
import type { RejectedItem } from '../contract.ts';
import { billedAmount } from './claim-rows.ts';
import type { CellRow } from './records.ts';
import type { ReadRow, RowMapper } from './rows.ts';
import { ownText } from './values.ts';

/**
 * At least GROUP * (GROUPS - 1) appointments are remembered, and at most GROUP * GROUPS; if an
 * export repeats an older one, each of its rows is read separately. Groups are forgotten as a
 * whole, because a Map is slow at finding its oldest entry.
 */
const GROUP = 5_000;
const GROUPS = 5;
/** More rows than any visit has: a file that repeats one ID must not take quadratic time. */
const ROWS_MAX = 200;

/** The appointments of a file so far, each joined from its rows. */
export class AppointmentRows {
  /** By ID, the newest group first. */
  #groups: Map<string, Remembered>[] = [new Map()];
  readonly #map: RowMapper;

  /** `map`: reads the cells of a remembered row again. */
  constructor(map: RowMapper) {
    this.#map = map;
  }

  /**
   * Returns the appointment including this row, or the reason for rejecting the row: another
   * patient's appointment has its ID. A row at another time is a newer version of the appointment
   * and replaces the earlier rows.
   */
  add(read: ReadRow, { number, cells }: CellRow): AppointmentInput | RejectedItem {
    const { source_id, patient, starts_at } = read.appointment;
    const before = this.#before(source_id);
    if (before !== null && isSomebodyElse(before.appointment.patient, patient))
      return rejectedRow(number, ANOTHER_PATIENT);
    if (before?.appointment.starts_at !== starts_at) {
      this.#remember(source_id, JSON.stringify(cells));
      return firstRow(read);
    }
    if (before.amounts.length >= ROWS_MAX) return rejectedRow(number, TOO_MANY_ROWS);
    const known = withRow(before, read);
    this.#remember(source_id, JSON.stringify(known));
    return known.appointment;
  }

  #before(source_id: string): Known | null {
    const remembered = this.#remembered(source_id);
    if (remembered === null) return null;
    const known = JSON.parse(remembered) as Known | string[];
    if (!Array.isArray(known)) return known;
    const read = this.#map({ number: 0, cells: known });
    return 'appointment' in read ? ofFirstRow(read) : null;
  }

  #remembered(source_id: string): Remembered | null {
    for (const group of this.#groups) {
      const remembered = group.get(source_id);
      if (remembered !== undefined) return remembered;
    }
    return null;
  }

  #remember(source_id: string, remembered: Remembered): void {
    let [newest] = this.#groups;
    if (newest === undefined || (newest.size >= GROUP && !newest.has(source_id))) {
      newest = new Map();
      this.#groups = [newest, ...this.#groups.slice(0, GROUPS - 1)];
    }
    newest.set(ownText(source_id), remembered);
  }
}

/**
 * The cells of the only row (`string[]`), or the joined rows (`Known`), as JSON, which takes a
 * fifth of the memory.
 */
type Remembered = string;

/** An appointment with the charges of each of its rows. */
type Known = { appointment: AppointmentInput; amounts: string[]; charges: Charges[] };

type Charges = Pick<AppointmentInput, 'procedure_fees' | 'procedure_counts'>;

const chargesOf = ({ procedure_fees, procedure_counts }: AppointmentInput): Charges => ({
  ...(procedure_fees === undefined ? {} : { procedure_fees }),
  ...(procedure_counts === undefined ? {} : { procedure_counts }),
});

/** Returns the appointment of its first row, with the sums of the row. */
function firstRow(read: ReadRow): AppointmentInput {
  const { procedure_fees, procedure_counts } = read.appointment;
  const is_plain = procedure_fees === undefined && procedure_counts === undefined;
  return is_plain ? read.appointment : ofFirstRow(read).appointment;
}

function ofFirstRow({ appointment }: ReadRow): Known {
  return withSums({
    appointment,
    amounts: [appointment.billed_amount ?? ''],
    charges: [chargesOf(appointment)],
  });
}

function withRow(before: Known, { appointment: row, has_status }: ReadRow): Known {
  const appointment = joined(before.appointment, row);
  if (!has_status) appointment.status = before.appointment.status;
  return withSums({
    appointment,
    amounts: [...before.amounts, row.billed_amount ?? ''],
    charges: [...before.charges, chargesOf(row)],
  });
}

/** Sets the sums over all rows in the appointment. */
function withSums(known: Known): Known {
  const { appointment, amounts, charges } = known;
  Object.assign(appointment, joinedCharges(charges));
  const amount = billedAmount(amounts);
  if (amount === '') delete appointment.billed_amount;
  else appointment.billed_amount = amount;
  return known;
}

/**
 * Returns the charges of all rows. Two rows with one code and different fees are two procedures,
 * and their fees are added up. With the same fee, they may repeat one procedure, so the charge is
 * unknown.
 */
function joinedCharges(rows: readonly Charges[]): Charges {
  const fees: Record<string, string> = {};
  const counts: Record<string, number> = {};
  const codes = rows.flatMap((row) =>
    [row.procedure_fees, row.procedure_counts].flatMap((each) => Object.keys(each ?? {})),
  );
  for (const code of new Set(codes)) {
    const own = rows.flatMap(({ procedure_fees }) => procedure_fees?.[code] ?? []);
    const fee = billedAmount(own);
    if (fee !== '') fees[code] = fee;
    const charged = rows.filter(({ procedure_fees }) => procedure_fees?.[code] !== undefined);
    const countIn = ({ procedure_counts }: Charges) => procedure_counts?.[code] ?? 1;
    const total =
      own.length > 1 && fee !== ''
        ? charged.reduce((sum, row) => sum + countIn(row), 0)
        : Math.max(...rows.map(countIn));
    if (total > 1) counts[code] = total;
  }
  return {
    ...(codes.length === 0 ? {} : { procedure_fees: fees }),
    ...(Object.keys(counts).length === 0 ? {} : { procedure_counts: counts }),
  };
}

/**
 * Returns the appointment of both rows: the later row wins, with the codes of the earlier ones; its
 * empty fields keep the earlier values. If one row says that the patient has died, that stays.
 */
function joined(before: AppointmentInput, row: AppointmentInput): AppointmentInput {
  const all = (one: readonly string[], other: readonly string[]) => [
    ...new Set([...one, ...other]),
  ];
  const problems = new Map(
    [...before.problems, ...row.problems].map((problem) => [JSON.stringify(problem), problem]),
  );
  return {
    ...before,
    ...row,
    patient: {
      ...before.patient,
      ...row.patient,
      id: row.patient.id ?? before.patient.id,
      first_name: row.patient.first_name || before.patient.first_name,
      last_name: row.patient.last_name || before.patient.last_name,
      birth_date: row.patient.birth_date ?? before.patient.birth_date,
    },
    coverages: joinedCoverages(before.coverages, row.coverages),
    provider: {
      rendering_npi: row.provider.rendering_npi || before.provider.rendering_npi,
      billing_npi: row.provider.billing_npi || before.provider.billing_npi,
      tax_id: row.provider.tax_id || before.provider.tax_id,
      is_specialist: row.provider.is_specialist ?? before.provider.is_specialist,
      in_network: row.provider.in_network ?? before.provider.in_network,
    },
    location: row.location ?? before.location,
    specialty: row.specialty ?? before.specialty,
    procedure_codes: all(before.procedure_codes, row.procedure_codes),
    diagnosis_codes: all(before.diagnosis_codes, row.diagnosis_codes),
    problems: [...problems.values()],
  };
}

function joinedCoverages(
  before: readonly CoverageInput[],
  row: readonly CoverageInput[],
): CoverageInput[] {
  const more = before.slice(row.length);
  return [...row.map((coverage, rank) => joinedCoverage(before[rank], coverage)), ...more];
}

/**
 * Returns both coverages as one if every value that both have is equal; otherwise the row's own,
 * because values of two insurances must not be mixed.
 */
function joinedCoverage(before: CoverageInput | undefined, row: CoverageInput): CoverageInput {
  if (before === undefined) return row;
  const whole = { ...before, ...row, subscriber: row.subscriber ?? before.subscriber };
  for (const name of ['carrier', 'payor_id', 'member_id', 'group_id'] as const) {
    whole[name] = row[name] || before[name];
    if (before[name] !== '' && before[name] !== whole[name]) return row;
  }
  return whole;
}

const rejectedRow = (number: number, fault: Omit<RejectedItem, 'position'>): RejectedItem => ({
  position: `row ${number}`,
  ...fault,
});

const ANOTHER_PATIENT = {
  field: 'appointment_id',
  value_class: "the id of another patient's appointment",
  remedy:
    'eligd asks only about the first patient of an appointment. Book a separate appointment ' +
    'for each patient, or call the insurance companies of the others yourself.',
};

const TOO_MANY_ROWS = {
  field: 'appointment_id',
  value_class: `the id of more than ${ROWS_MAX} rows`,
  remedy: 'Export the number of the appointment in this column, not one that repeats.',
};
