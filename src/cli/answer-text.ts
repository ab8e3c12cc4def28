/** Formats a payer's answer for `eligd show`. */
import { wallClockText } from '../domain/time.ts';
import { ABSENCE_TEXTS, absenceSentences } from '../records/fields.ts';
import {
  type ClaimSummary,
  type EligibilitySummary,
  summarizeClaim,
  summarizeEligibility,
} from '../records/summary.ts';
import type { AnswerRecord } from '../store/answers/answers.ts';
import type { VisitVerdict } from './verdicts.ts';

/** Summarizes the answer for the first of the visits that it serves. */
export function summaryOf(
  record: AnswerRecord,
  [first]: readonly VisitVerdict[],
): EligibilitySummary | ClaimSummary {
  return record.schema === 'eligd.claim/1'
    ? summarizeClaim(record)
    : summarizeEligibility(record, first?.verdict ?? null);
}

type Row = { line: string } & ({ code: string } | { name: string } | { date: string });
type SummaryValue = string | Row[];

/**
 * Returns the lines of an answer. A line says so if the payer did not answer a question; the last
 * lines name what eligd did not ask and what does not apply (G8). Times are the clinic's.
 */
export function answerLines(
  record: AnswerRecord,
  verdicts: readonly VisitVerdict[],
  time_zone: string,
): string[] {
  const { notes, call_ended_at, ...values } = summaryOf(record, verdicts);
  const shown = {
    ...values,
    call_ended: wallClockText(call_ended_at, time_zone),
    inquiry: record.inquiry_id,
    asked_at: wallClockText(record.inquiry_created_at ?? '', time_zone),
    specialty: record.specialty,
  };
  const pairs = Object.entries(shown).flatMap(
    ([name, value]: [string, SummaryValue]): [string, string][] => {
      if (typeof value === 'string')
        return value === '' || value === ABSENCE_TEXTS.does_not_apply
          ? []
          : [[name.replaceAll('_', ' '), value]];
      return value.map((entry) => [rowName(entry), entry.line]);
    },
  );
  const absent = record.schema === 'eligd.claim/1' ? [] : absenceSentences(record);
  return [
    ...pairs.map(([name, value]) => `  ${`${name}:`.padEnd(38)} ${value}`),
    ...[...notes, ...absent].map((note) => `  Note: ${note}`),
  ];
}

function rowName(row: Row): string {
  if ('code' in row) return row.code;
  if ('name' in row) return row.name;
  return row.date === '' ? 'treatment history' : `treatment on ${row.date}`;
}
