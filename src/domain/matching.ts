/**
 * The match key: what must agree for an inquiry at the service to be the one that a row meant
 * (docs/design.md "Ambiguous"). The service may echo a request with nulls, defaults, other cases or
 * trimmed values, so nothing is ever compared by equality.
 */
export type MatchFields = {
  type: string;
  member_id: string;
  /** Any of the wire's forms: `MM-DD-YYYY`, `YYYY-MM-DD`, `MM/DD/YYYY`. */
  dob: string;
  tax_id: string;
  claim_number?: string | null | undefined;
  claims_date_of_service?: string | null | undefined;
};

/**
 * Canonical text of the fields; equal keys mean the same question about the same person under the
 * same coverage.
 */
export function matchKey(fields: MatchFields): string {
  return [
    fields.type.trim().toUpperCase(),
    lettersAndDigits(fields.member_id),
    canonicalDate(fields.dob),
    lettersAndDigits(fields.tax_id),
    lettersAndDigits(fields.claim_number ?? ''),
    canonicalDate(fields.claims_date_of_service ?? ''),
  ].join('|');
}

/**
 * The match key of a request as the service echoed it, or null when one of the deciding fields is
 * not even text.
 */
export function matchKeyOfEcho(request: Readonly<Record<string, unknown>>): string | null {
  const { type, member_id, dob, tax_id, claim_number, claims_date_of_service } = request;
  if (typeof type !== 'string' || typeof dob !== 'string') return null;
  if (!isTextOrNumber(member_id) || !isTextOrNumber(tax_id)) return null;
  return matchKey({
    type,
    member_id: String(member_id),
    dob,
    // A number has lost the zeros in front of it.
    tax_id: typeof tax_id === 'number' ? String(tax_id).padStart(9, '0') : tax_id,
    claim_number: isTextOrNumber(claim_number) ? String(claim_number) : null,
    claims_date_of_service:
      typeof claims_date_of_service === 'string' ? claims_date_of_service : null,
  });
}

/** An external id as compared: the service may trim it or change its case. */
export function canonicalExternalId(external_id: unknown): string {
  return isTextOrNumber(external_id) ? String(external_id).trim().toUpperCase() : '';
}

/**
 * The first word of a patient's name as compared: twins share all the rest. Empty when there is
 * none.
 */
export function givenName(patient_name: unknown): string {
  return typeof patient_name === 'string'
    ? (/[\p{L}\p{N}]+/u.exec(patient_name.toUpperCase())?.[0] ?? '')
    : '';
}

export function lettersAndDigits(text: string): string {
  return text.toUpperCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** `YYYY-MM-DD` for the wire's three forms of a date; anything else is compared as it is. */
function canonicalDate(text: string): string {
  const trimmed = text.trim();
  const month_first = /^(\d{1,2})[-/](\d{1,2})[-/](\d{4})$/.exec(trimmed);
  if (month_first !== null) {
    const [, month = '', day = '', year = ''] = month_first;
    return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  }
  return trimmed.slice(0, 10);
}

function isTextOrNumber(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
