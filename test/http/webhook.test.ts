import { describe, expect, test } from 'vitest';
import { purge } from '../../src/store/bookkeeping/purge.ts';
import { message, PATH, SECRET, signatureOf, startReceiver } from './receiver.ts';

const NEVER = { visits: null, answers: null, requests: null, recordings: null, logs: null };

describe('an event', () => {
  test('an acknowledged event is in the inbox byte for byte, and wakes its reader', async () => {
    const receiver = await startReceiver();
    // Spaces and an escaped letter that parsing and rewriting would change.
    const body = `{ "message_hash":"h-1",  "inquiries": [], "note":"\\u00e9 é" }\n`;
    expect(await receiver.deliver(body)).toMatchObject({ status: 200, body: '' });
    const [row] = await receiver.rows();
    expect(row?.message_hash).toBe('h-1');
    expect(Buffer.from(row?.body ?? '').toString()).toBe(body);
    expect(receiver.woken()).toBe(1);
    expect(receiver.counts.stored).toBe(1);
  });

  test('a repeated event is acknowledged and does nothing, even after a purge', async () => {
    const receiver = await startReceiver();
    await receiver.deliver(message('h-1'));
    await receiver.store.write((tx) =>
      tx.updateTable('inbox').set({ body: null, received_at: 1 }).execute(),
    );
    await purge(receiver.store, { ...NEVER, visits: Date.now() }, Date.now());
    expect((await receiver.deliver(message('h-1'))).status).toBe(200);
    expect(await receiver.rows()).toMatchObject([{ message_hash: 'h-1', body: null }]);
    expect(receiver.woken()).toBe(1);
    expect(receiver.counts).toMatchObject({ stored: 1, duplicate: 1 });
  });

  test('an event that arrives many times at once is stored once', async () => {
    const receiver = await startReceiver();
    const all = await Promise.all(
      Array.from({ length: 40 }, (_, index) => receiver.deliver(message(`h-${index % 4}`))),
    );
    expect(all.every(({ status }) => status === 200)).toBe(true);
    expect(await receiver.rows()).toHaveLength(4);
    expect(receiver.counts).toMatchObject({ stored: 4, duplicate: 36 });
  });

  test('an event without a hash is identified by its bytes', async () => {
    const receiver = await startReceiver();
    for (const body of [
      '{"inquiries":[]}',
      '{"inquiries":[]}',
      '{"inquiries": []}',
      '[]',
      '{"message_hash":7}',
    ])
      expect((await receiver.deliver(body)).status).toBe(200);
    expect(await receiver.rows()).toHaveLength(4);
  });

  test.each(['\\ud800', '\\udfff\\ud800', 'x'.repeat(501)])(
    'an event with the hash %s is identified by its bytes',
    async (hash) => {
      const receiver = await startReceiver();
      const bodies = [
        `{"message_hash":"${hash}","inquiries":[]}`,
        `{"message_hash":"${hash}", "inquiries":[]}`,
      ];
      for (const body of [...bodies, ...bodies])
        expect((await receiver.deliver(body)).status).toBe(200);
      expect((await receiver.rows()).map(({ message_hash }) => message_hash.slice(0, 7))).toEqual([
        'sha256:',
        'sha256:',
      ]);
      expect(receiver.counts).toMatchObject({ stored: 2, duplicate: 2 });
    },
  );

  test('the current and the previous secret are accepted, and never an empty one', async () => {
    const receiver = await startReceiver({ secrets: ['the-new-one', SECRET, ''] });
    const body = message('h-1');
    expect((await receiver.deliver(body)).status).toBe(200);
    expect(
      (await receiver.deliver(body, { 'x-service-signature': signatureOf(body, 'the-new-one') }))
        .status,
    ).toBe(200);
    expect(
      (await receiver.deliver(body, { 'x-service-signature': signatureOf(body, '') })).status,
    ).toBe(401);
  });

  test('an event is accepted with the configured header', async () => {
    const receiver = await startReceiver({ signature_header: 'X-Other-Signature' });
    const body = message('h-1');
    const headers = { 'x-service-signature': null, 'x-other-signature': signatureOf(body) };
    expect((await receiver.deliver(body, headers)).status).toBe(200);
    expect((await receiver.deliver(body)).status).toBe(401);
  });

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'text/plain',
    'application/x-www-form-urlencoded',
    null,
  ])('an event is accepted with the content type %s', async (type) => {
    const receiver = await startReceiver();
    expect((await receiver.deliver(message('h-1'), { 'content-type': type })).status).toBe(200);
  });
});

