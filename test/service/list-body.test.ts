/** A list of any size and form, read piece by piece in bounded memory. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ListedInquiry } from '../../src/service/api.ts';
import { ListBodyReader, newListRoom } from '../../src/service/list-body.ts';
import type { ReplyBody } from '../../src/service/transport.ts';
import { aReadForm, aRequest } from './harness.ts';

const KEEP = () => true;

/** Reads `text` in pieces of the given lengths, repeatedly. */
function read(text: string | Buffer, cuts: readonly number[] = [7], keep?: () => boolean) {
  const bytes = Buffer.from(text);
  const reader = new ListBodyReader(newListRoom(keep));
  let at = 0;
  for (let index = 0; at < bytes.length; index += 1) {
    const length = cuts[index % cuts.length] ?? 1;
    const body = reader.push(bytes.subarray(at, at + length));
    if (body !== null) return body;
    at += length;
  }
  return reader.end();
}

function listed(body: ReplyBody): (ListedInquiry | null)[] {
  if (body.form !== 'list' || body.list === null) throw new Error(`It is ${body.form}.`);
  return body.list.elements.map(({ inquiry }) => inquiry);
}

const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
const elements = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.jsonValue() },
    {
      weight: 6,
      arbitrary: fc.record(
        {
          id: fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }),
          status: fc.constantFrom('SUCCESS', 'a "quoted" \\ one'),
          results: fc.jsonValue({ maxDepth: 4 }),
          request: fc.constant(aRequest({ external_id: 'é"\\]}' })),
          'a:b,{"': fc.jsonValue(),
        },
        { requiredKeys: ['status'] },
      ),
    },
  ),
);

test('a list in any pieces reads the same as the whole list', () => {
  fc.assert(
    fc.property(elements, cuts, fc.constantFrom(0, 1, 4), (made, lengths, indent) => {
      const text = JSON.stringify(made, null, indent);
      const all = JSON.parse(text) as unknown[];
      for (const body of [text, `{"total": 7, "x": ["]"], "items": ${text}, "count": [1]}`]) {
        const found = listed(read(body, lengths, KEEP));
        expect(found).toHaveLength(all.length);
        found.forEach((inquiry, index) => {
          if (inquiry !== null) expect(inquiry.full?.raw).toEqual(all[index]);
        });
        const ids = listed(read(body, [1000])).map((one) => one?.id);
        expect(ids).toEqual(found.map((one) => one?.id));
      }
    }),
    { numRuns: 300 },
  );
});

test('invalid JSON is not a list, wherever it breaks', () => {
  const text = JSON.stringify([aReadForm('i1', { results: { a: [1, 'x"]', {}] } }), 3, null, 'x']);
  expect(listed(read(text, [3], KEEP))).toHaveLength(4);
  const isList = (broken: string) => {
    const body = read(broken, [5], KEEP);
    return body.form === 'list' && body.list !== null;
  };
  const parses = (broken: string) => {
    try {
      return Array.isArray(JSON.parse(broken));
    } catch {
      return false;
    }
  };
  for (let at = 0; at < text.length; at += 1) {
    const ways = [text.slice(0, at), text.slice(0, at) + text.slice(at + 1)];
    for (const other of ['"', ',', ']', '}', '{', ':', '\\'])
      ways.push(text.slice(0, at) + other + text.slice(at + 1));
    for (const broken of ways) expect([broken, isList(broken)]).toEqual([broken, parses(broken)]);
  }
  for (const form of ['', ' \n', '<html>', 'x', '[1]]', '[1] 2', '[,1]', '[1,]', '{"a"}'])
    expect([form, isList(form)]).toEqual([form, false]);
  expect(read('').form).toBe('empty');
  expect(read('  <html>').form).toBe('html');
  expect(listed(read('\ufeff[]'))).toEqual([]);
  expect(read('{"hello": {"items": []}}')).toEqual({ form: 'list', list: null });
});

test('results are skipped, however long or deep, and their inquiry is kept', () => {
  const [first, last] = [aReadForm('i1'), aReadForm('i2')].map((form) => JSON.stringify(form));
  const hostile = [
    `"${'.'.repeat(20_000_000)}"`,
    `${'{"a":['.repeat(100_000)}${']}'.repeat(100_000)}`,
    `"${'\\"'.repeat(1_000_000)}"`,
  ];
  for (const results of hostile) {
    const poison = JSON.stringify(aReadForm('poison', { results: 'here' })).replace(
      '"here"',
      results,
    );
    for (const keep of [undefined, KEEP]) {
      const found = listed(read(`[${first},${poison},${last}]`, [65_536], keep));
      expect(found.map((one) => one?.id)).toEqual(['i1', 'poison', 'i2']);
      const whole = found.map((one) => one?.full?.id);
      const is_kept = keep !== undefined;
      expect([whole[0], whole[2]]).toEqual(is_kept ? ['i1', 'i2'] : [undefined, undefined]);
      if (results !== hostile[2]) expect(whole[1]).toBeUndefined();
    }
  }
});

test('a field that is longer than any of ours makes its inquiry unreadable', () => {
  const long = aReadForm('long', {}, aRequest({ member_id: 'W'.repeat(1001) }));
  const deep = { ...aReadForm('deep'), request: 'here' };
  const text = JSON.stringify([long, deep, aReadForm('i1')]).replace(
    '"here"',
    `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`,
  );
  expect(listed(read(text)).map((one) => one?.id)).toEqual([undefined, undefined, 'i1']);
});

test('brackets without end are not a list', () => {
  expect(read('['.repeat(5_000_000), [65_536]).form).toBe('other');
});

test('a list of more inquiries than eligd compares is too large, not a shorter one', () => {
  const list = (count: number) =>
    Buffer.from(JSON.stringify(Array.from({ length: count }, (_, index) => ({ id: `${index}` }))));
  const readerOf = () => new ListBodyReader({ ...newListRoom(undefined), elements_left: 3 });
  const fits = readerOf();
  expect(fits.push(list(3))).toBeNull();
  expect(fits.end().form).toBe('list');
  expect(readerOf().push(list(4))).toEqual({ form: 'broken', cause: 'too_large' });
});
