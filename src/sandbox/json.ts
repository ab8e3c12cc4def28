export type Json = null | boolean | number | string | Json[] | JsonObject;

export type JsonObject = { [key: string]: Json };

/**
 * Returns the object without its `undefined` fields: the service omits what does not apply and does
 * not send null.
 */
export function compact(fields: { [key: string]: Json | undefined }): JsonObject {
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) kept[key] = value;
  }
  return kept;
}

export function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return isObject(value);
}
