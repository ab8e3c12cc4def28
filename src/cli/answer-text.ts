/** A payer's answer as `eligd show` prints it. */
import {
  type ClaimSummary,
  type EligibilitySummary,
  summarizeClaim,
  summarizeEligibility,
} from '../records/summary.ts';
import type { AnswerRecord } from '../store/answers/answers.ts';
import type { VisitVerdict } from './verdicts.ts';

/** For the first of the visits that the answer serves. */
export function summaryOf(
  record: AnswerRecord,
  [first]: readonly VisitVerdict[],
): EligibilitySummary | ClaimSummary {
  return record.schema === 'eligd.claim/1'
    ? summarizeClaim(record)
    : summarizeEligibility(record, first?.verdict ?? null);
}

type SummaryValue = string | ({ code: string; line: string } | { name: string; line: string })[];

/** What was not asked is left out; what is unknown says so (G8). */
export function summaryLines(summary: EligibilitySummary | ClaimSummary): string[] {
  const { notes, ...values } = summary;
  const pairs = Object.entries(values).flatMap(
    ([name, value]: [string, SummaryValue]): [string, string][] => {
      if (typeof value === 'string')
        return value === '' ? [] : [[name.replaceAll('_', ' '), value]];
      return value.map((entry) => ['code' in entry ? entry.code : entry.name, entry.line]);
    },
  );
  return [
    ...pairs.map(([name, value]) => `  ${`${name}:`.padEnd(38)} ${value}`),
    ...notes.map((note) => `  Note: ${note}`),
  ];
}
