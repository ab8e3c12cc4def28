import { type ZodType, z } from 'zod';
import { configSchema } from './config-schema.ts';

/** The subset of JSON Schema (draft 7) that eligd's own files use. */
export type JsonSchema = {
  $schema?: string;
  title?: string;
  description?: string;
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  default?: unknown;
  examples?: readonly unknown[];
  properties?: Record<string, JsonSchema>;
  required?: readonly string[];
  additionalProperties?: boolean | JsonSchema;
  propertyNames?: JsonSchema;
  items?: JsonSchema;
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
  [other: string]: unknown;
};

export function isJsonObject(value: boolean | JsonSchema | undefined): value is JsonSchema {
  return typeof value === 'object';
}

/**
 * Converts a zod schema to the JSON Schema of its input, in the draft that YAML editors support
 * best.
 */
export function inputSchema(schema: ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
  }) as JsonSchema;
}

/**
 * Builds the JSON Schema of the configuration, with the keys of `connectors` (by type). A connector
 * given by its path is unknown here; its keys are validated when the configuration is loaded.
 */
export function configJsonSchema(
  connectors: readonly { type: string; schema: ZodType }[],
): JsonSchema {
  const base = inputSchema(configSchema);
  const list = base.properties?.connectors;
  const item = list?.items;
  const id = item?.properties?.id;
  const type = item?.properties?.type;
  if (list === undefined || item === undefined || id === undefined || type === undefined)
    return base;
  const builtIn = connectors.map((connector): JsonSchema => {
    const { $schema: _, ...own } = inputSchema(connector.schema);
    return {
      ...own,
      title: `connector ${connector.type}`,
      type: 'object',
      properties: {
        id,
        type: { ...type, const: connector.type, examples: [connector.type] },
        ...own.properties,
      },
      required: ['id', 'type', ...(own.required ?? [])],
    };
  });
  const byPath: JsonSchema = {
    ...item,
    title: 'connector of your own',
    properties: {
      id,
      type: { ...type, pattern: '[./\\\\]', examples: ['./connectors/mine/index.ts'] },
    },
  };
  return {
    ...base,
    title: 'eligd configuration',
    properties: {
      ...base.properties,
      connectors: { ...list, items: { anyOf: [...builtIn, byPath] } },
    },
  };
}
