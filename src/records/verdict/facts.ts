/** Collects the facts in an answer that concern one procedure of the visit. */
import { earlierCodes } from '../earlier.ts';
import type {
  BenefitRule,
  EarlierTerm,
  EligibilityRecord,
  ProcedureCodeBenefits,
} from '../eligibility.ts';
import { contextOf, meaningOf } from './meaning.ts';
import { type Fact, fact } from './reasons.ts';

export type ProcedureFacts = {
  record: EligibilityRecord;
  code: string;
  /** The answers about the code; more than one if it was answered more than once. */
  entries: { path: string; entry: ProcedureCodeBenefits }[];
  /** The combined answers; `conflicts` lists the fields in which they contradict each other. */
  rule: BenefitRule;
  conflicts: (keyof BenefitRule)[];
  /** The earlier call of `entries` if this call did not ask about the code; null: this call. */
  earlier: EarlierTerm | null;
  visit: {
    date: string;
    birth_date: string | null;
    /** The codes of the visit, one that is scheduled twice twice. */
    planned: readonly string[];
    /** Cents: the fees of the visit, as far as they are known. */
    charged: number;
  };
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
  const context = contextOf(record, code);
  const conflicts = DECIDING.filter((name) => {
    const said = rules.filter((rule) => rule[name] != null);
    return said.length > 1 && new Set(said.map((rule) => meaningOf(rule, name, context))).size > 1;
  });
  const earlier = said_before[0]?.term ?? null;
  return { record, code, entries, rule: joined as BenefitRule, conflicts, earlier, visit };
}

/** Where the answer about a code is in the record. */
export const pathOfCode = (index: number) => `procedure_codes.codes[${index}]`;

type Entries = ProcedureFacts['entries'];
/** An index by code, because an answer may have thousands of codes, and each is judged. */
const indexed = new WeakMap<EligibilityRecord, ReadonlyMap<string, Entries>>();

function entriesByCode(record: EligibilityRecord): ReadonlyMap<string, Entries> {
  const known = indexed.get(record);
  if (known !== undefined) return known;
  const entries = (record.procedure_codes?.codes ?? []).map((entry, index) => ({
    path: pathOfCode(index),
    entry,
  }));
  const by_code = Map.groupBy(entries, ({ entry }) => entry.code);
  indexed.set(record, by_code);
  return by_code;
}

/** Returns the values of these fields for the code, as they are in the record. */
export function said({ code, entries }: ProcedureFacts, ...names: (keyof BenefitRule)[]): Fact[] {
  if (entries.length === 0)
    return names.map((name) => fact(`procedure_codes.codes[${code}].benefits.${name}`, null));
  return entries.flatMap(({ path, entry }) =>
    names.map((name) => fact(`${path}.benefits.${name}`, entry.benefits[name])),
  );
}
