/** JSON Schemas for others: what eligd writes strictly, a reader reads openly. */

/**
 * Gives the schema its `$id` (`urn:eligd:eligd.delivery/1`) and lets every object have fields that
 * it does not name: a later version adds some.
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
