/** From the cells of a row of claims-*.csv to a claim. */
import type { ClaimInput } from '../../src/domain/claim.ts';
import type { RejectedItem } from '../contract.ts';
import type { ColumnPlan } from './columns.ts';
import type { CsvConfig } from './config.ts';
import type { Row } from './records.ts';
import { Cells, patientName, readCoverage, readTreatment, rejectedRow, type Settings, type Sheet, sheetOf } from './rows.ts';
import * as values from './values.ts';
import { claimStatusReader, readRank } from './words.ts';

export type MappedClaim = { claim: ClaimInput } | { rejected: RejectedItem };
export type ClaimMapper = (row: Row) => MappedClaim;

export function claimMapper(columns: ColumnPlan, settings: Settings & Pick<CsvConfig, 'claim_statuses'>): ClaimMapper {
  const sheet = sheetOf(columns, settings);
  const statusOf = claimStatusReader(settings.claim_statuses);
  return (row) =>
    'fault' in row ? { rejected: rejectedRow(row.number, row.fault) } : mapClaim(sheet, statusOf, row.number, row.cells);
}

const NO_COVERAGE = { carrier: '', payor_id: '', member_id: '', group_id: '', subscriber: null };

/** A claim needs its id alone; whatever else a call needs is judged by planning. */
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
        ? { value_class: 'empty', remedy: 'Give the claim its number, or take the row out.' }
        : { value_class: 'number in scientific notation', remedy: 'Export again without opening the file in a spreadsheet.' }),
    };
    return { rejected };
  }
  const patient = { id: cells.id('patient_id') || null, ...patientName(sheet, cells), birth_date: cells.date('dob') };
  const claim = {
    source_id,
    status: readClaimStatus(cells, statusOf),
    claim_number: cells.id('claim_number'),
    date_of_service: cells.date('date_of_service'),
    billed_amount: cells.amount('billed_amount'),
    patient,
    coverage: readCoverage(sheet, cells, patient, (column) => column) ?? NO_COVERAGE,
    coverage_rank: readCoverageRank(cells),
    ...readTreatment(cells),
    place_of_service: cells.name('place_of_service'),
  };
  return { claim: { ...claim, problems: cells.problems } };
}

function readClaimStatus(cells: Cells, statusOf: ReturnType<typeof claimStatusReader>): ClaimInput['status'] {
  const status = statusOf(cells.plain('claim_status'));
  if (status !== null) return status;
  const remedy =
    'Say in the configuration what it means, under "claim_statuses:" as "<word>: open" or "<word>: settled". Until then it counts as open.';
  cells.report('claim_status', 'unknown word', remedy);
  return 'open';
}

function readCoverageRank(cells: Cells): number {
  const text = cells.plain('coverage');
  if (text === '') return 1;
  const rank = readRank(text);
  if (rank === null)
    cells.report('coverage', 'unknown word', 'Write 1 or primary, 2 or secondary. Until then it counts as primary.');
  return rank ?? 1;
}
