/**
 * Finds the fields that an answer leaves out because they do not apply: "Fields that do not apply
 * are omitted" (docs/service.md "Results record (benefits inquiries)"). It covers only absences
 * that the specification explains: family amounts of an individual plan, and clauses that a plan
 * does not have. A field that is present and empty was not answered.
 */
import type { EligibilityRecord } from './eligibility.ts';
import { isObject } from './reader.ts';

/** The parts of a record that a question may concern. */
export type Parts = Pick<
  EligibilityRecord,
  'plan' | 'maximums' | 'procedure_classes' | 'procedure_codes' | 'treatment_history' | 'clauses'
>;

/** Returns their paths in the record. `results`: the answer's results, any JSON. */
export function inapplicable(results: unknown, parts: Parts): string[] {
  if (!isObject(results)) return [];
  const { maximums, clauses } = parts;
  const said = (part: string, name: string) =>
    isObject(results[part]) && Object.hasOwn(results[part], name);
  const found: string[] = [];
  for (const kind of ['deductible', 'out_of_pocket_maximum'] as const) {
    const family = `family_${kind}` as const;
    const is_individual =
      said('maximums', `individual_${kind}`) &&
      !said('maximums', family) &&
      !said('maximums', `${family}_used`);
    if (is_individual && maximums?.[family] !== undefined) found.push(`maximums.${family}`);
  }
  const has_clauses = isObject(results.extra_info) && Object.keys(results.extra_info).length > 0;
  for (const [name, value] of has_clauses ? Object.entries(clauses ?? {}) : []) {
    const wire = name === 'preventive_applies_to_maximum' ? WIRE_SPELLING : name;
    if (value === null && !said('extra_info', wire)) found.push(`clauses.${name}`);
  }
  return found;
}

const WIRE_SPELLING = 'preventative_applies_to_maximum';

/** Returns the parts without these fields. */
export function withoutFields(parts: Parts, paths: readonly string[]): Parts {
  if (paths.length === 0) return parts;
  const copy = structuredClone(parts) as Record<string, Record<string, unknown> | undefined>;
  for (const path of paths) {
    const [part = '', name = ''] = path.split('.');
    delete copy[part]?.[name];
  }
  return copy as Pick<EligibilityRecord, keyof Parts>;
}
