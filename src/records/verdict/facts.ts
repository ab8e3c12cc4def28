/** What of an answer bears on one procedure of the visit. */
import { earlierCodes } from '../earlier.ts';
import type {
  BenefitRule,
  EarlierTerm,
  EligibilityRecord,
  ProcedureCodeBenefits,
} from '../eligibility.ts';
import { type Fact, fact } from './reasons.ts';

export type ProcedureFacts = {
  record: EligibilityRecord;
  code: string;
  /** What was said of the code; more than one when it was answered more than once. */
  entries: { path: string; entry: ProcedureCodeBenefits }[];
  /** The answers joined: where two contradict each other, `conflicts` names the field. */
  rule: BenefitRule;
  conflicts: (keyof BenefitRule)[];
  /** Where `entries` are from when this call did not ask about the code; null: from this call. */
  earlier: EarlierTerm | null;
  /** `planned`: the codes of the visit, one that is scheduled twice twice. */
  visit: { date: string; birth_date: string | null; planned: readonly string[] };
};

/** Fields in which two answers about one code may not differ. */
const DECIDING: readonly (keyof BenefitRule)[] = [
  'is_covered',
  'is_prior_auth_required',
  'plan_pays_percent',
  'patient_pays_percent',
  'copay',
  'is_deductible_waived',
  'frequency_limitations',
  'age_limit',
  'limitations',
  'is_downgraded',
];

export function procedureFacts(
  record: EligibilityRecord,
  code: string,
  visit: ProcedureFacts['visit'],
): ProcedureFacts {
  const said_now = entriesByCode(record).get(code) ?? [];
  const said_before = said_now.length > 0 ? [] : earlierCodes(record, code).slice(0, 1);
  const entries = [...said_now, ...said_before.map(({ path, entry }) => ({ path, entry }))];
  const rules = entries.map(({ entry }) => entry.benefits);
  const joined: Record<string, unknown> = {};
  for (const rule of rules)
    for (const [name, value] of Object.entries(rule)) joined[name] ??= value;
  const conflicts = DECIDING.filter((name) => {
    const said = rules.map((rule) => rule[name]).filter((value) => value != null);
    return new Set(said.map((value) => JSON.stringify(value).toLowerCase())).size > 1;
  });
  const earlier = said_before[0]?.term ?? null;
  return { record, code, entries, rule: joined as BenefitRule, conflicts, earlier, visit };
}

type Entries = ProcedureFacts['entries'];
/** An answer may name thousands of codes, and each of them is judged. */
const indexed = new WeakMap<EligibilityRecord, ReadonlyMap<string, Entries>>();

function entriesByCode(record: EligibilityRecord): ReadonlyMap<string, Entries> {
  const known = indexed.get(record);
  if (known !== undefined) return known;
  const entries = (record.procedure_codes?.codes ?? []).map((entry, index) => ({
    path: `procedure_codes.codes[${index}]`,
    entry,
  }));
  const by_code = Map.groupBy(entries, ({ entry }) => entry.code);
  indexed.set(record, by_code);
  return by_code;
}

/** What was said of the code under these names, as it is in the record. */
export function said({ code, entries }: ProcedureFacts, ...names: (keyof BenefitRule)[]): Fact[] {
  if (entries.length === 0)
    return names.map((name) => fact(`procedure_codes.codes[${code}].benefits.${name}`, null));
  return entries.flatMap(({ path, entry }) =>
    names.map((name) => fact(`${path}.benefits.${name}`, entry.benefits[name])),
  );
}
