/**
 * Frequency limits in the forms that payers' staff usually say, and what a treatment history makes
 * of them. A text in any other form stays a text: nothing is computed from half of a sentence (G8).
 */
import type { EligibilityRecord, NextEligible, Treatment } from './eligibility.ts';

export type FrequencyRule =
  | { kind: 'unlimited' }
  /** `count` in any span of so many months, from day to day. */
  | { kind: 'months'; count: number; months: number }
  | { kind: 'calendar_year'; count: number }
  | { kind: 'lifetime'; count: number };

const NUMBERS: Readonly<Record<string, number>> = {
  ...{
    a: 1,
    one: 1,
    once: 1,
    two: 2,
    twice: 2,
    three: 3,
    four: 4,
    five: 5,
    six: 6,
    seven: 7,
    eight: 8,
    ten: 10,
    twelve: 12,
  },
};

const numeral = `\\d{1,3}|${Object.keys(NUMBERS).join('|')}`;
const UNLIMITED = /^(?:unlimited|no (?:frequency )?(?:limit|limits|limitation|limitations))$/;
const LIMIT = new RegExp(
  `^(?:(${numeral}) ` +
    '?(?:x|times?|visits?|services?|treatments?|exams?|cleanings?|procedures?)? ' +
    '?)?(per|every|each|in|in a|/|a) ?(?:rolling )?(.+)$',
);
const SPAN = new RegExp(
  `^(?:any )?(${numeral})[ -]?(?:consecutive )?(months?|mos?|years?|yrs?)(?: period)?$`,
);
/** No limit takes more words. Longer text would keep the expressions above busy for minutes. */
const LIMIT_CHARS_MAX = 200;
/** `one (1)`, as contracts write it. */
const DOUBLED = new RegExp(`\\b(${numeral}) \\((\\d{1,3})\\)`, 'g');

/**
 * `1 per 36 months`, `two per calendar year`, `once every 6 months`, `1x/12 months`, `1 per
 * lifetime`, `no limit`. Null for anything else, such as a limit per tooth, one that is shared with
 * other codes, or "2 per year", which says not which year is meant.
 *
 * @param is_calendar_year_plan whether a benefit year is the calendar's; else "per benefit year" is
 * not understood
 */
export function readFrequency(text: string, is_calendar_year_plan: boolean): FrequencyRule | null {
  if (text.length > LIMIT_CHARS_MAX) return null;
  const said = text
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replace(/[.;]+$/, '')
    .trim()
    .replaceAll(DOUBLED, (both: string, word: string, digits: string) =>
      numberOf(word) === Number(digits) ? word : both,
    );
  if (UNLIMITED.test(said)) return { kind: 'unlimited' };
  const [, how_often, link, period = ''] = LIMIT.exec(said) ?? [];
  // "every 6 months" is one; "per 6 months" alone is half of a sentence.
  const count = how_often === undefined ? (link === 'every' ? 1 : 0) : numberOf(how_often);
  if (count < 1) return null;
  if (/^(?:patient |member )?(?:lifetime|life time)$/.test(period))
    return { kind: 'lifetime', count };
  if (period === 'calendar year') return { kind: 'calendar_year', count };
  if (/^(?:benefit|plan|contract|policy) year$/.test(period))
    return is_calendar_year_plan ? { kind: 'calendar_year', count } : null;
  const [, length, unit = ''] = SPAN.exec(period) ?? [];
  if (length === undefined) return null;
  const months = numberOf(length) * (unit.startsWith('y') ? 12 : 1);
  // A single year may be the calendar's, the plan's, or twelve months.
  return months < 1 || (unit.startsWith('y') && months === 12)
    ? null
    : { kind: 'months', count, months };
}

function numberOf(word: string): number {
  return NUMBERS[word] ?? Number(word);
}

/**
 * When another treatment is allowed after those of `dates` (ascending, `YYYY-MM-DD`), as far as the
 * rule goes.
 */
export function nextEligible(rule: FrequencyRule, dates: readonly string[]): NextEligible {
  const open = { standing: 'open' as const, date: null, counted: [...dates] };
  if (rule.kind === 'unlimited' || dates.length < rule.count) return open;
  // The oldest of those that count against the next one.
  const oldest = dates[dates.length - rule.count] ?? '';
  const latest = dates.at(-1) ?? '';
  const counted = dates.slice(-rule.count);
  if (rule.kind === 'lifetime') return { standing: 'used_up', date: null, counted };
  if (rule.kind === 'months')
    return { standing: 'from_date', date: addMonths(oldest, rule.months), counted };
  const year = Number(latest.slice(0, 4));
  return Number(oldest.slice(0, 4)) === year
    ? { standing: 'from_date', date: `${year + 1}-01-01`, counted }
    : open;
}

/**
 * Adds to every code of the record what history and frequency say together; a code for which they
 * do not stays as it is.
 */
export function withNextEligible<
  Parts extends Pick<EligibilityRecord, 'plan' | 'procedure_codes' | 'treatment_history'>,
>(parts: Parts): Parts {
  const { plan, procedure_codes, treatment_history } = parts;
  if (procedure_codes === undefined || treatment_history?.answered !== true) return parts;
  const codes = procedure_codes.codes.map((entry) => {
    const text = entry.benefits.frequency_limitations;
    const rule = text == null ? null : readFrequency(text, plan?.is_calendar_year_plan === true);
    const treatments = treatment_history.treatments.filter(({ code }) => code === entry.code);
    // What is done to a tooth is usually limited by the tooth, and which one is meant nobody has
    // said.
    if (rule === null || (rule.kind !== 'unlimited' && treatments.some(isPlaced))) return entry;
    return {
      ...entry,
      next_eligible: nextEligible(
        rule,
        treatments.map(({ date }) => date),
      ),
    };
  });
  return { ...parts, procedure_codes: { ...procedure_codes, codes } };
}

function isPlaced({ teeth, surfaces, quadrants }: Treatment): boolean {
  return [teeth, surfaces, quadrants].some((places) => places !== null && places.length > 0);
}

/** The same day so many months later, or the last one of a shorter month. */
function addMonths(date: string, months: number): string {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  const first = new Date(Date.UTC(year, month - 1 + months, 1));
  const length = new Date(
    Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0),
  ).getUTCDate();
  first.setUTCDate(Math.min(day, length));
  return first.toISOString().slice(0, 10);
}