describe('refused events, which are counted and logged without their content', () => {
  const SECRET_WORD = 'Testpatient';

  test.each([
    [
      'a signature over other bytes',
      401,
      'bad_signature',
      message('h-1', [SECRET_WORD]),
      { 'x-service-signature': signatureOf('x') },
    ],
    [
      'upper-case hexadecimal',
      401,
      'bad_signature',
      message('h-1', [SECRET_WORD]),
      { 'x-service-signature': signatureOf(message('h-1', [SECRET_WORD])).toUpperCase() },
    ],
    [
      'no signature',
      401,
      'bad_signature',
      message('h-1', [SECRET_WORD]),
      { 'x-service-signature': null },
    ],
    [
      'a signature of another form',
      401,
      'bad_signature',
      message('h-1', [SECRET_WORD]),
      { 'x-service-signature': 'sha256=abc' },
    ],
    ['no JSON', 400, 'no_json', `{"${SECRET_WORD}`, {}],
    ['an empty body', 400, 'no_json', '', {}],
    ['more than the limit', 413, 'too_large', message('h-1', [], SECRET_WORD.repeat(20_000)), {}],
  ] as const)('%s: %i', async (_, status, outcome, body, headers) => {
    const receiver = await startReceiver();
    expect((await receiver.deliver(body, headers)).status).toBe(status);
    expect(await receiver.rows()).toEqual([]);
    expect(receiver.counts[outcome]).toBe(1);
    const said = receiver.logged.filter(({ event }) => event === 'webhook_refused');
    expect(said).toMatchObject([{ fields: { reason: outcome, http_status: status, refusals: 1 } }]);
    expect(JSON.stringify(receiver.logged)).not.toContain(SECRET_WORD);
  });

  test.each([
    ['of a stranger: 401', PATH, '', 401],
    ['of too great a length: 413', PATH, `X-Service-Signature: ${'a'.repeat(64)}\r\n`, 413],
    ['to another path: 404', '/elsewhere', 'Content-Type: application/json\r\n', 404],
  ])(
    'a long body %s, and a sender that writes all of it first reads that',
    async (_, path, more, status) => {
      const receiver = await startReceiver({ body_bytes_max: 1_000_000 });
      const { socket, answer } = receiver.raw();
      const length = 8_000_000;
      socket.pause();
      socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${more}Content-Length: ${length}\r\n\r\n`);
      await new Promise((resolve) => socket.write('x'.repeat(length), resolve));
      socket.resume();
      expect(await answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    },
  );

  test('a body of unknown length that never ends gets 413 once it is too long', async () => {
    const receiver = await startReceiver({
      body_bytes_max: 10_000,
      limits: { refusal_patience_ms: 1_000 },
    });
    const { socket, answer } = receiver.raw();
    socket.write(
      `POST /webhooks/inquiries HTTP/1.1\r\nHost: a\r\nX-Service-Signature: ` +
        `${'a'.repeat(64)}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
    const pump = setInterval(() => socket.write(chunk.repeat(4)), 2);
    expect(await answer).toMatch(/^HTTP\/1\.1 413 /);
    clearInterval(pump);
    expect(receiver.counts.too_large).toBe(1);
  });

  test('without a commit, the answer is 503 with Retry-After', async () => {
    const receiver = await startReceiver();
    await receiver.store.write((tx) =>
      tx.schema.alterTable('inbox').renameTo('inbox_away').execute(),
    );
    const refused = await receiver.deliver(message('h-1', [SECRET_WORD]));
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30']);
    expect(receiver.counts.no_commit).toBe(1);
    expect(JSON.stringify(receiver.logged)).not.toContain(SECRET_WORD);
    await receiver.store.write((tx) =>
      tx.schema.alterTable('inbox_away').renameTo('inbox').execute(),
    );
    expect((await receiver.deliver(message('h-1', [SECRET_WORD]))).status).toBe(200);
  });

  test('many refusals are logged once, with their number', async () => {
    const receiver = await startReceiver();
    for (let count = 0; count < 20; count += 1)
      await receiver.deliver('{}', { 'x-service-signature': null });
    expect(receiver.counts.bad_signature).toBe(20);
    expect(receiver.logged.filter(({ event }) => event === 'webhook_refused')).toHaveLength(1);
  });

  test('another path or method gets 404', async () => {
    const receiver = await startReceiver();
    expect((await receiver.deliver(message('h-1'), {}, '/elsewhere')).status).toBe(404);
    const { socket, answer } = receiver.raw();
    socket.write('GET /webhooks/inquiries HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await answer).toMatch(/^HTTP\/1\.1 404 /);
  });
});
