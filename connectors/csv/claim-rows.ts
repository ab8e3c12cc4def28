/** Maps the cells of a row of claims-*.csv to a claim. */
import type { ClaimInput } from '../../src/domain/claim.ts';
import { isSomebodyElse } from '../../src/domain/person.ts';
import { sumOf } from '../../src/records/values.ts';
import type { RejectedItem } from '../contract.ts';
import { type ColumnPlan, FIRST_COVERAGE } from './columns.ts';
import type { CsvConfig } from './config.ts';
import type { Row } from './records.ts';
import { patientName, readCoverage, readTreatment } from './rows.ts';
import { Cells, rejectedRow, type Settings, type Sheet, sheetOf } from './sheet.ts';
import * as values from './values.ts';
import { claimStatusReader, readRank } from './words.ts';

export type MappedClaim = { claim: ClaimInput } | { rejected: RejectedItem };
export type ClaimMapper = (row: Row) => MappedClaim;

/** Returns the function that maps each row of one file. */
export function claimMapper(
  columns: ColumnPlan,
  settings: Settings & Pick<CsvConfig, 'claim_statuses'>,
): ClaimMapper {
  const sheet = sheetOf(columns, settings);
  const statusOf = claimStatusReader(settings.claim_statuses);
  return (row) =>
    'fault' in row
      ? { rejected: rejectedRow(row.number, row.fault) }
      : mapClaim(sheet, statusOf, row.number, row.cells);
}

const NO_COVERAGE = { carrier: '', payor_id: '', member_id: '', group_id: '', subscriber: null };

/** Returns the claim of a row. Requires only its ID; planning judges the other data for a call. */
function mapClaim(
  sheet: Sheet,
  statusOf: ReturnType<typeof claimStatusReader>,
  number: number,
  row: readonly string[],
): MappedClaim {
  const cells = new Cells(sheet, row);
  const source_id = cells.plain('claim_id');
  if (source_id === '' || values.isScientific(source_id)) {
    const rejected = {
      position: `row ${number}`,
      field: sheet.columns.header.claim_id,
      ...(source_id === ''
        ? { value_class: 'empty', remedy: 'Add the number of the claim, or remove the row.' }
        : {
            value_class: 'number in scientific notation',
            remedy: 'Export again without opening the file in a spreadsheet.',
          }),
    };
    return { rejected };
  }
  const patient = {
    id: cells.id('patient_id') || null,
    ...patientName(sheet, cells),
    birth_date: cells.date('dob'),
  };
  const claim = {
    source_id,
    status: readClaimStatus(cells, statusOf),
    claim_number: cells.id('claim_number'),
    date_of_service: cells.date('date_of_service'),
    billed_amount: cells.amount('billed_amount'),
    patient,
    coverage: readCoverage(sheet, cells, patient, FIRST_COVERAGE) ?? NO_COVERAGE,
    coverage_rank: readCoverageRank(cells),
    ...readTreatment(cells),
    place_of_service: cells.name('place_of_service'),
  };
  return { claim: { ...claim, problems: cells.problems } };
}

function readClaimStatus(
  cells: Cells,
  statusOf: ReturnType<typeof claimStatusReader>,
): ClaimInput['status'] {
  const status = statusOf(cells.plain('claim_status'));
  if (status !== null) return status;
  const remedy =
    'Add it to the configuration under "claim_statuses:" as "<word>: open" or "<word>: ' +
    'settled". Until then it counts as open.';
  cells.report('claim_status', 'unknown word', remedy);
  return 'open';
}

function readCoverageRank(cells: Cells): number {
  const text = cells.plain('coverage');
  if (text === '') return 1;
  const rank = readRank(text);
  if (rank === null)
    cells.report(
      'coverage',
      'unknown word',
      'Use 1 or primary, 2 or secondary. Until then it counts as primary.',
    );
  return rank ?? 1;
}

/** Joins adjacent rows of one claim: many exports have one row for each procedure. */
export class ClaimRows {
  #claim: ClaimInput | null = null;
  #amounts: string[] = [];

  /** Adds the claim of a row. Returns the previous claim when it is complete. */
  add(row: ClaimInput): ClaimInput | null {
    const before = this.#claim;
    if (before !== null && isSameClaim(before, row)) {
      this.#claim = joined(before, row);
      this.#amounts.push(row.billed_amount);
      return null;
    }
    const whole = this.end();
    this.#claim = row;
    this.#amounts = [row.billed_amount];
    return whole;
  }

  /** Returns the last claim, if any. */
  end(): ClaimInput | null {
    const claim = this.#claim;
    this.#claim = null;
    return claim === null ? null : { ...claim, billed_amount: billedAmount(this.#amounts) };
  }
}

function isSameClaim(one: ClaimInput, other: ClaimInput): boolean {
  return (
    one.source_id === other.source_id &&
    one.patient.id === other.patient.id &&
    one.patient.birth_date === other.patient.birth_date &&
    !isSomebodyElse(one.patient, other.patient) &&
    one.coverage.member_id === other.coverage.member_id &&
    one.coverage_rank === other.coverage_rank
  );
}

/**
 * Returns the claim of both rows: it has the first date, and is open while a part of it is open.
 */
function joined(claim: ClaimInput, row: ClaimInput): ClaimInput {
  const days = [claim.date_of_service, row.date_of_service].filter((day) => day !== null).sort();
  const all = (one: readonly string[], other: readonly string[]) => [
    ...new Set([...one, ...other]),
  ];
  return {
    ...claim,
    status: claim.status === 'open' || row.status === 'open' ? 'open' : 'settled',
    claim_number: claim.claim_number || row.claim_number,
    date_of_service: days[0] ?? null,
    procedure_codes: all(claim.procedure_codes, row.procedure_codes),
    diagnosis_codes: all(claim.diagnosis_codes, row.diagnosis_codes),
    problems: [...claim.problems, ...row.problems],
  };
}

/**
 * Returns the sum of different amounts, which belong to the procedures. Returns empty for equal
 * ones: each may be the claim's total.
 */
export function billedAmount(amounts: readonly string[]): string {
  const known = amounts.filter((amount) => amount !== '');
  if (known.length <= 1) return known[0] ?? '';
  return new Set(known).size === 1 ? '' : sumOf(known);
}
