/** What is left of the amounts that several procedures, or a family, share. */
import type { EligibilityRecord } from '../eligibility.ts';
import {
  type CentRange,
  centsOfMoney,
  deductibleLeft,
  isThere,
  isUnlimited,
  leftOf,
  maximumLeft,
} from './money.ts';

const NO_LIMIT = { low: Number.POSITIVE_INFINITY, high: Number.POSITIVE_INFINITY };

/** Returns what is due of the individual deductible: nothing once the family's is met. */
export function deductibleDue({ maximums }: EligibilityRecord): CentRange {
  const own = deductibleLeft(maximums?.individual_deductible) ?? {
    low: 0,
    high: Number.POSITIVE_INFINITY,
  };
  const family = isThere(maximums?.family_deductible) ? leftOf(maximums?.family_deductible) : null;
  if (family === null) return own;
  return { low: Math.min(own.low, family.low), high: Math.min(own.high, family.high) };
}

/** What is left of the maximum of a dental plan. */
export function annualLeft({ specialty, maximums }: EligibilityRecord): CentRange {
  if (specialty !== 'dental') return NO_LIMIT;
  return maximumLeft(maximums?.coverage_limit) ?? { low: 0, high: Number.POSITIVE_INFINITY };
}

/** The service reports the orthodontics maximum, but not what is left of it. */
export function orthodonticLeft({ maximums }: EligibilityRecord): CentRange {
  const limit = maximums?.orthodontics_coverage_limit;
  if (isUnlimited(limit)) return NO_LIMIT;
  return { low: 0, high: centsOfMoney(limit) ?? Number.POSITIVE_INFINITY };
}

/** Returns what is left until the patient owes nothing more for covered care. */
export function outOfPocketLeft({ specialty, maximums }: EligibilityRecord): CentRange {
  if (specialty === 'dental') return NO_LIMIT;
  const lefts = [
    maximums?.individual_out_of_pocket_maximum,
    maximums?.family_out_of_pocket_maximum,
  ].flatMap((allowance) => {
    const left = isThere(allowance) ? leftOf(allowance) : null;
    return left === null ? [] : [left];
  });
  return {
    low: Math.min(Number.POSITIVE_INFINITY, ...lefts.map(({ low }) => low)),
    high: Math.min(Number.POSITIVE_INFINITY, ...lefts.map(({ high }) => high)),
  };
}
