/** Divides the fee of a covered procedure between the plan and the patient. */
import { isUnanswered } from '../none-words.ts';
import { outOfPocketLeft } from './allowances.ts';
import { type ProcedureFacts, said } from './facts.ts';
import { centsOfMoney, copayWords } from './money.ts';
import { isInNetwork } from './plan.ts';
import type { Weighed } from './reasons.ts';

/** Returns the patient's share in percent; null when it is unknown or not a number. */
export function patientPercent({ rule }: Pick<ProcedureFacts, 'rule'>): number | null {
  const [plan, patient] = [rule.plan_pays_percent, rule.patient_pays_percent];
  if (typeof plan === 'number') return roundPercent(100 - plan);
  return typeof patient === 'number' ? patient : null;
}

/** Returns whether the stated shares of plan and patient do not add up to the whole. */
function haveTwoShares({ rule }: Pick<ProcedureFacts, 'rule'>): boolean {
  const [plan, patient] = [rule.plan_pays_percent, rule.patient_pays_percent];
  return (
    typeof plan === 'number' && typeof patient === 'number' && roundPercent(plan + patient) !== 100
  );
}

/**
 * Returns words about what the patient pays that the numbers do not explain: a copay, which would
 * replace the share, or one share in words while the other is a number.
 */
function shareInWords({ rule }: Pick<ProcedureFacts, 'rule'>): string | null {
  const copay = copayWords(rule.copay);
  if (copay !== null) return copay;
  const patient = patientPercent({ rule });
  const words = [rule.plan_pays_percent, rule.patient_pays_percent].find(
    (share) => share != null && typeof share === 'object',
  );
  if (patient === null || words === undefined || typeof words !== 'object') return null;
  const numbers = words?.text.match(/\d+(?:\.\d+)?/g)?.map(Number) ?? [];
  const shares = [patient, roundPercent(100 - patient)];
  const is_explained = numbers.length > 0 && numbers.every((each) => shares.includes(each));
  return is_explained || words === null || isUnanswered(words.text) ? null : words.text;
}

/** Returns what the patient pays if the plan pays; null: unknown, in words, or contradictory. */
export function shareOf(
  facts: Pick<ProcedureFacts, 'rule'>,
): { copay: number | null; patient_percent: number | null } | null {
  const copay = centsOfMoney(facts.rule.copay);
  const patient_percent = patientPercent(facts);
  if (copay === null && patient_percent === null) return null;
  if (haveTwoShares(facts) || shareInWords(facts) !== null) return null;
  return { copay, patient_percent };
}

const roundPercent = (percent: number) => Math.round(percent * 1e6) / 1e6;

/**
 * Returns whether the patient pays all of a covered procedure: the plan's share is 0%, and no copay
 * replaces it. False if other shares may apply out of network, or if the out-of-pocket maximum is
 * met.
 */
function paysNothing(facts: ProcedureFacts): boolean {
  const share = shareOf(facts);
  if (share === null || share.copay !== null || share.patient_percent !== 100) return false;
  const { low } = outOfPocketLeft(facts.record);
  return isInNetwork(facts.record) && low > 0 && low >= facts.visit.charged;
}

/** Returns why the plan pays nothing for a covered procedure, or that its share is not known. */
export function shareReasons(facts: ProcedureFacts): Weighed[] {
  const { rule, code } = facts;
  const of_share = said(facts, 'plan_pays_percent', 'patient_pays_percent', 'copay');
  if (paysNothing(facts))
    return [
      {
        code: 'not_covered',
        effect: 'no',
        text:
          typeof rule.plan_pays_percent === 'number'
            ? "The plan's share is 0%: the patient pays all of it."
            : "The patient's share is 100%: the patient pays all of it.",
        facts: [...said(facts, 'is_covered'), ...of_share],
      },
    ];
  if (shareOf(facts) !== null) return [];
  if (haveTwoShares(facts))
    return [
      {
        code: 'conflicting',
        effect: 'unknown',
        text:
          `The insurance company named ${rule.plan_pays_percent}% for the plan and ` +
          `${rule.patient_pays_percent}% for the patient.`,
        facts: of_share,
      },
    ];
  const words = shareInWords(facts);
  return [
    {
      code: 'not_answered',
      effect: 'unknown',
      text:
        words === null
          ? `${code} is covered, but the insurance company did not say how much the plan pays.`
          : `${code} is covered. Ask what the patient pays; the insurance company said: "${words}"`,
      facts: of_share,
    },
  ];
}
