/** Explains the service's rejection of a request to the front office. */

/** One element of a validation error's `detail` (docs/service.md "Validation error"). */
type ValidationItem = { loc: readonly (string | number)[]; msg: string; type: string };

/** Why a neighbor of a rejected inquiry waits; `eligd explain` recognizes this sentence. */
export const REFUSED_NEIGHBOR =
  'Another inquiry of the same batch was rejected, and the service did not say whether it ' +
  'accepted this one.';

const FIELD_NAMES: Readonly<Record<string, string>> = {
  benefits_codes: 'procedure code',
  benefits_query: 'question set',
  billed_amount: 'billed amount',
  billing_npi: 'billing NPI',
  claim_number: 'claim number',
  claims_date_of_service: 'date of service',
  desired_completion_date: 'desired completion date',
  diagnosis_codes: 'diagnosis code',
  dob: 'birth date',
  group_id: 'group number',
  insurance: 'insurance company',
  insurance_payor_id: 'payer ID',
  member_id: 'member ID',
  npi: 'NPI',
  patient_name: "patient's name",
  place_of_service: 'place of service',
  rendering_npi: "provider's NPI",
  tax_id: 'tax ID',
};

/** Returns an error's location in one inquiry: without the body and the item's index in a batch. */
function placeOf(loc: ValidationItem['loc']): (string | number)[] {
  const place = [...loc];
  if (place[0] === 'body') place.shift();
  if (place[0] === 'inquiries' && typeof place[1] === 'number') place.shift();
  if (typeof place[0] === 'number') place.shift();
  return place;
}

/**
 * Returns the service's own words with a readable field name and the code concerned. `sent` is the
 * request, from which only the code is quoted (G6).
 */
export function refusalWords(
  errors: readonly ValidationItem[],
  sent: Readonly<Record<string, unknown>>,
): string {
  return errors
    .map(({ loc, msg }) => {
      const [field = '', index] = placeOf(loc);
      const name = FIELD_NAMES[field] ?? String(field);
      const values = sent[field];
      const code =
        /_codes$/.test(String(field)) && Array.isArray(values) && typeof index === 'number'
          ? values[index]
          : undefined;
      return [name, typeof code === 'string' ? ` ${code}` : '', name === '' ? '' : ': ', msg].join(
        '',
      );
    })
    .join('; ');
}

/**
 * Returns the fields that this account requires and that eligd leaves out until then. From now on
 * eligd sends them, and it sends the inquiry again. Null: the error has another cause.
 */
export function fieldsMissed(
  errors: readonly ValidationItem[],
  sent: Readonly<Record<string, unknown>>,
): ('npi' | 'insurance')[] | null {
  const fields = errors.map(({ loc }) => String(placeOf(loc)[0] ?? ''));
  const missed = [...new Set(fields)].filter((field) => field === 'npi' || field === 'insurance');
  const is_all = errors.length > 0 && missed.length === new Set(fields).size;
  return is_all && missed.every((field) => (sent[field] ?? '') === '') ? missed : null;
}
