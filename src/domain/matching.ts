/**
 * The match key: the fields that must agree for an inquiry at the service to be the one in our
 * database (docs/design.md "Ambiguous"). The service may echo a request with nulls, defaults, other
 * case, or trimmed values, so fields are normalized before they are compared.
 */
export type MatchFields = {
  type: string;
  member_id: string;
  /** Any of the date formats on the wire: `MM-DD-YYYY`, `YYYY-MM-DD`, `MM/DD/YYYY`. */
  dob: string;
  tax_id: string;
  claim_number?: string | null | undefined;
  claims_date_of_service?: string | null | undefined;
};

/**
 * Returns the fields as canonical text. Equal keys mean the same question about the same person
 * under the same coverage.
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

/** Returns whether the question is about a claim without a number. */
export function isUnnumberedClaim(match_key: string): boolean {
  const [type, , , , claim_number] = match_key.split('|');
  return type === 'CLAIMS_STATUS' && claim_number === '';
}

/**
 * Returns the match key of a request as the service echoed it; null when a deciding field is
 * neither text nor a number.
 */
export function matchKeyOfEcho(request: Readonly<Record<string, unknown>>): string | null {
  const { type, member_id, dob, tax_id, claim_number, claims_date_of_service } = request;
  if (typeof type !== 'string' || typeof dob !== 'string') return null;
  if (!isTextOrNumber(member_id) || !isTextOrNumber(tax_id)) return null;
  return matchKey({
    type,
    member_id: String(member_id),
    dob,
    // A number has lost its leading zeros.
    tax_id: typeof tax_id === 'number' ? String(tax_id).padStart(9, '0') : tax_id,
    claim_number: isTextOrNumber(claim_number) ? String(claim_number) : null,
    claims_date_of_service:
      typeof claims_date_of_service === 'string' ? claims_date_of_service : null,
  });
}

/**
 * Returns whether the echoed key may stand for our request: the service may have left out fields of
 * its echo, and an empty key, of an echo that cannot be read, may stand for any.
 */
export function mayBeEchoOf(match_key: string, echoed: string): boolean {
  const sent = match_key.split('|');
  return echoed.split('|').every((field, index) => field === '' || field === sent[index]);
}

/**
 * Returns the other keys that the request may have if its echo leaves out one field (not the type),
 * or both the number and the date of the claim.
 */
export function partialKeysOf(match_key: string): string[] {
  const fields = match_key.split('|');
  const keys = [[1], [2], [3], [4], [5], [4, 5]].map((empty) =>
    fields.map((field, index) => (empty.includes(index) ? '' : field)).join('|'),
  );
  return [...new Set(keys)].filter((key) => key !== match_key);
}

/** Normalizes an external ID, which the service may trim or change to another case. */
export function canonicalExternalId(external_id: unknown): string {
  return isTextOrNumber(external_id) ? String(external_id).trim().toUpperCase() : '';
}

/**
 * Returns the first word of a patient's name, normalized: twins agree in every other field. Empty
 * when the name has no word.
 */
export function givenName(patient_name: unknown): string {
  return typeof patient_name === 'string'
    ? (/[\p{L}\p{N}]+/u.exec(patient_name.toUpperCase())?.[0] ?? '')
    : '';
}

export function lettersAndDigits(text: string): string {
  return text.toUpperCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Returns `YYYY-MM-DD` for the wire's three date formats, and any other text unchanged. */
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
