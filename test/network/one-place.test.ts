/**
 * Only src/network opens connections. The rules of the imports check undici
 * (.dependency-cruiser.cjs); this test finds connections that need no import of it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
/**
 * The sandbox is the service, the files under assets run in a browser, and the HTTP server only
 * checks its own Unix socket.
 */
const ELSEWHERE = /^src\/(network\/|sandbox\/|office\/assets\/|http\/server\.ts$)/;

const WAYS_OUT = [
  /(?<![\w.#])fetch\(/,
  /\bimport\b[^;]*\b(connect|createConnection|Socket as \w+)\b[^;]*from 'node:(net|tls|http2)'/,
  /\bimport\b[^;]*\b(request|get|Agent)\b[^;]*from 'node:https?'/,
  /\bimport \* as \w+ from 'node:(net|tls|https?|http2|dgram)'/,
  /\bimport (?!type )\w+ from 'node:(net|tls|https?|http2|dgram)'/,
  /\bimport\('(node:(net|tls|https?|http2|dgram)|undici)'\)/,
  /new (WebSocket|EventSource)\(/,
];

const waysOut = (source: string) => WAYS_OUT.filter((way) => way.test(source));

function sources(): string[] {
  return ['src', 'connectors', 'migrations'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`)
      .filter((name) => !ELSEWHERE.test(name)),
  );
}

test('no other file of eligd opens a connection', () => {
  const files = sources();
  expect(files.length).toBeGreaterThan(300);
  const found = files.filter((name) => waysOut(readFileSync(join(ROOT, name), 'utf8')).length > 0);
  expect(found).toEqual([]);
});

describe('a planted connection is found', () => {
  test.each([
    'const reply = await fetch(url);',
    "import { connect } from 'node:net';",
    "import { connect as connectTls, type TLSSocket } from 'node:tls';",
    "import {\n  createServer,\n  createConnection,\n} from 'node:net';",
    "import { request } from 'node:https';",
    "import * as https from 'node:https';",
    "import http from 'node:http';",
    "const { request } = await import('undici');",
    'const socket = new WebSocket(url);',
  ])('the connection %j is found', (source) => {
    expect(waysOut(source)).not.toEqual([]);
  });
});
