import { judgedVisit } from '../domain/fees.ts';
import type { Config } from '../ops/config.ts';
import { readFees } from '../ops/fees.ts';
import { verdictLines } from '../records/verdict/text.ts';
import { judge, type Verdict } from '../records/verdict.ts';
import type { InquiryDetail } from '../store/views/subject.ts';
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

export function verdictText({ appointment, verdict }: VisitVerdict): string[] {
  return [`  Visit ${appointment}:`, ...verdictLines(verdict).map((line) => `    ${line}`)];
}
