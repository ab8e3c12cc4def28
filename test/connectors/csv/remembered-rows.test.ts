/** What the connector remembers of a long file, to join the rows of one appointment. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { AppointmentRows } from '../../../connectors/csv/appointment-rows.ts';
import type { ReadRow, RowMapper } from '../../../connectors/csv/rows.ts';
import { appointmentInput } from '../../store/clinic.ts';

/** As many cells and characters as in the exports of the bench. */
const cellsOf = (id: number) => Array.from({ length: 20 }, (_, i) => `cell ${i} ${id}`.padEnd(8));

function readRow(cells: readonly string[]): ReadRow {
  const [first = ''] = cells;
  const appointment = appointmentInput(first.trim(), { procedure_codes: [cells.at(-1) ?? ''] });
  return { appointment, has_status: true };
}

const mapRow: RowMapper = (row) => {
  if ('fault' in row) throw new Error(row.fault);
  return readRow(row.cells);
};

/** Adds the first row of each of these appointments. */
function add(rows: AppointmentRows, from: number, to: number): void {
  for (let id = from; id < to; id += 1) {
    const cells = cellsOf(id);
    rows.add(readRow(cells), { number: id, cells });
  }
}

it('rows of one appointment are joined with 20,000 appointments between them', () => {
  const rows = new AppointmentRows(mapRow);
  add(rows, 0, 20_000);
  const cells = [cellsOf(0)[0] ?? '', 'D2740'];
  expect(rows.add(readRow(cells), { number: 1, cells })).toMatchObject({
    procedure_codes: [cellsOf(0).at(-1), 'D2740'],
  });
});

it('the memory for earlier rows does not grow with the file', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const rows = new AppointmentRows(mapRow);
  add(rows, 0, 10);
  const used = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  add(rows, 10, 60_000);
  const kept_mb = (used() - before) / 1_000_000;
  expect(kept_mb).toBeGreaterThan(5);
  expect(kept_mb).toBeLessThan(12);
  // Also keeps it until here.
  expect(rows).toBeDefined();
});
