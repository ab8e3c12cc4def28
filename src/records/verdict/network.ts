/** Out-of-network benefits in the payer's words. */
import { isNone } from '../none-words.ts';

/** `none`: the plan does not pay for routine care. `differ`: the payer said how it pays. */
type NetworkBenefits = 'none' | 'differ' | 'unknown';

const TEXT_CHARS_MAX = 1_000;

/** The whole text, apart from an exception for emergencies. */
const NO_BENEFITS = new Set([
  ...['no', 'not covered', 'no benefits', 'no benefit', 'no coverage', 'not payable'],
  ...['no out of network benefits', 'no out of network benefit', 'no out of network coverage'],
  ...['no oon benefits', 'no oon coverage', 'no benefits out of network', 'nothing', 'excluded'],
  ...['no coverage out of network', 'not covered out of network', 'in network only'],
  ...['out of network is not covered', 'out of network not covered', 'no out of network'],
  ...['out of network services are not covered', 'out of network care is not covered'],
  ...['there are no out of network benefits', 'there is no out of network coverage'],
  ...['plan pays 0%', 'plan pays 0% out of network', '0% out of network'],
  ...['plan pays nothing out of network', 'member must see an in network provider'],
  ...['must use in network providers', 'must use an in network provider', '0', '0%'],
  ...['does not have out of network benefits', 'plan has no out of network benefits'],
  ...['the plan has no out of network benefits', 'only emergencies', 'emergencies only'],
  ...['emergency only', 'only emergency', 'emergency care only', 'only emergency care'],
  ...['emergency services only', 'covered for emergencies only', 'covered only for emergencies'],
  ...['only in emergencies', 'only in an emergency', 'only for emergencies', 'there are none'],
  ...['plan does not cover out of network providers', 'does not cover out of network providers'],
  ...['the plan does not cover out of network providers', 'none hmo plan', 'none this is an hmo'],
]);

/** Why there are none: `None, HMO plan`. */
const KIND_OF_PLAN = /,? (?:this is an? |it is an? )?(?:hmo|dhmo|dmo|epo)(?: plan)?$/;

const EXCEPT =
  '(?:except|other than|unless) ?(?:for |in |in case of |it is |its )?(?:an |a |true )?';
const EMERGENCY = 'emergenc(?:y|ies)(?: (?:care|services|treatment|situations))?';
const CARE = `${EMERGENCY}(?: (?:and|or) urgent care)?`;
/** `, except for emergencies`, `(emergency only)`, `, emergencies excepted`. */
const EXCEPTION = new RegExp(
  `,? ?${EXCEPT}${CARE}(?: only)?$|,? only ${CARE}$|,? ${CARE} (?:only|excepted)$`,
);

/** The whole text says that the patient pays all of it, or the plan nothing. */
const PATIENT = '(?:the )?(?:patient|member|insured|subscriber|enrollee)';
const ALL =
  '(?:everything|all(?: of it| charges| costs| fees)?|in full|(?:the )?full (?:fee|amount|cost)' +
  '|100 ?%(?: of (?:the )?(?:fees?|costs?|charges?|bill|billed charges))?)';
const ZERO = String.raw`(?:\$ ?0(?:\.00?)?|0 ?%|zero|nothing)`;
const NOTHING_PAID = [
  new RegExp(`^${PATIENT} (?:pays|owes|is responsible for|responsible for)(?: for)? ${ALL}$`),
  new RegExp(`^${ALL} (?:is )?(?:${PATIENT} responsibility|paid by ${PATIENT})$`),
  new RegExp(
    `^(?:(?:the )?(?:plan|payer|insurance) (?:pays|covers) )?${ZERO}(?: out of network)?$`,
  ),
];

/** A share above zero that the plan pays. */
const SHARE =
  /(?<![\d.])(?:\d{1,2}(?:\.\d+)? ?(?:%|percent|per cent)|\d{1,2} (?:percentage )?points)/;
/** The whole of an allowed amount, as a share: "100%" alone may be what the patient pays. */
const WHOLE_SHARE =
  /(?<![\d.])100(?:\.0+)? ?(?:%|percent|per cent) of (?:the )?(?:ucr|usual|mac|mpa|allow)/;
