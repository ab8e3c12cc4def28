/** Flags that payers answer in words: "Out of network" for `is_provider_in_network`. */
import { type Reading, readYesNo } from './values.ts';

/** The patterns match the whole text; any other text stays unread. */
type FlagWords = { yes: RegExp; no: RegExp };

const LEAD = '^(?:(?:yes|no),? )?(?:it |the plan |plan |provider |coverage )?(?:is )?(?:';
const whole = (words: string) => new RegExp(`${LEAD}${words})$`);
const NOT = '(?:not|isnt|non)';

export const ACTIVE_WORDS: FlagWords = {
  yes: whole('active|currently active|in force'),
  no: whole(
    `inactive|${NOT} active|no longer active|terminated|termed|cancell?ed|lapsed|expired|ended`,
  ),
};

const IN_NETWORK = 'in(?: the)? network|inn|par|participating|contracted';
export const NETWORK_WORDS: FlagWords = {
  yes: whole(IN_NETWORK),
  no: whole(`out of(?: the)? network|oon|nonpar|${NOT} (?:${IN_NETWORK})`),
};

export const PRIMARY_WORDS: FlagWords = {
  yes: whole('primary'),
  no: whole(`secondary|tertiary|${NOT} primary`),
};

const REFERRAL = '(?:a |pcp )?referrals?(?: is| are)?';
export const REFERRAL_WORDS: FlagWords = {
  yes: whole(`(?:${REFERRAL} )?(?:required|needed)|required from the pcp|from the pcp`),
  no: whole(`none|(?:${REFERRAL} )?not (?:required|needed|necessary)|no ${REFERRAL} required`),
};

const AUTHORIZATION =
  '(?:an? )?(?:pre ?|prior )?auth(?:orization)?(?: is)?|pre ?(?:certification|cert|determination)';
export const AUTHORIZATION_WORDS: FlagWords = {
  yes: whole(`(?:${AUTHORIZATION} )?(?:required|needed|mandatory)`),
  no: whole(
    `none|(?:${AUTHORIZATION} )?not (?:required|needed|necessary)|no (?:${AUTHORIZATION}) required`,
  ),
};

export const COVERED_WORDS: FlagWords = {
  yes: whole('covered|(?:a )?covered (?:benefit|service|procedure)'),
  no: whole(
    `${NOT} (?:covered|(?:a )?(?:covered )?(?:benefit|service|procedure))` +
      '|(?:a )?non ?covered(?: (?:benefit|service|procedure))?|excluded|an exclusion',
  ),
};

/** Reads a yes or no, or words that clearly mean one. Such words are kept for a person to check. */
export function readFlag({ yes, no }: FlagWords): (raw: unknown) => Reading<boolean> {
  return (raw) => {
    const reading = readYesNo(raw);
    if (reading.is !== 'unreadable' || typeof raw !== 'string') return reading;
    const text = raw
      .toLowerCase()
      .replaceAll(/['’.]/g, '')
      .replaceAll(/[-\s]+/g, ' ')
      .trim();
    const [is_yes, is_no] = [yes.test(text), no.test(text)];
    // "No, in network" says both.
    const is_mixed = is_yes ? text.startsWith('no,') : text.startsWith('yes,');
    if (is_yes === is_no || is_mixed) return reading;
    return { is: 'doubtful', value: is_yes, why: reading.why };
  };
}
