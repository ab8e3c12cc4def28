/** Which procedure codes a payer can be asked about. */
import type { Specialty } from './specialty.ts';

/** A CDT code: D and four digits; the D may be left out (docs/service.md "benefits_codes"). */
const DENTAL = /^D?\d{4}$/;
/** A CPT code (four digits and a digit or letter) or an HCPCS code, with or without modifier. */
const OTHER = /^(?:\d{4}[\dA-Z]|[A-Z]\d{4})(?:-[A-Z\d]{2})?$/;

/**
 * Parts codes into those that the service can be asked about and a clinic's own ones, with which it
 * would refuse the whole inquiry.
 */
export function fittingCodes(
  specialty: Specialty,
  codes: readonly string[],
): { fitting: string[]; left_out: string[] } {
  const form = specialty === 'dental' ? DENTAL : OTHER;
  const fits = (code: string) => form.test(code);
  return { fitting: codes.filter(fits), left_out: codes.filter((code) => !fits(code)) };
}

/** A code as the plan's terms name it: the D of a dental one may be left out in a request. */
export function planCode(code: string): string {
  return /^\d{4}$/.test(code) ? `D${code}` : code;
}
