/** Decides which procedure codes eligd can ask a payer about. */
import type { Specialty } from './specialty.ts';

/** A CDT code: D and four digits; the D is optional (docs/service.md "benefits_codes"). */
const DENTAL = /^D?\d{4}$/;
/** A CPT code (four digits and a digit or letter) or an HCPCS code, with or without modifier. */
const OTHER = /^(?:\d{4}[\dA-Z]|[A-Z]\d{4})(?:-[A-Z\d]{2})?$/;

/**
 * Separates the codes that the service accepts from a clinic's internal codes. The service would
 * reject the whole inquiry because of one internal code.
 */
export function fittingCodes(
  specialty: Specialty,
  codes: readonly string[],
): { fitting: string[]; left_out: string[] } {
  const form = specialty === 'dental' ? DENTAL : OTHER;
  const fits = (code: string) => form.test(code);
  return { fitting: codes.filter(fits), left_out: codes.filter((code) => !fits(code)) };
}

/** Returns a code as the plan's terms name it: a dental code in a request may lack its D. */
export function planCode(code: string): string {
  return /^\d{4}$/.test(code) ? `D${code}` : code;
}
