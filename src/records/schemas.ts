/**
 * Publishes JSON Schemas for readers. What eligd writes strictly, a reader must read tolerantly.
 */

/**
 * Returns the schema with its `$id` (`urn:eligd:eligd.delivery/1`) and without limits on additional
 * fields, because later versions add some.
 */
export function openSchema(schema: object, name: string): Record<string, unknown> {
  return { $id: `urn:eligd:${name}`, ...(open(schema) as Record<string, unknown>) };
}

function open(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(open);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).filter(
    ([name, value]) => !(name === 'additionalProperties' && value === false),
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, open(value)]));
}
