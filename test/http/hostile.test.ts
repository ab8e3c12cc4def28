/**
 * Slow and hostile clients: each loses only its own connection, and genuine events arrive. No test
 * asserts a speed.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { message, PATH, type Receiver, signatureOf, startReceiver } from './receiver.ts';

const AUTOCANNON = join(import.meta.dirname, '../../node_modules/autocannon/autocannon.js');

/** The head of a request with a signature in the right form; the test adds the rest. */
const head = (more: string) =>
  `POST ${PATH} HTTP/1.1\r\nHost: a\r\nX-Service-Signature: ${'a'.repeat(64)}\r\n${more}\r\n\r\n`;

/** Thirty events with different content, all of which must be acknowledged and stored. */
async function genuinePass(receiver: Receiver, name: string): Promise<void> {
  const bodies = Array.from({ length: 30 }, (_, index) =>
    message(`${name}-${index}`, [], 'x'.repeat(index * 200)),
  );
  const answers = await Promise.all(bodies.map((body) => receiver.deliver(body)));
  expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 200));
  const stored = new Map(
    (await receiver.rows()).map(({ message_hash, body }) => [
      message_hash,
      Buffer.from(body ?? '').toString(),
    ]),
  );
  for (const [index, body] of bodies.entries()) expect(stored.get(`${name}-${index}`)).toBe(body);
}

/**
 * With such short timeouts, a busy machine sometimes ends a genuine connection; the service sends
 * the event again.
 */
const stillTakes = (receiver: Receiver) =>
  expect
    .poll(async () => (await receiver.deliver(message('after')).catch(() => null))?.status, {
      timeout: 10_000,
    })
    .toBe(200);

/** Opens connections, and lets `begin` write the beginning of a request on each. */
function crowd(
  receiver: Receiver,
  count: number,
  begin: (write: (text: string) => void, index: number) => void,
) {
  return Array.from({ length: count }, (_, index) => {
    const { socket, answer } = receiver.raw();
    let is_closed = false;
    socket.on('close', () => {
      is_closed = true;
    });
    begin((text) => void (socket.destroyed || socket.write(text)), index);
    return { socket, answer, isClosed: () => is_closed };
  });
}

const connected = (sockets: readonly { socket: { connecting: boolean } }[]) =>
  expect
    .poll(() => sockets.filter(({ socket }) => socket.connecting).length, { timeout: 60_000 })
    .toBe(0);

