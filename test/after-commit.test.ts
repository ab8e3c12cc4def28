/**
 * A transaction may fail after its work has run. So actions that cannot be rolled back (a log line,
 * a wake, a counter, a change of memory) belong in `tx.after` and nowhere else. This test reads the
 * syntax tree of every file and names each place that acts sooner.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseSync } from '@swc/core';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

type Node = { type: string; [field: string]: unknown };

/** `file#name` of a function, and of the functions that it calls. */
type Found = { file: string; name: string; effects: string[]; calls: string[]; in_tx: boolean };

const MUTATORS = new Set(['set', 'add', 'delete', 'push', 'clear', 'splice', 'shift', 'unshift']);
/** The memory of a process, by its names in `src/`. */
const MEMORY = /^(memory|webhook|progress|this)$/;
const isCallback = (name: string) => /^on[A-Z]/.test(name);
/** kysely's methods that look like callbacks. */
const isKysely = (name: string | null) => ['onConflict', 'onRef'].includes(name ?? '');

/** Places where the action cannot wait, and why a failed commit does no harm there. */
const AT_ONCE = new Map([
  [
    'src/stages/collect/inbox/event-answer.ts#isAnswer: webhook.compare_at =',
    'the next message of the same commit has to see it; otherwise one is compared later',
  ],
]);

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function children(node: object): Node[] {
  return Object.values(node).flatMap((value: unknown) =>
    Array.isArray(value)
      ? value.flatMap((each: unknown) => (isNode(each) ? [each] : children(each ?? {})))
      : isNode(value)
        ? [value]
        : typeof value === 'object' && value !== null
          ? children(value)
          : [],
  );
}

/** The names along `a.b.c`, from the root; null where it begins with a call. */
function pathOf(node: unknown): string[] | null {
  if (!isNode(node)) return null;
  if (node.type === 'Identifier') return [String(node.value)];
  if (node.type === 'ThisExpression') return ['this'];
  if (node.type === 'OptionalChainingExpression') return pathOf(node.base);
  if (node.type === 'ParenthesisExpression') return pathOf(node.expression);
  if (node.type !== 'MemberExpression') return null;
  const object = pathOf(node.object);
  const property = node.property as Node;
  const name = property.type === 'Computed' ? '[]' : String(property.value);
  return object === null ? null : [...object, name];
}

function lastName(callee: unknown): string | null {
  if (!isNode(callee)) return null;
  if (callee.type === 'Identifier') return String(callee.value);
  if (callee.type === 'MemberExpression') return String((callee.property as Node).value);
  return null;
}

function isFunction(node: Node): boolean {
  return ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(
    node.type,
  );
}

