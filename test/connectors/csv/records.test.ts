import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellsOfLine, RowReader } from '../../../connectors/csv/records.ts';

const SHAPE = { separator: ',', width: 3, used: new Set([0, 1]) };

/** Rows as short text: `2:a|b|c`, `3!stray quotation mark`. */
function rowsOf(text: string, chunk = text.length, shape = SHAPE): string[] {
  const reader = new RowReader(shape, { lines: 0, rows: 1 });
  const rows = [];
  for (let at = 0; at < text.length; at += chunk)
    rows.push(...reader.push(text.slice(at, at + chunk)));
  rows.push(...reader.end());
  return rows.map((row) =>
    'fault' in row ? `${row.number}!${row.fault}` : `${row.number}:${row.cells.join('|')}`,
  );
}

describe('rows of a table', () => {
  it('rows are the same however the text is cut into pieces', () => {
    const text = '1,a,x\r\n2,"b, c",y\r\n3,d,"two\r\nlines"\r\n\r\n4,"say ""hi""",z';
    const whole = rowsOf(text);
    expect(whole).toEqual(['2:1|a|x', '3:2|b, c|y', '4:3|d|two\nlines', '6:4|say "hi"|z']);
    for (let chunk = 1; chunk < text.length; chunk += 1) expect(rowsOf(text, chunk)).toEqual(whole);
  });

  it.each(['\n', '\r\n', '\r'])('rows end at %j', (end) => {
    expect(rowsOf(['1,a,x', '2,b,y', ''].join(end))).toEqual(['2:1|a|x', '3:2|b|y']);
  });

  it('the last row needs no line end', () => expect(rowsOf('1,a,x')).toEqual(['2:1|a|x']));

  it('empty lines count as in a spreadsheet', () => {
    expect(rowsOf('\n1,a,x\n,,\n\n2,b,y\n')).toEqual(['3:1|a|x', '6:2|b|y']);
  });

  it('rows with too few or too many cells are reported alone', () => {
    expect(rowsOf('1,a,x\n2,b\n3,c,y,extra\n4,d,z,,\n')).toEqual([
      '2:1|a|x',
      '3!too few cells',
      '4!too many cells',
      '5:4|d|z||',
    ]);
  });
});

describe('a stray quotation mark', () => {
  it('a stray quotation mark inside a cell is part of the cell', () => {
    expect(rowsOf('1,5" crown,x\n2,Bob "Bobby" Ray,y\n3,6" bar,z\n')).toEqual([
      '2:1|5" crown|x',
      '3:2|Bob "Bobby" Ray|y',
      '4:3|6" bar|z',
    ]);
  });

  it('an unclosed quotation mark costs only its own row', () => {
    expect(rowsOf('1,"a,x\n2,b,y\n3,c,z\n')).toEqual([
      '2!stray quotation mark',
      '3:2|b|y',
      '4:3|c|z',
    ]);
  });

  it('a mark that may belong to two rows makes neither an appointment', () => {
    expect(rowsOf('1,"Smith,x\n2,Jones",y\n3,c,z\n')).toEqual([
      '2!unclear quotation mark',
      '3!unclear quotation mark',
      '4:3|c|z',
    ]);
    expect(rowsOf('1,Smith,"note\nfree\n2,Jones,note"\n3,c,z\n')).toEqual([
      '2!unclear quotation mark',
      '3!unclear quotation mark',
      '4!unclear quotation mark',
      '5:3|c|z',
    ]);
  });

  it('a stray mark does not reach a later row that is quoted correctly', () => {
    expect(rowsOf('1,"a,x\n2,"b",y\n3,c,"two\nlines"\n4,d,w\n')).toEqual([
      '2!stray quotation mark',
      '3:2|b|y',
      '4:3|c|two\nlines',
      '5:4|d|w',
    ]);
  });

  it('two stray marks in a line do not swallow the next line', () => {
    expect(rowsOf('1,"a,"x\n2,b,y\n')).toEqual(['2!stray quotation mark', '3:2|b|y']);
  });
});

describe('a quoted cell', () => {
  it.each([
    [
      'of several lines',
      '1,a,"note\n9,Injected,paid\nend"\n2,b,y\n',
      ['2:1|a|note\n9,Injected,paid\nend', '3:2|b|y'],
    ],
    [
      'of 500 lines',
      `1,a,"note\n${'9,Injected,paid\n'.repeat(500)}end"\n2,b,y\n`,
      [`2:1|a|note\n${'9,Injected,paid\n'.repeat(500)}end`, '3:2|b|y'],
    ],
    [
      'behind a mark in an unquoted cell',
      '1,a"b,"note\n9,Injected,paid\nend"\n2,b,y\n',
      ['2:1|a"b|note\n9,Injected,paid\nend', '3:2|b|y'],
    ],
    [
      'in a row of too many cells',
      '1,a,"note\n9,Injected,paid\nend",x\n2,b,y\n',
      ['2!too many cells', '3:2|b|y'],
    ],
    [
      'in a column that is read',
      '1,"note\n9,Injected,paid\nend",x\n2,b,y\n',
      ['2!line break in a cell', '3:2|b|y'],
    ],
  ])('%s makes no row of its own', (_, text, rows) => {
    expect(rowsOf(text)).toEqual(rows);
  });

  it('a quoted cell that is too long makes no row, and reading continues after it', () => {
    const long = 'x'.repeat(700_000);
    for (const note of [`${long}\n9,Injected,paid\n${long}`, `${long}${long}\n9,Injected,paid\n`]) {
      const rows = rowsOf(`1,a,"${note}"\n2,b,y\n`, 100_000);
      expect(rows.filter((row) => !row.includes('!'))).toEqual([
        expect.stringMatching(/^\d:2\|b\|y$/),
      ]);
    }
  });
});