describe('genuine events', () => {
  test('events arrive while 500 connections idle and 50 send byte by byte', async () => {
    const receiver = await startReceiver();
    const idle = crowd(receiver, 500, () => {});
    const slow = crowd(receiver, 50, (write, index) => {
      // A third of them are slow with the head, a third with a body of known length, and a third
      // with chunks.
      if (index % 3 === 0) write('POST /webhooks/inquiries HTTP/1.1\r\nHost: a\r\nX-Slow: ');
      else write(head(index % 3 === 1 ? 'Content-Length: 100000' : 'Transfer-Encoding: chunked'));
    });
    await connected([...idle, ...slow]);
    const drip = setInterval(() => {
      for (const [index, { socket }] of slow.entries())
        if (!socket.destroyed) socket.write(index % 3 === 2 ? '1\r\nx\r\n' : 'x');
    }, 20);
    try {
      for (const name of ['one', 'two', 'three']) await genuinePass(receiver, name);
      expect([...idle, ...slow].filter(({ isClosed }) => isClosed())).toHaveLength(0);
    } finally {
      clearInterval(drip);
    }
  });

  test('events arrive under a load of forged ones on keep-alive connections', async () => {
    const receiver = await startReceiver();
    const forged = [
      '-c',
      '50',
      '-p',
      '4',
      '-d',
      '3',
      '-m',
      'POST',
      '-b',
      message('forged'),
      '-H',
      `X-Service-Signature=${'a'.repeat(64)}`,
    ];
    const load = promisify(execFile)(process.execPath, [
      AUTOCANNON,
      '--json',
      ...forged,
      receiver.url + PATH,
    ]);
    for (const name of ['one', 'two', 'three']) await genuinePass(receiver, name);
    const { stdout } = await load;
    const result = JSON.parse(stdout) as { '2xx': number; '4xx': number };
    expect(result['2xx']).toBe(0);
    expect(result['4xx']).toBeGreaterThan(100);
    expect((await receiver.rows()).some(({ message_hash }) => message_hash === 'forged')).toBe(
      false,
    );
  }, 60_000);

  test('events arrive while one genuine event is repeated, which is stored once', async () => {
    const receiver = await startReceiver();
    const body = message('again');
    const same = [
      '-c',
      '50',
      '-d',
      '2',
      '-m',
      'POST',
      '-b',
      body,
      '-H',
      `X-Service-Signature=${signatureOf(body)}`,
    ];
    const load = promisify(execFile)(process.execPath, [
      AUTOCANNON,
      '--json',
      ...same,
      receiver.url + PATH,
    ]);
    await genuinePass(receiver, 'one');
    const result = JSON.parse((await load).stdout) as { '2xx': number; non2xx: number };
    expect(result.non2xx).toBe(0);
    expect(
      (await receiver.rows()).filter(({ message_hash }) => message_hash === 'again'),
    ).toHaveLength(1);
    expect(receiver.counts.duplicate).toBeGreaterThanOrEqual(result['2xx'] - 1);
  }, 60_000);

  test('when connections run out, the one that has been idle longest is closed', async () => {
    const receiver = await startReceiver({ limits: { connections_max: 20 } });
    const idle = crowd(receiver, 100, () => {});
    await connected(idle);
    await genuinePass(receiver, 'one');
    await expect
      .poll(() => idle.filter(({ isClosed }) => !isClosed()).length, { timeout: 60_000 })
      .toBeLessThanOrEqual(20);
  });

  test('when all others never finish sending, the one that sends longest is closed', async () => {
    const receiver = await startReceiver({ limits: { connections_max: 20 } });
    const slow = crowd(receiver, 20, (write) => write(`${head('Content-Length: 100000')}x`));
    await connected(slow);
    await genuinePass(receiver, 'one');
    expect(slow.filter(({ isClosed }) => isClosed()).length).toBeGreaterThan(0);
  });

  test('when unfinished bodies would fill the memory, the longest is dropped', async () => {
    const receiver = await startReceiver({
      body_bytes_max: 50_000,
      limits: { refusal_patience_ms: 100 },
    });
    const greedy = crowd(receiver, 30, (write) =>
      write(head('Content-Length: 50000') + 'x'.repeat(49_000)),
    );
    await expect
      .poll(() => receiver.counts.no_commit, { timeout: 60_000 })
      .toBeGreaterThanOrEqual(20);
    await genuinePass(receiver, 'one');
    await expect
      .poll(() => greedy.filter(({ isClosed }) => !isClosed()).length, { timeout: 60_000 })
      .toBeLessThanOrEqual(6);
  });
});

describe('a hostile connection', () => {
  const quick = { head_timeout_ms: 150, request_timeout_ms: 300, idle_timeout_ms: 100 };

  test.each([
    ['that says nothing', ''],
    ['that never finishes its head', 'POST /webhooks/inquiries HTTP/1.1\r\nHost: a\r\nX-Slow: '],
    ['that never finishes its body', `${head('Content-Length: 1000')}x`],
    ['that never finishes its chunks', `${head('Transfer-Encoding: chunked')}1\r\nx\r\n`],
  ])('the connection is closed: %s', async (_, beginning) => {
    const receiver = await startReceiver({ limits: quick });
    const [one] = crowd(receiver, 1, (write) => write(beginning));
    expect(await one?.answer).toMatch(/^(HTTP\/1\.1 408 |$)/);
    await stillTakes(receiver);
  });

  test.each([
    ['junk', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a head without end', `GET / HTTP/1.1\r\n${'X-A: b\r\n'.repeat(5_000)}`],
    ['two lengths', head('Content-Length: 5\r\nTransfer-Encoding: chunked')],
    ['a length that is not a number', head('Content-Length: many')],
  ])('with %s, the connection is closed after at most a refusal', async (_, text) => {
    const receiver = await startReceiver({ limits: quick });
    const [one] = crowd(receiver, 1, (write) => write(text));
    expect(await one?.answer).toMatch(/^(HTTP\/1\.1 4\d\d |$)/);
    expect(await receiver.rows()).toEqual([]);
    await stillTakes(receiver);
  });

  test('the connection is closed after the first refusal, whatever follows', async () => {
    const receiver = await startReceiver();
    const body = message('piped');
    const genuine =
      `POST ${PATH} HTTP/1.1\r\nHost: a\r\nX-Service-Signature: ` +
      `${signatureOf(body)}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const [one] = crowd(receiver, 1, (write) =>
      write(`GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(200) + genuine),
    );
    const answers = (await one?.answer)?.match(/HTTP\/1\.1 \d+/g) ?? [];
    expect(answers).toEqual(['HTTP/1.1 404']);
  });
});
