/** The cases of test/fixtures/verdicts: a visit, an answer, and a biller's conclusion. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Specialty } from '../../src/domain/specialty.ts';
import { normalizeEligibility } from '../../src/records/normalize.ts';
import { judge, type Verdict } from '../../src/records/verdict.ts';

export type VerdictCase = {
  id: string;
  about: string;
  specialty: Specialty;
  appointment: { in_days: number; dob: string; codes: string[]; fees: Record<string, string> };
  answer: { status: string; results: unknown };
  expect: {
    verdict: string;
    reasons: string[];
    procedures: Record<string, ExpectedProcedure>;
    patient_pays?: [string, string];
  };
};

type ExpectedProcedure = { standing: string; reasons: string[]; patient_pays?: [string, string] };

export const CASES = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/verdicts/cases.json'), 'utf8'),
) as VerdictCase[];

export const QUERIES: Readonly<Record<Specialty, readonly string[]>> = {
  dental: ['STANDARD', 'CODE_LOOKUP_BENEFITS', 'CODE_LOOKUP_FREQUENCIES', 'TREATMENT_HISTORY'],
  medical: ['CODE_LOOKUP_BENEFITS', 'CODE_LOOKUP_PRIOR_AUTH', 'DEDUCTIBLES_AND_MAXIMUMS'],
  mental_health: ['CODE_LOOKUP_BENEFITS', 'MAXIMUMS', 'PLAN_INFO'],
};

/** `{visit}`, `{visit-30}`, `{jan1}` as MM-DD-YYYY, in keys and values. */
export function dated(node: unknown, visit: string): unknown {
  const text = JSON.stringify(node).replaceAll(
    /\{(visit|jan)([+-]?\d*)\}/g,
    (_, name: string, number: string) => {
      const day =
        name === 'jan'
          ? new Date(`${visit.slice(0, 4)}-01-0${number}T00:00:00Z`)
          : new Date(Date.parse(`${visit}T00:00:00Z`) + Number(number || 0) * 86_400_000);
      const [year, month, date] = day.toISOString().slice(0, 10).split('-');
      return `${month}-${date}-${year}`;
    },
  );
  return JSON.parse(text) as unknown;
}

/** A verdict about an answer, as the pure functions give it. */
export function verdictOf(one: VerdictCase, visit?: string): Verdict {
  return judged(one, visit).verdict;
}

/** The same with its record. */
export function judged(one: VerdictCase, visit = '2026-11-23') {
  const record = normalizeEligibility({
    inquiry: {
      id: 'inq-1',
      status: one.answer.status,
      creation_ts: '2026-11-20T15:00:00Z',
      results: dated(one.answer.results, visit),
      request: null,
    },
    specialty: one.specialty,
    asked: {
      benefits_query: QUERIES[one.specialty],
      benefits_codes: one.appointment.codes,
    },
  });
  const verdict = judge(record, {
    date: visit,
    birth_date: one.appointment.dob,
    procedure_codes: one.appointment.codes,
    fees: one.appointment.fees,
  });
  return { record, verdict };
}

/** A verdict in the form in which a case expects it. */
export function conclusion(verdict: Verdict) {
  const pair = (pays: { low: string; high: string } | null) =>
    pays === null ? null : [pays.low, pays.high];
  return {
    verdict: verdict.standing,
    reasons: verdict.reasons.map(({ code }) => code),
    patient_pays: pair(verdict.patient_pays),
    procedures: Object.fromEntries(
      verdict.procedures.map(({ code, standing, reasons, patient_pays }) => [
        code,
        {
          standing,
          reasons: reasons.map((reason) => reason.code),
          patient_pays: pair(patient_pays),
        },
      ]),
    ),
  };
}

/** The differences between a conclusion and its case; empty if there are none. */
export function differencesOf(found: ReturnType<typeof conclusion>, one: VerdictCase): string[] {
  const faults: string[] = [];
  const must = (holds: boolean, what: string) => {
    if (!holds) faults.push(what);
  };
  const wanted = one.expect;
  must(found.verdict === wanted.verdict, `verdict ${found.verdict}, not ${wanted.verdict}`);
  for (const reason of wanted.reasons)
    must(found.reasons.includes(reason as never), `no ${reason}`);
  if (wanted.patient_pays !== undefined)
    must(String(found.patient_pays) === String(wanted.patient_pays), `visit ${found.patient_pays}`);
  must(
    Object.keys(found.procedures).join() === Object.keys(wanted.procedures).join(),
    `procedures ${Object.keys(found.procedures)}`,
  );
  for (const [code, expected] of Object.entries(wanted.procedures)) {
    const procedure = found.procedures[code];
    must(procedure?.standing === expected.standing, `${code} ${procedure?.standing}`);
    for (const reason of expected.reasons)
      must(procedure?.reasons.includes(reason as never) === true, `${code} no ${reason}`);
    if (expected.standing === 'payable' && expected.reasons.length === 0)
      must(procedure?.reasons.length === 0, `${code} has ${procedure?.reasons}`);
    if (expected.patient_pays !== undefined)
      must(
        String(procedure?.patient_pays) === String(expected.patient_pays),
        `${code} pays ${procedure?.patient_pays}`,
      );
  }
  return faults;
}
