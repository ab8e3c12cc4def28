import { describe, expect, test } from 'vitest';
import { type Column, printJson, printTable } from '../../src/cli/output.ts';

function table(
  columns: Column[],
  rows: (string | number | null)[][],
  terminal?: { columns: number },
): string[] {
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  printTable(
    terminal === undefined ? { write } : { write, isTTY: true, ...terminal },
    columns,
    rows,
  );
  return text.split('\n').slice(0, -1);
}

describe('a table', () => {
  const columns: Column[] = [
    { title: 'id', is_whole: true },
    { title: 'what' },
    { title: 'count', align: 'right' },
  ];
  const rows = [
    ['0190-a-long-id', 'a sentence that needs much room in its line', 12],
    ['x', null, 3],
  ];

  test('a table is aligned, and complete when it goes into a pipe', () => {
    expect(table(columns, rows)).toEqual([
      'id              what                                         count',
      '0190-a-long-id  a sentence that needs much room in its line     12',
      'x               -                                                3',
    ]);
  });

  test('a table is cut off in a terminal, except for IDs', () => {
    const lines = table(columns, rows, { columns: 40 });
    expect(lines[1]).toBe('0190-a-long-id  a sentence that …     12');
    expect(Math.max(...lines.map((line) => line.length))).toBe(40);
  });

  test('no cell can break a table', () => {
    expect(table([{ title: 'a' }], [['\u001b[31mred\u001b[0m\nnext\tline\u0007']])).toEqual([
      'a',
      'red next line',
    ]);
  });
});

test('JSON is one value with a line end', () => {
  let text = '';
  printJson({ write: (more) => (text += more) }, { a: 1 });
  expect(text).toBe('{\n  "a": 1\n}\n');
});
