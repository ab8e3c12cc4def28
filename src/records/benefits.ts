/** Reads the lists of the record: benefits by class and by code, and the treatment history. */
import type { Questions } from './asked.ts';
import type {
  BenefitRule,
  EligibilityRecord,
  ProcedureCodeBenefits,
  Treatment,
} from './eligibility.ts';
import { AUTHORIZATION_WORDS, COVERED_WORDS, readFlag } from './flag-words.ts';
import { isObject, keepKnown, ObjectReader, pathTo, Remainder } from './reader.ts';
import {
  comparableCode,
  isSilent,
  neverLost,
  readAge,
  readCoinsurance,
  readCopay,
  readDate,
  readPercent,
  readText,
  readYesNo,
} from './values.ts';

const asText = (text: string) => ({ text });
const readLimit = neverLost(readText, (words) => words);

type Rule = { benefits: BenefitRule; answered: boolean };

/**
 * Reads a benefits object (docs/service.md "Benefits object"). Fields that were asked and are
 * missing become null.
 */
function readRule(
  raw: unknown,
  path: string,
  isAsked: (name: keyof BenefitRule) => boolean,
  remainder: Remainder,
): Rule {
  const fields = new ObjectReader(raw, path, remainder);
  const coverage = fields.read('coverage_percentage', neverLost(readPercent, asText));
  const coinsurance = fields.read(
    'coinsurance_percentage',
    neverLost(readCoinsurance, (text) => ({ patient: { text } })),
  );
  const benefits: BenefitRule = keepKnown(
    {
      is_covered: fields.read('is_covered', readFlag(COVERED_WORDS)),
      is_prior_auth_required: fields.read('is_prior_auth_required', readFlag(AUTHORIZATION_WORDS)),
      prior_auth_info: fields.read('prior_auth_info', readText),
      plan_pays_percent: coverage ?? coinsurance?.plan ?? coverage,
      patient_pays_percent: coinsurance === null ? null : coinsurance?.patient,
      copay: fields.read('copay_amount', neverLost(readCopay, asText)),
      is_deductible_waived: fields.read('is_deductible_waived', readYesNo),
      frequency_limitations: fields.read('frequency_limitations', readLimit),
      age_limit: fields.read('age_limit', neverLost(readAge, asText)),
      is_downgraded: fields.read('is_downgraded', readYesNo),
      downgraded_info: fields.read('downgraded_info', readLimit),
      limitations: fields.read('limitations', readLimit),
      more_info: fields.read('more_info', readText),
    },
    isAsked,
  );
  fields.finish();
  return { benefits, answered: Object.values(benefits).some((value) => value !== null) };
}

/** Reads `procedure_classes`, a map from class name to benefits object, in its order. */
export function readClasses(
  raw: unknown,
  questions: Questions,
  remainder: Remainder,
): EligibilityRecord['procedure_classes'] {
  const path = 'results.procedure_classes';
  if (!isSilent(raw) && !isObject(raw)) remainder.add(path, raw, 'not an object');
  const classes = Object.entries(isObject(raw) ? raw : {}).map(([name, benefits]) => ({
    name,
    ...readRule(benefits, pathTo(path, name), questions.asksOfClass, remainder),
  }));
  if (classes.length === 0 && !questions.asks('procedure_classes')) return undefined;
  return { answered: classes.some((entry) => entry.answered), classes };
}

/**
 * Reads `procedure_codes`, pairs of code and benefits, in their order. An entry follows for each
 * code that was asked and not answered, so that its absence is not taken for an answer.
 */
export function readCodes(
  raw: unknown,
  askedCodes: readonly string[],
  questions: Questions,
  remainder: Remainder,
): EligibilityRecord['procedure_codes'] {
  const path = 'results.procedure_codes';
  const isDental = questions.specialty === 'dental';
  const asked = new Set(
    questions.asks('procedure_codes')
      ? askedCodes.map((code) => comparableCode(code, isDental)).filter((code) => code !== '')
      : [],
  );
  if (!isSilent(raw) && !Array.isArray(raw)) remainder.add(path, raw, 'not a list');
  const pairs: unknown[] = Array.isArray(raw) ? raw : [];
  const seen = new Set<string>();
  const codes = pairs.flatMap((pair, index) => {
    const entry = readPair(pair, pathTo(path, index), asked, { questions, remainder });
    if (entry === null) return [];
    if (seen.has(entry.code))
      remainder.add(pathTo(path, index), pair, 'code answered more than once');
    seen.add(entry.code);
    return [entry];
  });
  if (codes.length === 0 && !questions.asks('procedure_codes')) return undefined;
  const missing = [...asked]
    .filter((code) => !seen.has(code))
    .map((code) => unansweredCode(code, questions));
  return { answered: codes.some((entry) => entry.answered), codes: [...codes, ...missing] };
}

