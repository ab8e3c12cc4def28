/** Out-of-network benefits in the payer's words. */

/** `none`: routine care is not paid. `differ`: it was said how it is paid. */
export type NetworkBenefits = 'none' | 'differ' | 'unknown';

const TEXT_CHARS_MAX = 1_000;

/** The whole text, apart from an exception for emergencies. */
const NONE = new Set([
  ...['none', 'no', 'not covered', 'no benefits', 'no benefit', 'no coverage', 'not payable'],
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

const EXCEPT =
  '(?:except|other than|unless) ?(?:for |in |in case of |it is |its )?(?:an |a |true )?';
const EMERGENCY = 'emergenc(?:y|ies)(?: (?:care|services|treatment|situations))?';
const CARE = `${EMERGENCY}(?: (?:and|or) urgent care)?`;
/** `, except for emergencies`, `(emergency only)`, `, emergencies excepted`. */
const EXCEPTION = new RegExp(
  `,? ?${EXCEPT}${CARE}(?: only)?$|,? only ${CARE}$|,? ${CARE} (?:only|excepted)$`,
);

/** Words that say how it is paid; a number with its sign, a rate, or "the same". */
const HOW = [
  /\d ?(?:%|percent|per cent|points)/,
  /\$ ?\d/,
  /\b(?:ucr|usual|customary|mac|mpa|allowance|allowed amount|fee schedule|allowable)\b/,
  /\b(?:same|equal|identical)\b/,
];
/** Words that deny something: what is paid then is for a person to read. */
const DENIED =
  /\b(?:unknown|not?|none|nothing|never|without|denie[sd]|deny|exclud\w*|only|unless|except\w*)\b/;
/** `plan pays 0%`, `patient pays 100%`, `100% patient responsibility`. */
const PLAN_PAYS_NOTHING = [
  /(?<![\d.])0+(?:\.0+)? ?(?:%|percent|per cent)/,
  /\b(?:patient|member|insured|subscriber|enrollee)\b.{0,40}\b100 ?(?:%|percent|per cent)/,
  /\b100 ?(?:%|percent|per cent).{0,40}\b(?:patient|member|insured|subscriber|enrollee)\b/,
];

export function networkBenefits(said: string): NetworkBenefits {
  if (said.length > TEXT_CHARS_MAX) return 'unknown';
  const text = said
    .toLowerCase()
    .replaceAll(/[-–]/g, ' ')
    .replaceAll(/[.;:!](?=\s|$)|[()]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const rest = text.replace(EXCEPTION, '').trim();
  if (NONE.has(text) || NONE.has(rest)) return 'none';
  const plain = text.replaceAll('no difference', 'same');
  if (DENIED.test(plain) || PLAN_PAYS_NOTHING.some((pattern) => pattern.test(plain)))
    return 'unknown';
  return HOW.some((pattern) => pattern.test(plain)) ? 'differ' : 'unknown';
}
