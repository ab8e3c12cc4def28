import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrameReader, frame } from '../../../connectors/hl7/mllp/frames.ts';
import { decode, encode, USUAL } from '../../../connectors/hl7/v2/escapes.ts';

const bodies = (reader: FrameReader, ...chunks: (string | Buffer)[]) =>
  chunks
    .flatMap((chunk) => reader.push(Buffer.from(chunk)))
    .map(({ body }) => body.toString('latin1'));

const fresh = () => new FrameReader(1000);

describe('frames', () => {
  test('frames are the same however they are cut', () => {
    const body = fc
      .uint8Array({ maxLength: 40 })
      .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0x0b && byte !== 0x1c)));
    fc.assert(
      fc.property(fc.array(body, { maxLength: 6 }), fc.array(fc.nat(300)), (sent, cuts) => {
        const stream = Buffer.concat(sent.map(frame));
        const places = [
          0,
          ...cuts.map((cut) => cut % (stream.length + 1)).toSorted((a, b) => a - b),
          stream.length,
        ];
        const chunks = places.slice(1).map((end, index) => stream.subarray(places[index], end));
        expect(bodies(fresh(), ...chunks)).toEqual(sent.map((each) => each.toString('latin1')));
      }),
    );
  });

  test.each([
    ['nothing', '\x0bA\x1c\x0bB\x1c'],
    ['a line feed', '\x0bA\x1c\n\x0bB\x1c\n'],
    ['CR LF', '\x0bA\x1c\r\n\x0bB\x1c\r\n'],
    ['junk', 'junk\x0bA\x1c\rmore junk\r\n\x0bB\x1c\rlast'],
  ])('frames may have %s between them', (_, stream) => {
    expect(bodies(fresh(), stream)).toEqual(['A', 'B']);
  });

  test('frames end at once when the final CR does not arrive', () => {
    expect(bodies(fresh(), '\x0bA\x1c')).toEqual(['A']);
  });

  test.each(['MSH|B', 'FHS|B', 'BHS|B'])(
    'a frame cut short by another one, which begins with %j, costs only itself',
    (next) => {
      expect(bodies(fresh(), '\x0bA\x1c\r\x0bgarb', `age\x0b${next}\x1c\r`)).toEqual(['A', next]);
      const stream = `\x0bMSH|cut\x0b${next}\x1c\r`;
      for (let at = 1; at < stream.length; at += 1)
        expect(bodies(fresh(), stream.slice(0, at), stream.slice(at)), `cut at ${at}`).toEqual([
          next,
        ]);
    },
  );

  test('vertical tabs of the text stay, wherever it is cut', () => {
    const stream = '\x0bMSH|first line\x0bsecond\x0b\x0bM\x0bMS\x0b\x1c\r\x0bMSH|next\x1c\r';
    const expected = ['MSH|first line\x0bsecond\x0b\x0bM\x0bMS\x0b', 'MSH|next'];
    for (let at = 0; at < stream.length; at += 1)
      expect(bodies(fresh(), stream.slice(0, at), stream.slice(at)), `cut at ${at}`).toEqual(
        expected,
      );
    expect(bodies(fresh(), ...stream)).toEqual(expected);
  });

  test('a frame that is too large is skipped, and the next one is complete', () => {
    const reader = new FrameReader(10);
    const frames = ['\x0b0123456', '789abcdef', 'x'.repeat(9000), '\x1c\r\x0bgood\x1c\r'].flatMap(
      (chunk) => reader.push(Buffer.from(chunk)),
    );
    expect(
      frames.map(({ body, is_too_large }) => [body.toString().slice(0, 16), is_too_large]),
    ).toEqual([
      ['0123456789abcdef', true],
      ['good', false],
    ]);
  });

  test('a frame that arrives byte by byte takes no more memory than its bytes', () => {
    const reader = new FrameReader(1_000_000);
    const body = Buffer.alloc(300_000, 'x');
    const found = [...frame(body)].flatMap((byte) => reader.push(Buffer.from([byte])));
    expect(found).toHaveLength(1);
    expect(found[0]?.body.equals(body)).toBe(true);
    expect(found[0]?.body.buffer.byteLength).toBeLessThan(3 * body.length);
  });

  test('a frame of exactly the limit is accepted', () => {
    expect(
      new FrameReader(4).push(Buffer.from('\x0b1234\x1c')).map(({ is_too_large }) => is_too_large),
    ).toEqual([false]);
  });

  test('bytes between frames are counted', () => {
    const reader = fresh();
    reader.push(Buffer.from('ab\r\n\x0bA\x1c\rc'));
    expect(reader.junk_bytes).toBe(3);
  });
});

describe('escapes', () => {
  test('any text comes back from its escapes, with line ends as line feeds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const raw = encode(text);
        for (const character of ['|', '^', '~', '&', '\r', '\n', '\x0b', '\x1c'])
          expect(raw).not.toContain(character);
        expect(decode(raw, USUAL)).toBe(text.replaceAll(/\r\n|\r/g, '\n'));
      }),
    );
  });

  test.each([
    ['\\F\\\\S\\\\T\\\\R\\\\E\\', '|^&~\\'],
    ['A\\X0D0A\\B', 'A\r\nB'],
    ['M\\XC3BC\\ller', 'Müller'],
    ['M\\XFC\\ller', 'Müller'],
    ['a\\.br\\b\\.sp2\\c', 'a\nb\nc'],
    ['\\H\\bold\\N\\', 'bold'],
    ['C:\\temp\\x', 'C:\\temp\\x'],
    ['100\\', '100\\'],
    ['a\\\\b', 'a\\\\b'],
    ['x\\Zlocal\\y', 'x\\Zlocal\\y'],
    ['5 \\unknown\\T\\ 6', '5 \\unknown& 6'],
  ])('the escape %j means %j', (raw, text) => {
    expect(decode(raw, USUAL)).toBe(text);
  });
});
