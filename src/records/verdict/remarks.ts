/**
 * Recognizes sentences next to a limit that limit nothing, although they have words like "only" and
 * "not". Every pattern matches a whole sentence, because one more word may change its meaning.
 */
import type { BenefitRule } from '../eligibility.ts';

type About = { code: string; is_in_network: boolean };

const whole = (...patterns: string[]) => new RegExp(`^(?:${patterns.join('|')})$`);

const QUOTE =
  '(?:(?:this|it|the above|this information|(?:the |these |all )?(?:quoted )?benefits' +
  '(?: quoted)?|(?:this |a |the )?(?:quote|quotation|verification)(?: of benefits)?) (?:is|are) )?';
/** Boilerplate that payers add to every quotation of benefits. */
const DISCLAIMER = whole(
  `${QUOTE}not (?:a |any )?guarantee of (?:payment|benefits|coverage|benefits or payment)`,
  `${QUOTE}(?:only an? (?:summary|estimate|quote|quotation)|an? (?:summary|estimate|quote) only)`,
  '(?:for )?(?:informational purposes|information) only',
);

const NECESSARY = 'medically (?:necessary|needed|appropriate)';
/** A condition of all care; the provider decides whether it is met. */
const NECESSITY = whole(
  '(?:(?:it |services? |care |treatment |therapy )?(?:is |are )?)?(?:covered |payable )?' +
    `(?:only )?(?:when|if|as|where) (?:it is |deemed )?${NECESSARY}(?: only)?`,
  `only ${NECESSARY} (?:services|care|treatment|visits)(?: (?:is|are) covered)?`,
  `${NECESSARY} (?:services|care|treatment|visits) only`,
);

/** How the plan sets the allowed amount of every code. */
const ALLOWED_AMOUNT = whole(
  '(?:payment |benefits? |fees? )?(?:is |are |may |will )?not to exceed (?:the )?(?:plan )?' +
    '(?:ucr|usual(?:,)? (?:and )?customary(?: and reasonable)?(?: (?:fees?|charges?|rates?))?' +
    '|(?:maximum )?allow(?:ed|able)(?: amount| charge| fee)?|fee schedule|contracted rate)',
);

const NETWORK = '(?:in network|network|participating|par|contracted)';
const NETWORK_ONLY = whole(
  `(?:covered )?(?:for |with |by |at )?${NETWORK}(?: (?:providers?|dentists?|benefits?))? only`,
  `only (?:covered )?(?:for |with |by |at )?${NETWORK}(?: (?:providers?|dentists?|benefits?))?` +
    '(?: (?:is|are) covered)?',
);

const EVERYBODY = whole(
  '(?:(?:is |are )?covered (?:for )?|for )?(?:both )?' +
    '(?:adults? (?:and|&|or) child(?:ren)?|child(?:ren)? (?:and|&|or) adults?)' +
    '(?: (?:is |are )?(?:both )?covered)?',
);

const OF_LIMITS =
  '(?:the |any |there are )?(?:visit |frequency |session |day |age |annual |yearly )*' +
  '(?:limits?|limitations?|restrictions?)';
/** Says with a "not" that there is no limit; contradicts a limit in another field. */
const UNLIMITED = whole(
  `${OF_LIMITS} (?:do|does|will) not apply(?: (?:to|for) (?:this|the) (?:code|service|procedure))?`,
  '(?:this |the )?(?:code |service |procedure |benefit )?(?:does|do) not have (?:any |an? )?' +
    '(?:visit |frequency |session |age )*(?:limits?|limitations?|restrictions?)',
);

const NO_REQUIREMENT = whole(
  '(?:it |this |the plan |the code |the service |code |service |plan )?(?:does|do|will) not ' +
    '(?:require|need) (?:an? |any )?(?:prior |pre)?-?(?:authorization|auth|certification|approval' +
    '|referral|determination)s?(?: (?:or|and) (?:an? |any )?(?:referrals?|authorizations?))?',
);

/** How often the copay is due; the range of amounts covers both readings. */
const COPAY = whole(
  'only (?:one|1|a single) co ?pay(?:ment)? (?:is |applies |due )*per ' +
    '(?:day|visit|date of service)(?: applies)?',
);

const AFTER_DEDUCTIBLE = whole(
  '(?:is )?(?:covered |paid |payable )?(?:only )?once (?:the |your )?(?:annual |individual )?' +
    'deductible (?:is|has been) (?:met|satisfied)',
);
const NO_DEDUCTIBLE = whole('(?:the )?deductible (?:does|will) not apply');

/** Services that only these codes stand for; excluding them says nothing about other codes. */
const GROUP_THERAPY = /^(?:90853|90849)$/;
const NO_GROUP_THERAPY = whole(
  '(?:there is )?no (?:coverage|benefits?) for group (?:psycho)?therapy',
  'group (?:psycho)?therapy (?:is |sessions are )?not (?:covered|a covered (?:service|benefit))',
);

/** A longer text is not searched for remarks. */
const TEXT_CHARS_MAX = 1_000;

/** Returns the words without the sentences that limit nothing; empty if none remain. */
export function withoutRemarks(words: string, rule: BenefitRule, about: About): string {
  if (words.length > TEXT_CHARS_MAX) return words;
  return words
    .split(/(?<=[.;!?])\s+|\s*[\n|]\s*/)
    .filter((sentence) => !limitsNothing(sentence, rule, about))
    .join(' ')
    .trim();
}

function limitsNothing(sentence: string, rule: BenefitRule, { code, is_in_network }: About) {
  const plain = sentence
    .toLowerCase()
    .replaceAll(/['"’*]/g, '')
    .replaceAll(/[-–—\s]+/g, ' ')
    .replace(/[.;!?]+$/, '')
    .trim();
  const is_limited = rule.frequency_limitations != null || rule.age_limit != null;
  const harmless = [
    ...[DISCLAIMER, NECESSITY, ALLOWED_AMOUNT, EVERYBODY, NO_REQUIREMENT, COPAY],
    ...(is_limited ? [] : [UNLIMITED]),
    ...(is_in_network ? [NETWORK_ONLY] : []),
    ...(rule.is_deductible_waived === true ? [NO_DEDUCTIBLE] : [AFTER_DEDUCTIBLE]),
    ...(GROUP_THERAPY.test(code) ? [] : [NO_GROUP_THERAPY]),
  ];
  return harmless.some((pattern) => pattern.test(plain));
}
