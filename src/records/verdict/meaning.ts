/**
 * Reads the meaning of the payer's words about one code. Two ways to say the same have the same
 * meaning, and remarks that limit nothing have none. Words that eligd does not understand are their
 * own meaning.
 */
import { type AgeRule, readAgeWords, upToAge } from '../ages.ts';
import type { BenefitRule, EligibilityRecord } from '../eligibility.ts';
import { type Frequency, readFrequency } from '../frequency/read.ts';
import { numberOf, tokensOf } from '../frequency/tokens.ts';
import { copayWords } from './money.ts';
import { withoutRemarks } from './remarks.ts';

/** The code that the words are about, and whether the provider is known to be in the network. */
export type Context = { code: string; is_in_network: boolean };

export const contextOf = ({ plan }: EligibilityRecord, code: string): Context => ({
  code,
  is_in_network: plan?.is_provider_in_network === true,
});

/** Reads the frequency limit; `words` when it is unreadable, null when there is none. */
export function frequencyOf(rule: BenefitRule, context: Context): Frequency | 'words' | null {
  const { frequency_limitations: words } = rule;
  if (words == null) return null;
  const read = readFrequency(words, context.code);
  if (read !== null) return read;
  const rest = withoutRemarks(words, rule, context);
  return (rest === '' ? null : readFrequency(rest, context.code)) ?? 'words';
}

const anyOf = (...words: string[]) => new RegExp(String.raw`\b(?:${words.join('|')})\b`, 'i');

/** Words that limit how often, when, or at what age, if a number is with them. */
const LIMITING_NUMBER = anyOf(
  ...['per', 'every', 'each', 'annual\\w*', 'year\\w*', 'month\\w*', 'weeks?', 'days?', 'lifetime'],
  ...['max\\w*', 'limit\\w*', 'exceed', 'combined', 'within', 'first', 'up to', 'over', 'under'],
  ...['above', 'below', 'older', 'younger', 'through', 'until', 'between', 'ages?', 'aged'],
);
/** Words that may exclude a patient or a treatment without a number. */
const EXCLUDING = anyOf(
  ...['once', 'twice', 'only', 'never', 'child', 'children', 'adults?', 'dependents?', 'minors'],
  ...['pediatric', 'no benefits?', 'not(?! (?:required|needed|subject|applicable|limited)\\b)'],
);

/**
 * Reads the field for other limitations ("20 visits per calendar year"). Text that may exclude the
 * visit but is unreadable gives `words`; any other text is only a remark.
 */
export function limitationsOf(rule: BenefitRule, context: Context): Frequency | 'words' | null {
  const { limitations } = rule;
  if (limitations == null) return null;
  const limiting = (frequency: Frequency) =>
    frequency.limits.length === 0 && frequency.age === null ? null : frequency;
  const whole = readFrequency(limitations, context.code);
  if (whole !== null) return limiting(whole);
  const rest = withoutRemarks(limitations, rule, context);
  const read = readFrequency(rest, context.code);
  if (read !== null) return limiting(read);
  const has_number = (tokensOf(rest) ?? []).some((token) => numberOf(token) !== null);
  const is_limit = has_number && LIMITING_NUMBER.test(rest);
  return is_limit || EXCLUDING.test(rest) ? 'words' : null;
}

/** Returns the same text for words with the same meaning. */
export function meaningOf(rule: BenefitRule, name: keyof BenefitRule, context: Context): string {
  switch (name) {
    case 'frequency_limitations':
      return frequencyMeaning(frequencyOf(rule, context), rule.frequency_limitations);
    case 'limitations':
      return frequencyMeaning(limitationsOf(rule, context), rule.limitations);
    case 'age_limit':
      return ageMeaning(rule.age_limit);
    case 'copay':
      return rule.copay != null && 'text' in rule.copay && copayWords(rule.copay) === null
        ? 'no copay'
        : plain(JSON.stringify(rule.copay));
    default:
      return plain(JSON.stringify(rule[name]));
  }
}

const plain = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/[.;,]$/, '');

function frequencyMeaning(
  frequency: Frequency | 'words' | null,
  words: string | null | undefined,
): string {
  if (frequency === 'words') return plain(words ?? '');
  const { limits, age } = frequency ?? { limits: [], age: null };
  const each = limits.map(({ services: _, shared, of, ...limit }) =>
    JSON.stringify({ ...limit, shared: shared.toSorted(), of: of?.toSorted() ?? null }),
  );
  return JSON.stringify([[...new Set(each)].sort(), age]);
}

function ageMeaning(limit: BenefitRule['age_limit']): string {
  if (limit == null) return '';
  const read: AgeRule | 'none' | null =
    typeof limit === 'number' ? upToAge(limit) : readAgeWords(limit.text);
  return read === null && typeof limit === 'object' ? plain(limit.text) : JSON.stringify(read);
}
