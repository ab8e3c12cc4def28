/** Whether the maximum leaves anything for a procedure, and which care counts toward it. */
import type { EligibilityRecord, Money } from '../eligibility.ts';
import type { ProcedureFacts } from './facts.ts';
import { centsOfMoney, isLeftOpen, maximumLeft, mayBeGone } from './money.ts';
import { fact, type Weighed } from './reasons.ts';

/** Recognizes preventive care by its number, because payers classify codes differently. */
export const isPreventive = (code: string) => /^D1\d{3}$/.test(code);

/** Clauses about preventive care do not mention diagnostic care. */
export const isDiagnostic = (code: string) => /^D0\d{3}$/.test(code);

/** Braces and what belongs to them. */
export const isOrthodontic = (code: string) => /^D8\d{3}$/.test(code);

/** Returns whether a dental code counts toward the annual maximum; null: unknown. */
export function countsTowardMaximum(
  { maximums, clauses }: EligibilityRecord,
  code: string,
): boolean | null {
  if (isDiagnostic(code)) return null;
  if (isPreventive(code)) return clauses?.preventive_applies_to_maximum ?? null;
  // If the answer has an orthodontics maximum, orthodontics does not count toward the annual one.
  if (isOrthodontic(code) && maximums?.orthodontics_coverage_limit != null) return false;
  return true;
}

/** For a dental plan. `open`: words about the remaining amount may mean that nothing is left. */
function maximumState({ specialty, maximums }: EligibilityRecord): 'left' | 'open' | 'used_up' {
  const limit = maximums?.coverage_limit;
  if (specialty !== 'dental' || limit === undefined) return 'left';
  if (isLeftOpen(limit)) return 'open';
  const left = maximumLeft(limit);
  return left !== null && left.high <= 0 ? 'used_up' : 'left';
}

const remainingFact = ({ maximums }: EligibilityRecord) =>
  fact('maximums.coverage_limit.remaining', maximums?.coverage_limit?.remaining);

function openMaximum(record: EligibilityRecord): Weighed {
  const { amount, remaining } = record.maximums?.coverage_limit ?? {};
  if (remaining == null)
    return goneInWords('the maximum', amount, 'maximums.coverage_limit.amount');
  const path = 'maximums.coverage_limit.remaining';
  return goneInWords('what is left of the maximum', remaining, path);
}

function goneInWords(what: string, said_of_it: Money | null | undefined, path: string): Weighed {
  const words = said_of_it != null && 'text' in said_of_it ? said_of_it.text : '';
  return {
    code: 'maximum_used_up',
    effect: 'unknown',
    text: `The insurance company said about ${what}: "${words}". It may be used up.`,
    facts: [fact(path, said_of_it)],
  };
}

/** For the plan as a whole: some procedures may not count toward the maximum. */
export function usedUpMaximum(record: EligibilityRecord): Weighed[] {
  const state = maximumState(record);
  if (state === 'left') return [];
  if (state === 'open') return [openMaximum(record)];
  const text = 'The maximum is used up, and what counts toward it is unknown.';
  return [{ code: 'maximum_used_up', effect: 'unknown', text, facts: [remainingFact(record)] }];
}

/** Of one procedure, when nothing or perhaps nothing is left of the maximum. */
export function maximumReasons({ record, code }: ProcedureFacts): Weighed[] {
  if (record.specialty !== 'dental') return [];
  const orthodontic = record.maximums?.orthodontics_coverage_limit;
  if (isOrthodontic(code) && centsOfMoney(orthodontic) === 0)
    return [
      {
        code: 'maximum_used_up',
        effect: 'no',
        text: 'Not payable: the orthodontics maximum is $0.',
        facts: [fact('maximums.orthodontics_coverage_limit', orthodontic)],
      },
    ];
  if (isOrthodontic(code) && mayBeGone(orthodontic)) {
    const path = 'maximums.orthodontics_coverage_limit';
    return [goneInWords('the orthodontics maximum', orthodontic, path)];
  }
  const counts = countsTowardMaximum(record, code);
  const state = counts === false ? 'left' : maximumState(record);
  if (state === 'left') return [];
  if (state === 'open') return [openMaximum(record)];
  const clause = record.clauses?.preventive_applies_to_maximum;
  return [
    {
      code: 'maximum_used_up',
      effect: counts === true ? 'no' : 'unknown',
      text:
        counts === true
          ? 'Not payable: the maximum is used up.'
          : `The maximum is used up, and whether ${code} counts toward it is unknown.`,
      facts: [
        remainingFact(record),
        ...(isPreventive(code) ? [fact('clauses.preventive_applies_to_maximum', clause)] : []),
      ],
    },
  ];
}
