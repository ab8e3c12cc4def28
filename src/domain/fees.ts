import type { JudgedVisit } from '../records/verdict.ts';
import type { AppointmentInput } from './appointment.ts';
import { localDate } from './time.ts';

/** The clinic's fees by code and payer (`policy.fees`). */
export type FeeSchedule = {
  /** Returns US dollars as decimal text; null where the schedule has no fee. */
  find: (code: string, payer: { payor_id: string; carrier: string }) => string | null;
};

export const NO_FEES: FeeSchedule = { find: () => null };

/** Normalizes a code for looking up fees: upper case, a dental code with its D. */
export function feeCode(code: string): string {
  const plain = code.trim().toUpperCase();
  return /^\d{4}$/.test(plain) ? `D${plain}` : plain;
}

/** Multiplies decimal text by a whole number, exact to the cent. */
function times(fee: string, count: number): string {
  const [whole = '0', decimals = ''] = fee.split('.');
  const cents = (Number(whole) * 100 + Number(decimals.slice(0, 2).padEnd(2, '0'))) * count;
  return `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}

/**
 * Returns the visit as a verdict needs it. Fees in the export take precedence over the schedule.
 */
export function judgedVisit(
  input: AppointmentInput,
  coverage_rank: number,
  { time_zone, fees }: { time_zone: string; fees: FeeSchedule },
): JudgedVisit {
  const { payor_id = '', carrier = '' } = input.coverages[coverage_rank - 1] ?? {};
  const own = Object.fromEntries(
    Object.entries(input.procedure_fees ?? {}).map(([code, fee]) => [feeCode(code), fee]),
  );
  const countOf = (code: string) => input.procedure_counts?.[code] ?? 1;
  const known = input.procedure_codes.flatMap((code): [string, string][] => {
    const each = fees.find(feeCode(code), { payor_id, carrier });
    const fee = own[feeCode(code)] ?? (each === null ? null : times(each, countOf(code)));
    return fee == null ? [] : [[code, fee]];
  });
  return {
    date: localDate(Date.parse(input.starts_at), time_zone),
    birth_date: input.patient.birth_date,
    procedure_codes: input.procedure_codes.flatMap((code) => Array(countOf(code)).fill(code)),
    fees: Object.fromEntries(known),
    coverage_rank,
  };
}
