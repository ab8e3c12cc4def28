import type { Dice } from '../dice.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';

/**
 * Parts of the results that the payer answers. Who was called and when is known without the payer.
 */
const ANSWERED_PARTS = [
  'plan_information',
  'maximums',
  'procedure_classes',
  'procedure_codes',
  'extra_info',
  'timeline',
];

/**
 * Omits a share of the fields, as if the payer did not answer these questions: unknown is absent,
 * not false. It keeps whether the plan is active, because the payer looked the patient up, and the
 * code of each pair of benefits.
 */
export function leaveGaps(results: JsonObject, share: number, dice: Dice): JsonObject {
  if (share === 0) return results;
  return Object.fromEntries(
    Object.entries(results).map(([part, value]) => [
      part,
      ANSWERED_PARTS.includes(part) ? withoutSome(value, share, dice.of('gaps', part)) : value,
    ]),
  );
}

function withoutSome(value: Json, share: number, dice: Dice): Json {
  if (Array.isArray(value))
    return value.map((item, index) => withoutSome(item, share, dice.of(index)));
  if (!isJsonObject(value) || 'procedure_code' in value) return value;
  const kept: JsonObject = {};
  for (const [field, inner] of Object.entries(value)) {
    const is_answer = !isJsonObject(inner) && field !== 'is_active';
    if (is_answer && dice.chance(field, share)) continue;
    kept[field] = withoutSome(inner, share, dice.of(field));
  }
  return kept;
}
