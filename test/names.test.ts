/** Names of tests state a behavior in one short sentence. */
import { parseSync } from '@swc/core';
import { expect, test } from 'vitest';
import { ownFiles } from './support/own-files.ts';

const LONGEST = 90;

type Node = { type: string; [field: string]: unknown };

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

/** Written as one literal, or as several joined ones; null if it is computed. */
function textOf(node: unknown): string | null {
  if (!isNode(node)) return null;
  if (node.type === 'StringLiteral') return String(node.value);
  if (node.type === 'BinaryExpression') {
    const [left, right] = [textOf(node.left), textOf(node.right)];
    return left === null || right === null ? null : left + right;
  }
  if (node.type !== 'TemplateLiteral') return null;
  return (node.quasis as { raw: string }[]).map(({ raw }) => raw).join('…');
}

/** `test(…)`, `test.each(…)(…)`, and the same of `it` and `describe`. */
function isTest(callee: unknown): boolean {
  if (!isNode(callee)) return false;
  if (callee.type === 'Identifier') return /^(?:test|it|describe)$/.test(String(callee.value));
  if (callee.type === 'MemberExpression') return isTest(callee.object);
  return callee.type === 'CallExpression' && isTest(callee.callee);
}

function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.values(value).flatMap(namesIn);
  if (!isNode(value) || value.type !== 'CallExpression' || !isTest(value.callee)) return below;
  const name = textOf((value.arguments as { expression: unknown }[])[0]?.expression);
  return name === null ? below : [name, ...below];
}

const parsed = (code: string) => parseSync(code, { syntax: 'typescript', target: 'esnext' });
const tooLong = (code: string) => namesIn(parsed(code)).filter((name) => name.length > LONGEST);

test('no test name is longer than 90 characters', () => {
  const found = ownFiles()
    .filter(({ path }) => /^(?:test|connectors)\/.*\.ts$/.test(path))
    .flatMap(({ path, text }) => tooLong(text).map((name) => `${path}: ${name}`));
  expect(found).toEqual([]);
});

test('a long name is found whichever way it is written', () => {
  const long = 'a'.repeat(LONGEST);
  expect(tooLong(`test('${long}b', () => {})`)).toHaveLength(1);
  expect(tooLong(`describe.each([1])('${long}' + 'b', () => {})`)).toHaveLength(1);
  expect(
    tooLong(`describe('x', () => { it.concurrent(\`${long}\${x}b\`, () => {}) })`),
  ).toHaveLength(1);
  expect(tooLong(`test('${long}', () => {})`)).toEqual([]);
});
