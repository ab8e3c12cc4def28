import { judgedVisit, NO_FEES } from '../domain/fees.ts';
import { unquoted } from '../domain/quotes.ts';
import type { Config } from '../ops/config.ts';
import { readFees } from '../ops/fees.ts';
import type { Weighed } from '../records/verdict/reasons.ts';
import {
  reasonsInOneLine,
  VERDICT_WORDS,
  verdictLines,
  whatToDo,
} from '../records/verdict/text.ts';
import { judge, type Verdict, type VerdictWord } from '../records/verdict.ts';
import type { Db } from '../store/engine/database.ts';
import { withNewestAnswers } from '../store/views/schedule.ts';
import type { AppointmentProgress, InquiryDetail } from '../store/views/subject.ts';
import type { ExplainedAppointment, ExplainedSubject } from './state.ts';
import { SITUATION_NAMES } from './subject.ts';

/** The verdict for one visit that the inquiry serves. */
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

/** Returns the newest answers: a later attempt's answer replaces the earlier one's. */
export function newestAnswers({ inquiries }: ExplainedSubject): InquiryDetail[] {
  return inquiries.filter(
    ({ row, coverage_rank }) =>
      !inquiries.some(
        (other) =>
          other.answer !== null && other.coverage_rank === coverage_rank && other.row.id > row.id,
      ),
  );
}

/** A verdict in the form of a list. */
type VerdictLine = {
  standing: VerdictWord;
  /** In sentences; empty if the verdict has no reasons to name. */
  reasons: string;
};

const verdictLine = (verdict: Verdict, patients: boolean): VerdictLine => ({
  standing: verdict.standing,
  reasons: patients ? reasonsInOneLine(verdict) : unquoted(reasonsInOneLine(verdict)),
});

/** Returns the newest verdict about the visit's first coverage; undefined: no answer yet. */
export function leadingVerdict(
  detail: ExplainedSubject,
  { source_id }: ExplainedAppointment,
  { config, patients }: { config: Config; patients: boolean },
): (VerdictLine & { to_do: string[] }) | undefined {
  const found = newestAnswers(detail)
    .toSorted((one, other) => (one.coverage_rank ?? 1) - (other.coverage_rank ?? 1))
    .flatMap((each) => verdictsOf(detail, each, config))
    .find(({ appointment }) => appointment === source_id)?.verdict;
  if (found === undefined) return undefined;
  return { ...verdictLine(found, patients), to_do: whatToDo(found) };
}

/**
 * Returns a visit's situation and the reason in words. If its answer is written, the verdict comes
 * first.
 */
export function situationWords(
  { situation, explanation }: ExplainedAppointment,
  verdict: VerdictLine | undefined,
): { word: string; why: string } {
  const { why, next } = explanation;
  if (situation !== 'delivered' || verdict === undefined)
    return { word: SITUATION_NAMES[situation], why };
  const { standing, reasons } = verdict;
  // An open attention entry already contains the reasons.
  const whole = next === null && reasons !== '' ? `${reasons} ${why}` : why;
  return { word: VERDICT_WORDS[standing], why: whole };
}

/** An answer has up to 16 MB, so only this many are in memory at a time. */
const VISITS_PER_READ = 100;

/** Returns by appointment the verdict of the newest answer about the visit's first coverage. */
export async function verdictsById(
  db: Db,
  visits: readonly AppointmentProgress[],
  config: Config,
): Promise<Map<number, VerdictLine>> {
  const { time_zone } = config.clinic;
  const found = new Map<number, VerdictLine>();
  for (let first = 0; first < visits.length; first += VISITS_PER_READ) {
    const part = visits.slice(first, first + VISITS_PER_READ);
    for (const { id, input, answers } of await withNewestAnswers(db, part)) {
      const [answer] = answers;
      if (answer === undefined || 'coverage' in input) continue;
      const visit = judgedVisit(input, answer.coverage_rank, { time_zone, fees: NO_FEES });
      found.set(id, verdictLine(judge(answer.record, visit), false));
    }
  }
  return found;
}

/** Describes a verdict; includes the payer's own words only if `patients` is set. */
export function verdictText({ appointment, verdict }: VisitVerdict, patients: boolean): string[] {
  const lines = verdictLines(verdict).map((line) => (patients ? line : unquoted(line)));
  return [`  Visit ${appointment}:`, ...lines.map((line) => `    ${line}`)];
}

/**
 * Returns the verdict without the payer's own words and without codes that only the payer named.
 */
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