describe('limits', () => {
  it('an endless line stays out of memory, and reading continues after it', () => {
    expect(rowsOf(`1,a,x\n2,${'b'.repeat(2_500_000)},y\n3,c,z\n`, 100_000)).toEqual([
      '2:1|a|x',
      '3!too long',
      '4:3|c|z',
    ]);
  });

  it.each([
    ['in marks', `2,b,"${'b'.repeat(2_500_000)}"`],
    ['in marks, with marks', `2,"b","${'b""'.repeat(800_000)}"`],
    ['with a mark in it', `2,b,5"${'b'.repeat(2_500_000)}`],
  ])('a line that is too long costs only that line, with text %s', (_, line) => {
    for (const end of ['\n', '\r', '\r\n'])
      for (const chunk of [100_000, 99_999, 2_600_000])
        expect(rowsOf(['1,a,x', line, '3,c,z', '4,d,"w"', ''].join(end), chunk)).toEqual([
          '2:1|a|x',
          '3!too long',
          '4:3|c|z',
          '5:4|d|w',
        ]);
  });

  it('after a long line with an open cell, every line up to its end is reported', () => {
    const long = 'b'.repeat(1_200_000);
    const text = `1,a,"${long}\n9,Injected,paid\n9,${long}\n9,${long}",x\n3,c,z\n`;
    expect(rowsOf(text, 100_000)).toEqual([
      '2!too long',
      '3!unclear quotation mark',
      '4!unclear quotation mark',
      '5!unclear quotation mark',
      '6:3|c|z',
    ]);
  });

  it('an open cell ends before a line that cannot be part of it', () => {
    const long = 'b'.repeat(1_200_000);
    const lines = ['1,a,"', `2,"b","${long}"`, '3,c,"', '9,Injected,paid', '"', '4,d,w', ''];
    const rows = rowsOf(lines.join('\n'), 100_000);
    expect(rows.filter((row) => row.includes('|')).map((row) => row.slice(0, 5))).toEqual([
      '4:3|c',
      '5:4|d',
    ]);
    expect(rows).toContain('3!too long');
    expect(rows.join()).not.toMatch(/\d:9\|/);
  });

  it('limits end the search for a closing quotation mark', () => {
    const many = Array.from({ length: 500 }, (_, i) => `${i},b,y`).join('\n');
    const rows = rowsOf(`0,a,"open\n${many}\n9,z,"end"\n`, 1000);
    expect(rows).toHaveLength(502);
    expect(rows[0]).toBe('2!stray quotation mark');
    expect(rows.at(-1)).toBe('503:9|z|end');
  });
});

describe('any well-formed table', () => {
  const cell = fc
    .string({ unit: fc.constantFrom('a', 'B', '7', ' ', ',', '"', ';', 'é') })
    .map((text) => `x${text}`);
  it('any well-formed table reads as csv-parse reads it', () => {
    const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, cell), { maxLength: 30 }),
        fc.integer({ min: 1, max: 50 }),
        (table, chunk) => {
          const text = table.map((row) => `${row.map(quoted).join(',')}\n`).join('');
          const expected = parse(text).map((row, i) => `${i + 2}:${row.join('|')}`);
          expect(rowsOf(text, chunk)).toEqual(expected);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('the cells of a line', () => {
  const plain = fc.string({ unit: fc.constantFrom('a', 'ß', '"', '=', ' ', '|'), maxLength: 6 });
  const quoted = fc
    .string({ unit: fc.constantFrom('a', '"', ',', ';', ' '), maxLength: 6 })
    .map((text) => `"${text.replaceAll('"', '""')}"`);
  const cell = fc.oneof(
    plain.filter((text) => !text.startsWith('"')),
    quoted,
  );

  it.each([',', ';', '\t'])('cells between %j are those that csv-parse reads', (separator) => {
    const line = fc.array(cell, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(line, (cells) => {
        const text = cells.join(separator);
        const options = { delimiter: separator, relax_quotes: true, record_delimiter: '\n' };
        fc.pre(text !== '');
        expect([cellsOfLine(text, separator)]).toEqual(parse(text, options));
      }),
      { numRuns: 2_000 },
    );
  });
});
