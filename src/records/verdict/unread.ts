/** Finds answers in words that are only under `unparsed`. */
import type { EligibilityRecord } from '../eligibility.ts';
import { isUnanswered } from '../none-words.ts';
import { isSilent } from '../values.ts';
import { type ProcedureFacts, pathOfCode } from './facts.ts';
import { type Fact, fact } from './reasons.ts';

export type Words = { words: string; rests_on: Fact };

/** Returns the words in place of a flag or a date, quoted; null: none, or they say "unknown". */
function wordsAt({ unparsed }: EligibilityRecord, is_path: (path: string) => boolean) {
  const index = unparsed.findIndex(({ path }) => is_path(path));
  const value = unparsed[index]?.value;
  if (value === undefined) return null;
  const words = typeof value === 'string' ? value.trim() : JSON.stringify(value);
  if (isUnanswered(words)) return null;
  return { words, rests_on: fact(`unparsed[${index}].value`, value) };
}

/** Returns such words for a field of the plan. */
export function planWords(record: EligibilityRecord, name: string): Words | null {
  return wordsAt(record, (path) => path === `results.plan_information.${name}`);
}

const OF_CODE = /^results\.procedure_codes\[(\d+)\]\[1\]\.(\w+)$/;
const OF_PAIR = /^results\.procedure_codes\[(\d+)\]$/;

/**
 * What was said in words in a field of the code; null: nothing was. The remainder names the place
 * of the answer among all answers, and the record leaves out those that name no code.
 */
export function codeWords({ record, entries }: ProcedureFacts, name: string): Words | null {
  const lost = record.unparsed.flatMap(({ path, value }) => {
    const place = OF_PAIR.exec(path)?.[1];
    return place === undefined || namesCode(value) ? [] : [Number(place)];
  });
  return wordsAt(record, (path) => {
    const [, place, field] = OF_CODE.exec(path) ?? [];
    if (field !== name || place === undefined) return false;
    const index = Number(place) - lost.filter((each) => each < Number(place)).length;
    return entries.some((entry) => entry.path === pathOfCode(index));
  });
}

/** A pair that is flagged for something else, such as a third element, is in the record. */
function namesCode(pair: unknown): boolean {
  const [info]: unknown[] = Array.isArray(pair) ? pair : [];
  if (typeof info !== 'object' || info === null || !('procedure_code' in info)) return false;
  const { procedure_code } = info;
  return typeof procedure_code === 'number' || !isSilent(procedure_code);
}
