/**
 * Writes `outbox/schedule.csv` and `schedule.xlsx`: the coming days on one page, for the front
 * desk.
 */
import { wallClockText } from '../../src/domain/time.ts';
import {
  amountWords,
  collectText,
  deductibleLeftText,
  maximumLeftText,
  VERDICT_WORDS,
  verdictInOneLine,
  whatToDo,
} from '../../src/records/verdict/text.ts';
import type { Rows, ScheduledLine } from '../contract.ts';
import { csvPieces, type IdCell } from './cells.ts';
import { type Folder, folderError, writeAtomically } from './folder.ts';
import { type WorkbookColumn, workbookFile } from './workbook.ts';

/**
 * The headings are for people; a program reads `eligibility-<batch>.csv` or the JSON. The widths
 * are for the workbook.
 */
const COLUMNS: readonly WorkbookColumn[] = [
  { name: 'Day', width_chars: 10 },
  { name: 'Time', width_chars: 9 },
  { name: 'Patient', width_chars: 22 },
  { name: 'Verdict', width_chars: 16 },
  { name: 'Collect', width_chars: 18 },
  { name: 'What to do', width_chars: 44 },
  { name: 'Deductible left', width_chars: 14 },
  { name: 'Maximum left', width_chars: 13 },
  { name: 'Carrier', width_chars: 22 },
  { name: 'Coverage', width_chars: 9 },
  { name: 'Member ID', width_chars: 16 },
  { name: 'Why', width_chars: 60 },
  { name: 'Appointment', width_chars: 14 },
  { name: 'As of', width_chars: 18 },
];
export const SCHEDULE_COLUMNS = COLUMNS.map(({ name }) => name);

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** Replaces each of the two files atomically; earliest visit first, as given. */
export async function writeTable(
  folder: Folder,
  lines: Rows<ScheduledLine>,
  { as_of, time_zone }: { as_of: string; time_zone: string },
): Promise<void> {
  const at = minuteText(wallClockText(as_of, time_zone));
  const now = `${at.day} ${at.time}`;
  const nothing = ['', '', 'No visits in the coming days.', ...Array(10).fill(''), now];
  try {
    // A workbook needs all of its cells at once.
    const rows = [];
    for await (const line of lines) rows.push(scheduleCells(line, { time_zone, as_of: now }));
    if (rows.length === 0) rows.push(nothing);
    await writeAtomically(folder.outbox, 'schedule.csv', csvPieces(SCHEDULE_COLUMNS, rows));
    const workbook = await workbookFile('Schedule', COLUMNS, rows);
    await writeAtomically(folder.outbox, 'schedule.xlsx', workbook);
  } catch (error) {
    throw folderError(error);
  }
}

/** Returns the row of a visit, in the order of SCHEDULE_COLUMNS. */
export function scheduleCells(
  line: ScheduledLine,
  { time_zone, as_of }: { time_zone: string; as_of: string },
): (string | IdCell)[] {
  const { day, time } = minuteText(wallClockText(line.starts_at, time_zone));
  const ids = [String(line.coverage_rank), { id: line.member_id }];
  if (!('answer' in line))
    return [
      ...[day, time, line.patient_name, line.standing, '', line.to_do ?? '', '', '', line.carrier],
      ...[...ids, line.why ?? '', { id: line.source_id }, as_of],
    ];
  const { record, verdict } = line.answer;
  return [
    ...[day, time, line.patient_name, VERDICT_WORDS[verdict.standing], collectText(verdict)],
    ...[whatToDo(verdict).join(' '), amountWords(deductibleLeftText(record, verdict))],
    ...[amountWords(maximumLeftText(record, verdict)), line.carrier, ...ids],
    ...[verdictInOneLine(verdict), { id: line.source_id }, as_of],
  ];
}

/** Formats `2026-11-23T09:30:00-06:00` as `Mon 11/23` and `9:30 AM`. */
function minuteText(wall: string): { day: string; time: string } {
  const found = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)/.exec(wall);
  if (found === null) return { day: wall, time: '' };
  const [, year = '', month = '', date = '', hour = '', minute = ''] = found;
  const weekday = WEEKDAYS[new Date(`${year}-${month}-${date}T12:00:00Z`).getUTCDay()] ?? '';
  const half = Number(hour) < 12 ? 'AM' : 'PM';
  return {
    day: `${weekday} ${month}/${date}`,
    time: `${((Number(hour) + 11) % 12) + 1}:${minute} ${half}`,
  };
}
