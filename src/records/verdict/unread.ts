/** What the payer answered in words that have no place in the record but under `unparsed`. */
import type { EligibilityRecord } from '../eligibility.ts';
import { isUnanswered } from './money.ts';
import { type Fact, fact } from './reasons.ts';

export type Words = { words: string; rests_on: Fact };

/** Words in place of a flag or a date, quoted; null: there are none, or they say "unknown". */
function wordsAt({ unparsed }: EligibilityRecord, is_path: (path: string) => boolean) {
  const index = unparsed.findIndex(({ path }) => is_path(path));
  const value = unparsed[index]?.value;
  if (value === undefined) return null;
  const words = typeof value === 'string' ? value.trim() : JSON.stringify(value);
  if (isUnanswered({ text: words })) return null;
  return { words, rests_on: fact(`unparsed[${index}].value`, value) };
}

/** Of a field of the plan. */
export function planWords(record: EligibilityRecord, name: string): Words | null {
  return wordsAt(record, (path) => path === `results.plan_information.${name}`);
}

const OF_CODE = /^results\.procedure_codes\[\d+\]\[1\]\.(\w+)$/;

/** Whether a field of some code was answered in words; the remainder does not name the code. */
export function isUnreadOfCode(record: EligibilityRecord, name: string): boolean {
  return wordsAt(record, (path) => OF_CODE.exec(path)?.[1] === name) !== null;
}