/** `Tx`, and the types that contain one. */
function transactionTypes(files: ReadonlyMap<string, string>): ReadonlySet<string> {
  const contexts = [...files.values()].flatMap((text) =>
    [...text.matchAll(/type (\w+) = \{ tx: Tx;/g)].map(([, name]) => name ?? ''),
  );
  return new Set(['Tx', ...contexts]);
}

/** Whether a parameter is declared as a transaction. */
function takesTx(node: Node, types: ReadonlySet<string>): boolean {
  return children(node.params as object).some((param) => {
    const type = (param.typeAnnotation ?? (param.pat as Node | undefined)?.typeAnnotation) as
      | { typeAnnotation?: { typeName?: { value?: string } } }
      | undefined;
    return types.has(type?.typeAnnotation?.typeName?.value ?? '');
  });
}

/** Values that the function itself has created; changing them affects no one else. */
function ownedBy(body: Node): Set<string> {
  const owned = new Set<string>();
  const walk = (node: Node) => {
    if (node.type === 'VariableDeclarator') {
      const { id, init } = node as unknown as { id: Node; init: Node | null };
      const is_alias = init !== null && pathOf(init) !== null && (pathOf(init) ?? []).length > 0;
      if (id.type === 'Identifier' && !is_alias) owned.add(String(id.value));
    }
    children(node).forEach(walk);
  };
  walk(body);
  return owned;
}

function declaredIn(body: Node): Set<string> {
  const names = new Set<string>();
  const walk = (node: Node) => {
    if (node.type === 'VariableDeclarator') {
      const collect = (pattern: Node) => {
        if (pattern.type === 'Identifier') names.add(String(pattern.value));
        children(pattern).forEach(collect);
      };
      collect(node.id as Node);
    }
    children(node).forEach(walk);
  };
  walk(body);
  return names;
}

type Scope = { in_tx: boolean; owned: Set<string>; declared: Set<string> };

/** The actions of `node` itself, without those that it hands to `after`. */
function examine(node: Node, scope: Scope, found: Pick<Found, 'effects' | 'calls'>): void {
  if (node.type === 'CallExpression') {
    const name = lastName(node.callee);
    const path = pathOf(node.callee);
    if (name === 'after' && path !== null) return;
    const is_callback =
      path !== null && path.length > 1 && isCallback(name ?? '') && !isKysely(name);
    if (name === 'log' || name === 'wake' || is_callback) found.effects.push(`${name}()`);
    if (path !== null && path.length > 1 && MUTATORS.has(name ?? '')) {
      const is_memory = path.slice(0, -1).some((each) => MEMORY.test(each));
      const is_given = scope.in_tx && path.includes('deps');
      if (is_memory || is_given) found.effects.push(`${path.join('.')}()`);
    }
    if ((node.callee as Node).type === 'Identifier') found.calls.push(name ?? '');
  }
  const target =
    node.type === 'AssignmentExpression'
      ? node.left
      : node.type === 'UpdateExpression'
        ? node.argument
        : null;
  const path = pathOf(target);
  if (path !== null) {
    const [root = ''] = path;
    const is_foreign = path.length === 1 ? !scope.declared.has(root) : path.includes('deps');
    const is_memory = path.slice(0, -1).some((each) => MEMORY.test(each));
    if (is_memory || (scope.in_tx && is_foreign)) found.effects.push(`${path.join('.')} =`);
  }
  for (const child of children(node)) examine(child, scope, found);
}

/** The functions of one file that take a transaction, or that such a function may call. */
function functionsOf(file: string, text: string, types: ReadonlySet<string>): Found[] {
  const tree = parseSync(text, { syntax: 'typescript', target: 'es2024' });
  const imported = new Map<string, string>();
  const functions: Found[] = [];
  const add = (node: Node, name: string, in_tx: boolean) => {
    const body = node.body as Node | null;
    if (body === null) return;
    const scope = { in_tx, owned: ownedBy(body), declared: declaredIn(body) };
    const found: Found = { file, name: `${file}#${name}`, effects: [], calls: [], in_tx };
    examine(body, scope, found);
    functions.push(found);
  };
  const walk = (node: Node, name: string) => {
    if (node.type === 'ImportDeclaration') {
      const source = String((node.source as Node).value);
      if (source.startsWith('.'))
        for (const each of node.specifiers as Node[]) {
          const original = (each.imported ?? each.local) as Node;
          const from = join(dirname(file), source);
          imported.set(String((each.local as Node).value), `${from}#${String(original.value)}`);
        }
      return;
    }
    if (node.type === 'FunctionDeclaration') {
      const own = String((node.identifier as Node).value);
      add(node, own, takesTx(node, types));
      children(node.body ?? {}).forEach((child) => {
        walk(child, own);
      });
      return;
    }
    if (isFunction(node) && takesTx(node, types)) add(node, name, true);
    if (node.type === 'CallExpression' && lastName(node.callee) === 'write') {
      const [first] = node.arguments as { expression: Node }[];
      if (first !== undefined && isFunction(first.expression) && !takesTx(first.expression, types))
        if ((first.expression.params as unknown[]).length > 0) add(first.expression, name, true);
    }
    children(node).forEach((child) => {
      walk(child, name);
    });
  };
  children(tree).forEach((child) => {
    walk(child, 'module');
  });
  const local = new Set(functions.map((each) => each.name));
  for (const each of functions) {
    // A name that none of our functions has comes from a dependency.
    const given = each.calls.filter(
      (call) => isCallback(call) && !local.has(`${file}#${call}`) && !imported.has(call),
    );
    each.effects.push(...given.map((call) => `${call}()`));
    each.calls = each.calls.flatMap((call) =>
      local.has(`${file}#${call}`) ? [`${file}#${call}`] : (imported.get(call) ?? []),
    );
  }
  return functions;
}

/** Each place inside a transaction that acts at once although the action cannot be rolled back. */
function tooSoon(files: ReadonlyMap<string, string>): string[] {
  const types = transactionTypes(files);
  const functions = [...files].flatMap(([file, text]) => functionsOf(file, text, types));
  const effectful = new Map<string, string>();
  for (const each of functions)
    if (!each.in_tx && each.effects[0] !== undefined) effectful.set(each.name, each.effects[0]);
  for (let before = -1; before !== effectful.size; ) {
    before = effectful.size;
    for (const each of functions) {
      const cause = each.calls.find((call) => effectful.has(call));
      if (!each.in_tx && cause !== undefined && !effectful.has(each.name))
        effectful.set(each.name, effectful.get(cause) ?? '');
    }
  }
  return functions
    .filter(({ in_tx, name }) => in_tx && !AT_ONCE.has(name))
    .flatMap(({ name, effects, calls }) => [
      ...effects.map((effect) => `${name}: ${effect}`),
      ...calls.filter((call) => effectful.has(call)).map((call) => `${name} calls ${call}`),
    ])
    .filter((each) => !AT_ONCE.has(each));
}

describe('actions that cannot be rolled back', () => {
  test('actions that cannot be rolled back happen after the commit', () => {
    const files = new Map(
      globSync('src/**/*.ts', { cwd: ROOT })
        .filter((file) => !file.startsWith('src/sandbox/'))
        .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
    );
    expect(tooSoon(files)).toEqual([]);
  });

  test('an action inside a transaction is found', () => {
    const planted = (work: string, param = 'tx: Tx, deps: Deps') =>
      tooSoon(
        new Map([
          [
            'src/a.ts',
            `import { tell } from './b.ts';
            type Context = { tx: Tx; deps: Deps };
            async function step(${param}) { ${work} }
            const later = () => store.write(async (tx) => { env.log('x'); });`,
          ],
          ['src/b.ts', `export function tell(env: Env) { env.log('x'); }`],
        ]),
      );
    const always = 'src/a.ts#module: log()';
    expect(planted('const rows = []; rows.push(1);')).toEqual([always]);
    expect(planted(`tx.after(() => deps.env.log('x'));`)).toEqual([always]);
    for (const work of [
      `deps.env.log('x');`,
      'deps.onOpen();',
      'const { onOpen } = deps; onOpen();',
      'for (const each of rows) { deps.waker.wake(); }',
      'const { memory } = deps; memory.failures += 1;',
      `deps.memory.reported.set(1, 'x');`,
      'tell(deps.env);',
    ]) {
      expect(planted(work), work).toHaveLength(2);
      expect(planted(work, '{ tx, deps }: Context'), work).toHaveLength(2);
    }
    for (const work of [`context.deps.env.log('x');`, 'context.deps.count = 1;'])
      expect(planted(work, 'context: Context'), work).toHaveLength(2);
  });
});