/** Certain even if more text follows, such as that the patient may be billed for the rest. */
const PLAN_PAYS = [
  /\b(?:same|equal|identical)\b.{0,40}\b(?:in network|benefits|coverage|percentages)\b/,
  new RegExp(
    '^(?:(?:the )?(?:plan|payer|insurance|benefits?|claims?|services?|it) (?:is |are )?)?' +
      '(?:pays|paid|covers|covered|reimburse[sd]?|based|processed)(?: (?:at|on|up|to|of|by|the))*' +
      ' (?:ucr|usual|customary|mac|mpa|allow\\w+|fee schedule|reasonable)',
  ),
];
/** Other words that describe how the plan pays. */
const HOW = [
  /\$ ?(?=[\d,.]*[1-9])\d/,
  /\b(?:ucr|usual|customary|mac|mpa|allowance|allowed amount|fee schedule|allowable)\b/,
  /\b(?:same|equal|identical)\b/,
];
/** Words of denial: the office has to read what the plan pays then. */
const DENIED = new RegExp(
  '\\b(?:unknown|not?|none|nothing|never|neither|nor|without|denie[sd]|deny|zero|nil|cannot' +
    "|\\w+n['’]t|(?:do|does|is|are|wo|ca)nt|declin\\w*|refus\\w*|reject\\w*|unable|unavailable" +
    '|ineligible|exclu\\w*|only|unless|except\\w*|emergenc\\w*|urgent)\\b',
);
/** A share or an amount that may concern other care than routine care out of network. */
const OF_OTHER_CARE = new RegExp(
  '\\b(?:(?<!out of )network|inn|discount\\w*|er|accident\\w*|injur\\w*|los(?:e|es|t|s|ing)' +
    '|family pays|(?:per|each|a|every) (?:office )?(?:visit|session|service))\\b',
);
/** In-network care that is only used as a comparison. */
const COMPARED =
  /\b(?:(?:than|as|to|of|from|with)(?: (?:the|for))* in network|at in network (?:rate|level)s?)\b/g;
/** A share above zero for care out of network. */
const OUTSIDE_SHARE = new RegExp(
  '\\b(?:out of network|oon)(?: benefits?| is| are| at| pays| covers|[:,])* [1-9]\\d? ?%' +
    '|(?<![\\d.])[1-9]\\d? ?% (?:for |when )?(?:out of network|oon)\\b',
);
/** Terms that do not describe what the plan pays. */
const SAME_TERMS = /\b(?:same|equal|identical) (?:deductibles?|maximums?|limits?|co ?pays?)\b/g;
/** Someone other than the plan pays, unless the text also names a share of the plan. */
const OTHER_PAYS = new RegExp(
  '\\b(?:patients?|members?|insured|subscribers?|enrollees?|you|full|owe[sd]?|due|responsib\\w*' +
    '|liab\\w*|self|cash|pocket|balance|bill\\w*|charges?)\\b',
);
/** `plan pays 0%`, `$0`, `patient pays 100%`, `100% patient responsibility`. */
const PLAN_PAYS_NOTHING = [
  /(?<![\d.])0+(?:\.0+)? ?(?:%|percent|per cent)/,
  /\$ ?0+(?:\.0*)?(?![\d.]*[1-9])/,
  /(?<![\d.,$])0(?![\d.,%])/,
  /\b(?:patient|member|insured|subscriber|enrollee)\b.{0,40}\b100 ?(?:%|percent|per cent)/,
  /\b100 ?(?:%|percent|per cent).{0,40}\b(?:patient|member|insured|subscriber|enrollee)\b/,
];
/** Zero amounts that do not describe what the plan pays. */
const OTHER_ZERO =
  /(?:deductible|copay)(?: of| is|:)? ?\$ ?0(?:\.00)?|\$ ?0(?:\.00)? (?:deductible|copay)/g;

/** Reads the text; `differ` only if the plan certainly pays something for routine care. */
export function networkBenefits(said: string): NetworkBenefits {
  if (said.length > TEXT_CHARS_MAX) return 'unknown';
  const text = said
    .toLowerCase()
    .replaceAll(/[-–]/g, ' ')
    .replaceAll(/[.;:!](?=\s|$)|[()]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const rest = text.replace(EXCEPTION, '').replace(KIND_OF_PLAN, '').trim();
  if ([text, rest].some((each) => isNone(each, NO_BENEFITS) || matchesAny(NOTHING_PAID, each)))
    return 'none';
  const plain = text
    .replaceAll('no difference', 'same')
    .replaceAll(OTHER_ZERO, '')
    .replaceAll(SAME_TERMS, '');
  const inside = OUTSIDE_SHARE.test(plain) ? /\b(?:in network|inn)\b/g : COMPARED;
  if (OF_OTHER_CARE.test(plain.replaceAll(inside, ''))) return 'unknown';
  if (DENIED.test(plain) || matchesAny(PLAN_PAYS_NOTHING, plain)) return 'unknown';
  if (SHARE.test(plain) || matchesAny(PLAN_PAYS, plain)) return 'differ';
  const is_paid = WHOLE_SHARE.test(plain) || matchesAny(HOW, plain);
  return is_paid && !OTHER_PAYS.test(plain) ? 'differ' : 'unknown';
}

const matchesAny = (patterns: readonly RegExp[], text: string) =>
  patterns.some((pattern) => pattern.test(text));
