import { judgedVisit, NO_FEES } from '../domain/fees.ts';
import { unquoted } from '../domain/quotes.ts';
import type { Config } from '../ops/config.ts';
import { readFees } from '../ops/fees.ts';
import type { Weighed } from '../records/verdict/reasons.ts';
import { verdictLines } from '../records/verdict/text.ts';
import { judge, type Verdict, type VerdictWord } from '../records/verdict.ts';
import type { Db } from '../store/engine/database.ts';
import { withNewestAnswers } from '../store/views/schedule.ts';
import type { AppointmentProgress, InquiryDetail } from '../store/views/subject.ts';
import type { ExplainedSubject } from './state.ts';

/** What the answer comes to for one visit that is served by the inquiry. */
export type VisitVerdict = { appointment: string; verdict: Verdict };

export function verdictsOf(
  { appointments }: ExplainedSubject,
  { answer, coverage_rank }: InquiryDetail,
  config: Config,
): VisitVerdict[] {
  const record = answer?.record;
  if (record?.schema !== 'eligd.eligibility/1') return [];
  const fees = readFees(config);
  const { time_zone } = config.clinic;
  return appointments.flatMap(({ input, source_id }) =>
    'coverage' in input
      ? []
      : [
          {
            appointment: source_id,
            verdict: judge(record, judgedVisit(input, coverage_rank ?? 1, { time_zone, fees })),
          },
        ],
  );
}

/** An answer is up to 16 MB; only the words of so many are kept at a time. */
const VISITS_PER_READ = 100;

/** By appointment: what the newest answer about the first coverage of its visit comes to. */
export async function verdictsById(
  db: Db,
  visits: readonly AppointmentProgress[],
  config: Config,
): Promise<Map<number, VerdictWord>> {
  const { time_zone } = config.clinic;
  const found = new Map<number, VerdictWord>();
  for (let first = 0; first < visits.length; first += VISITS_PER_READ) {
    const part = visits.slice(first, first + VISITS_PER_READ);
    for (const { id, input, answers } of await withNewestAnswers(db, part)) {
      const [answer] = answers;
      if (answer === undefined || 'coverage' in input) continue;
      const visit = judgedVisit(input, answer.coverage_rank, { time_zone, fees: NO_FEES });
      found.set(id, judge(answer.record, visit).standing);
    }
  }
  return found;
}

/** The payer's own words only for those who may see patients. */
export function verdictText({ appointment, verdict }: VisitVerdict, patients: boolean): string[] {
  const lines = verdictLines(verdict).map((line) => (patients ? line : unquoted(line)));
  return [`  Visit ${appointment}:`, ...lines.map((line) => `    ${line}`)];
}

/** The same verdict without the payer's own words, and without codes that only the payer named. */
export function withoutWordsOfPayer({ appointment, verdict }: VisitVerdict): VisitVerdict {
  const quiet = (reasons: readonly Weighed[]) =>
    reasons.map((reason) => ({ ...reason, text: unquoted(reason.text), facts: [] }));
  const procedures = verdict.procedures.map((each) => ({
    ...each,
    reasons: quiet(each.reasons),
    remarks: [],
  }));
  return {
    appointment,
    verdict: { ...verdict, reasons: quiet(verdict.reasons), procedures, others: [] },
  };
}