function unansweredCode(code: string, questions: Questions): ProcedureCodeBenefits {
  const { benefits } = readRule(null, '', questions.asksOfCode, new Remainder());
  return { code, name: null, asked: true, answered: false, benefits };
}

/** What was asked, and the list for everything that has no field of its own. */
type Reading = { questions: Questions; remainder: Remainder };

/**
 * Reads one pair. A pair without a readable code cannot be assigned to a code, so it goes into the
 * remainder whole.
 */
function readPair(
  pair: unknown,
  path: string,
  asked: ReadonlySet<string>,
  { questions, remainder }: Reading,
): ProcedureCodeBenefits | null {
  // One that says nothing is kept as well: without it, no place in the answer names its code.
  if (!Array.isArray(pair) || !isObject(pair[0])) {
    remainder.add(path, pair, 'not a pair');
    return null;
  }
  const [info, rule, ...more]: unknown[] = pair;
  const code = isObject(info) ? codeOf(info.procedure_code, questions) : null;
  if (code === null) {
    remainder.add(path, pair, 'no procedure code');
    return null;
  }
  if (pair.length < 2) remainder.add(path, pair, 'not a pair');
  more.forEach((element, index) => {
    remainder.add(pathTo(path, index + 2), element, 'not a pair');
  });
  const fields = new ObjectReader(info, pathTo(path, 0), remainder);
  fields.take('procedure_code');
  const name = fields.read('procedure_name', readText) ?? null;
  fields.finish();
  const isAsked = asked.has(code.code);
  const benefits = readRule(
    rule,
    pathTo(path, 1),
    (field) => isAsked && questions.asksOfCode(field),
    remainder,
  );
  return { ...code, name, asked: isAsked, ...benefits };
}

type Code = { code: string; said_as?: string };

function codeOf(raw: unknown, questions: Questions): Code | null {
  const reading = readText(raw);
  if (reading.is !== 'read') return null;
  const code = comparableCode(reading.value, questions.specialty === 'dental');
  return code === reading.value ? { code } : { code, said_as: reading.value };
}

/**
 * Reads `treatment_history`, a map from date to a list of items. An empty map is an answer: nothing
 * is on file, as for every new patient. A missing map says nothing (G8).
 */
export function readTreatments(
  raw: unknown,
  questions: Questions,
  remainder: Remainder,
): EligibilityRecord['treatment_history'] {
  const path = 'results.treatment_history';
  // Some languages write an empty map as an empty list.
  const is_empty = Array.isArray(raw) && raw.length === 0;
  if (!isSilent(raw) && !isObject(raw) && !is_empty) remainder.add(path, raw, 'not an object');
  const treatments = Object.entries(isObject(raw) ? raw : {})
    .flatMap(([day, items]) => readDay(day, items, pathTo(path, day), { questions, remainder }))
    .sort((one, other) => (one.date < other.date ? -1 : one.date > other.date ? 1 : 0));
  const is_nothing_on_file = is_empty || (isObject(raw) && isEmptyHistory(raw));
  const answered = treatments.length > 0 || is_nothing_on_file;
  if (!answered && !questions.asks('treatment_history')) return undefined;
  return { answered, treatments };
}

/** Returns whether every date has an empty list, so that nothing is unreadable. */
function isEmptyHistory(raw: Record<string, unknown>): boolean {
  return Object.values(raw).every((items) => Array.isArray(items) && items.length === 0);
}

function readDay(day: string, items: unknown, path: string, reading: Reading): Treatment[] {
  const { remainder } = reading;
  const date = readDate(day);
  if (date.is !== 'read') {
    remainder.add(path, items, date.is === 'unreadable' ? date.why : 'not a date');
    return [];
  }
  if (!Array.isArray(items)) {
    if (!isSilent(items)) remainder.add(path, items, 'not a list');
    return [];
  }
  return items.flatMap((item: unknown, index) => {
    if (isSilent(item)) return [];
    if (isObject(item)) return [readTreatment(date.value, item, pathTo(path, index), reading)];
    remainder.add(pathTo(path, index), item, 'not an object');
    return [];
  });
}

function readTreatment(
  date: string,
  item: unknown,
  path: string,
  { questions, remainder }: Reading,
): Treatment {
  const fields = new ObjectReader(item, path, remainder);
  const code = codeOf(fields.read('procedure_code', readText), questions);
  const treatment = {
    date,
    ...(code ?? { code: null }),
    teeth: fields.readTexts('tooth_numbers') ?? null,
    surfaces: fields.readTexts('surfaces') ?? null,
    quadrants: fields.readTexts('quadrant_numbers') ?? null,
  };
  fields.finish();
  return treatment;
}
