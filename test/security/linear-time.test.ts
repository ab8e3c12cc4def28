/**
 * Regular expressions read text from outside (payers, practice management systems, the network).
 * Each must take time in proportion to the length of the text, not to its square: 600,000 dots once
 * stopped the whole daemon for longer than the watchdog waits.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseSync } from '@swc/core';
import { describe, expect, test } from 'vitest';
import { patientGroups } from '../../connectors/hl7/in/patient-groups.ts';
import { messageReader } from '../../connectors/hl7/in/reading.ts';
import { type Message, parseMessage } from '../../connectors/hl7/v2/message.ts';
import { readFrequency } from '../../src/records/frequency/read.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Every file except those of the sandbox, which no outside system talks to. */
const FILES = ['src', 'connectors']
  .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT }))
  .filter((file) => !file.startsWith('src/sandbox/'));
/** Programs that eligd starts as processes. */
const NOT_LOADED = /\/(?:conformance|template|template-cursor)\//;
const LENGTH = 30_000;
/** The square of the length takes seconds; a machine under load may also be slow. */
const SLOW_MS = 400;

/** Expressions that run only on text of limited length, and what limits it. */
const ON_SHORT_TEXT = new Map<string, string>([
  ['\\/+$', 'an address of the configuration'],
  [String.raw`\s*\n\s*`, 'help texts of eligd'],
  ['^["\'\\u201c\\u201d]+|["\'\\u201c\\u201d]+$', 'an answer that the operator types'],
  [String.raw`\B(?=(\d{3})+$)`, 'whole dollars that eligd has calculated'],
  [String.raw`(?<=[.;!?])\s+|\s*[\n|]\s*`, 'withoutRemarks: 1,000 characters'],
  ['[.;!?]+$', 'withoutRemarks: 1,000 characters'],
]);

type Found = { file: string; source: string; flags: string };

/** Every literal, anywhere in the tree of a file. */
function expressionsOf(file: string): Found[] {
  const tree: unknown = parseSync(readFileSync(join(ROOT, file), 'utf8'), {
    syntax: 'typescript',
    target: 'es2024',
  });
  const found: Found[] = [];
  const walk = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    const { type, pattern, flags } = node as { type?: string; pattern?: string; flags?: string };
    if (type === 'RegExpLiteral' && pattern !== undefined)
      found.push({ file, source: pattern, flags: flags ?? '' });
    for (const inner of Object.values(node)) walk(inner);
  };
  walk(tree);
  return found;
}

/** Every expression that a module builds from strings when it is loaded. */
function constructed(): Found[] {
  const script = join(ROOT, 'test/security/constructed-expressions.ts');
  const paths = FILES.filter((file) => !NOT_LOADED.test(file))
    .map((file) => join(ROOT, file))
    .filter((file) => readFileSync(file, 'utf8').includes('new RegExp('));
  const printed = execFileSync(process.execPath, [script, ...paths], {
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  return JSON.parse(printed) as Found[];
}

const of_strings = constructed();
const expressions = [...FILES.flatMap(expressionsOf), ...of_strings].filter(
  ({ source, flags }, index, all) =>
    all.findIndex((each) => each.source === source && each.flags === flags) === index,
);

/** Texts that make an expression try again at every position: repetitions of what it looks for. */
function hostileTexts(source: string): string[] {
  const told = source.replaceAll(/\\[a-zA-Z]/g, '').replaceAll(/[^\p{L}\p{N} .,;:/<>"'=_-]/gu, '');
  const runs = new Set([...told, ...' .,;:/-<>"=a0A\n\t\\', 'a ', '1 ', ', ', '; ', '-a', ' \n']);
  const words = source.match(/[a-z]{2,}/g) ?? [];
  for (const word of words.slice(0, 5)) runs.add(word).add(`${word} `);
  return [...runs].flatMap((run) => {
    const text = run.repeat(Math.ceil(LENGTH / run.length));
    return [`${text}\u0001`, `x${text}\u0001x`];
  });
}

/** The least of three measurements, because a machine under load is slow only sometimes. */
function duration_ms(expression: RegExp, text: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3 && least > SLOW_MS; run += 1) {
    const began = performance.now();
    text.replace(expression, '');
    least = Math.min(least, performance.now() - began);
  }
  return least;
}

describe('regular expressions on text from outside', () => {
  test('regular expressions are found, including those built from strings', () => {
    expect(expressions.length).toBeGreaterThan(100);
    expect(of_strings.map(({ file }) => file)).toContain('connectors/csv/values.ts');
  });

  test('regular expressions run in linear time', { timeout: 300_000 }, () => {
    const slow = expressions.flatMap(({ file, source, flags }) => {
      if (ON_SHORT_TEXT.has(source)) return [];
      const expression = new RegExp(source, flags);
      const worst = hostileTexts(source).find((text) => duration_ms(expression, text) > SLOW_MS);
      return worst === undefined
        ? []
        : [`${file}: /${source}/ on ${JSON.stringify(worst.slice(0, 9))}…`];
    });
    expect(slow).toEqual([]);
  });
});

test('600,000 dots in a payer’s frequency are read at once', () => {
  const began = performance.now();
  for (const text of ['.', '; ', 'one (', 'a ']) {
    expect(readFrequency(`1 per year${text.repeat(600_000)}x`)).toBeNull();
  }
  expect(performance.now() - began).toBeLessThan(1_000);
});

describe('HL7 messages of many segments', () => {
  const message = (...lines: string[]) =>
    parseMessage(['MSH|^~\\&|A|B|C|D|20260101||SIU^S12|1|P|2.5', ...lines].join('\r')) as Message;
  const times = (count: number, line: (number: number) => string) =>
    Array.from({ length: count }, (_, number) => line(number));

  test('HL7 segments are grouped by patient in one pass', { timeout: 300_000 }, () => {
    const many = message(...times(40_000, () => 'PID|1'));
    const began = performance.now();
    expect(patientGroups(many)).toHaveLength(40_000);
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  test('HL7 messages of many segments are read at once, or not at all', {
    timeout: 300_000,
  }, () => {
    const read = messageReader({
      fields: {},
      statuses: {},
      without_insurance: 'unknown',
      time_zone: 'America/Chicago',
    });
    const visit = 'SCH|V1||||||||||^^^20310107100000';
    const began = performance.now();
    const kinds = [
      message(visit, ...times(40_000, () => 'PID|1')),
      message(visit, ...times(100_000, () => 'AIS|1')),
      message(visit, ...times(100, (n) => `PID|1||P^^^^MR||Doe^${'A'.repeat(n)}`)),
      message(visit, ...times(100, (n) => `PID|1||P${n}`), ...times(4_800, () => 'AIS|1||D0120')),
    ].map((each) => read(each).kind);
    expect(kinds).toEqual(['faulty', 'faulty', 'content', 'content']);
    expect(performance.now() - began).toBeLessThan(15_000);
  });
});
