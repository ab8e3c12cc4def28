import { isJsonObject, type Json, type JsonObject } from '../json.ts';

/** Replacement values for fields with these names, wherever they occur. */
const ODD_VALUES: { readonly [field: string]: Json } = {
  plan_type: 'hybrid-2',
  effective_date: '02-30-2024',
  termination_date: '',
  has_other_insurance: 'not asked',
  individual_deductible: '$1,500.00',
  individual_deductible_used: 'N/A',
  family_deductible: '',
  family_deductible_used: null,
  coverage_limit: 'unlimited',
  coverage_limit_remaining: 'unlimited',
  individual_out_of_pocket_maximum: '1,500',
  family_out_of_pocket_maximum: 'N/A',
  coverage_percentage: '80%',
  coinsurance_percentage: '20 after deductible',
  copay_amount: 'varies',
  age_limit: 'none',
  waiting_periods: '',
  date_processed: '00-00-0000',
  date_paid: 'pending',
  amound_paid: 'N/A',
};

const STATUS_OF_CLAIM = 'In Review (2)';

/** Makes an answer unusual: words for amounts, impossible dates, unknown values and fields. */
export function makeOdd(results: JsonObject): JsonObject {
  const odd = withOddValues(results);
  const claim = 'status' in results ? { status: STATUS_OF_CLAIM } : {};
  return {
    ...odd,
    ...claim,
    payer_portal_note: 'Ask again after open enrollment.',
    benefit_flags: { tier: 'B', rank: 3 },
  };
}

function withOddValues(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => {
      const odd_value = ODD_VALUES[field];
      return [field, odd_value === undefined ? oddInside(inner) : odd_value];
    }),
  );
}

function oddInside(value: Json): Json {
  if (Array.isArray(value)) return value.map(oddInside);
  return isJsonObject(value) ? withOddValues(value) : value;
}
