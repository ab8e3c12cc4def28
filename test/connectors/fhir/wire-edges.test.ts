/**
 * What a network, a proxy, or a broken server can do to one request of the FHIR connector, as a
 * table: eligd repeats reads that fail temporarily, sends a write once, and never counts a write as
 * not done if it may have been done (G4). nock replaces the network.
 */
import nock from 'nock';
import { afterAll, afterEach, expect, test } from 'vitest';
import { makeSuiteEnv } from '../../../connectors/conformance/harness.ts';
import { fhirConfigSchema } from '../../../connectors/fhir/config.ts';
import { FhirClient } from '../../../connectors/fhir/server/client.ts';
import { FhirError } from '../../../connectors/fhir/server/failure.ts';

afterEach(() => void nock.cleanAll());
afterAll(() => nock.restore());

const ORIGIN = 'http://127.0.0.1:7077';
const FHIR = { 'content-type': 'application/fhir+json' };
const PATIENT = JSON.stringify({ resourceType: 'Patient', id: 'p-1' });

type Wire = (on: nock.Interceptor) => nock.Scope;
/**
 * The outcome of a read, and the number of tries; the outcome of a create. `maybe`: it may have
 * been done.
 */
type Edge = [name: string, wire: Wire, read: string, write: string];

const broken =
  (code: string): Wire =>
  (on) =>
    on.replyWithError(Object.assign(new Error('the wire'), { code }));
const reply =
  (status: number, text: string, headers: Record<string, string> = FHIR): Wire =>
  (on) =>
    on.reply(status, text, headers);

const statuses = (all: number[], read: string, write: string): Edge[] =>
  all.map((status) => [`${status}`, reply(status, ''), read, write]);

const EDGES: Edge[] = [
  ['a name that nobody knows', broken('ENOTFOUND'), 'unreachable x6', 'unreachable'],
  ['a port that nobody listens on', broken('ECONNREFUSED'), 'unreachable x6', 'unreachable'],
  ['no connection in time', broken('UND_ERR_CONNECT_TIMEOUT'), 'unreachable x6', 'unreachable'],
  ['a reset', broken('ECONNRESET'), 'broken maybe x6', 'broken maybe'],
  ['a broken pipe', broken('EPIPE'), 'broken maybe x6', 'broken maybe'],
  [
    'a connection that the other side ends',
    broken('UND_ERR_SOCKET'),
    'broken maybe x6',
    'broken maybe',
  ],
  ['an error without a code', broken(''), 'unreachable maybe x6', 'unreachable maybe'],
  ['a body that comes late', (on) => on.delay(100).reply(200, PATIENT, FHIR), 'ok x1', 'ok'],
  ['a byte order mark', reply(200, `\ufeff${PATIENT}`), 'ok x1', 'ok'],
  ['another content type', reply(200, PATIENT, { 'content-type': 'text/plain' }), 'ok x1', 'ok'],
  [
    'a length that is never reached',
    reply(200, PATIENT, { 'content-length': '5000' }),
    'broken maybe x6',
    'broken maybe',
  ],
  [
    'a length that cuts the body',
    reply(200, PATIENT, { 'content-length': '10' }),
    'broken x6',
    'broken maybe',
  ],
  [
    'a length that is not a number',
    reply(200, PATIENT, { 'content-length': 'x' }),
    'broken maybe x6',
    'broken maybe',
  ],
  ['JSON that breaks off', reply(200, PATIENT.slice(0, -1)), 'broken x6', 'broken maybe'],
  [
    'a coding that the body does not have',
    reply(200, PATIENT, { 'content-encoding': 'gzip' }),
    'broken x6',
    'broken maybe',
  ],
  [
    'more than 16 MB',
    reply(200, ' '.repeat(17_000_000) + PATIENT),
    'too_large maybe x1',
    'broken maybe',
  ],
  [
    'JSON of 9,000 levels',
    reply(200, PATIENT.replace('}', `,"x":${'['.repeat(9_000)}${']'.repeat(9_000)}}`)),
    'too_large maybe x1',
    'broken maybe',
  ],
  [
    'more than a million values',
    reply(200, PATIENT.replace('}', `,"x":[${'{},'.repeat(1_000_000)}{}]}`)),
    'too_large maybe x1',
    'broken maybe',
  ],
  ['no body', reply(200, ''), 'broken x6', 'broken maybe'],
  ["a proxy's page", reply(200, '<html>Sign in</html>'), 'broken x6', 'broken maybe'],
  ['a number', reply(200, '7'), 'broken x6', 'broken maybe'],
  [
    'another resource',
    reply(200, '{"resourceType":"Practitioner","id":"q"}'),
    'broken x1',
    'broken maybe',
  ],
  ...statuses([201, 202, 204, 206, 299], 'broken x6', 'broken maybe'),
  ...statuses([400, 406, 413, 415, 418, 422, 423, 428, 431, 451], 'refused x1', 'refused'),
  ...statuses([401], 'unauthorized x1', 'unauthorized'),
  ...statuses([403], 'forbidden x1', 'forbidden'),
  ...statuses([404, 410], 'absent x1', 'absent'),
  ...statuses([405, 501], 'unsupported x1', 'unsupported'),
  ...statuses([409, 412], 'conflict x1', 'conflict'),
  ...statuses(
    [304, 307, 399, 408, 499, 500, 502, 504, 507, 520, 599, 999],
    'broken maybe x6',
    'broken maybe',
  ),
  ...statuses([503], 'busy maybe x6', 'busy maybe'),
  ...statuses([425, 429], 'busy x6', 'busy'),
];

async function said(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'ok';
  } catch (error) {
    if (!(error instanceof FhirError)) return String(error);
    return [error.kind, ...(error.may_be_done ? ['maybe'] : [])].join(' ');
  }
}

test.each(EDGES)('%s', async (_name, wire, read, write) => {
  const { env } = makeSuiteEnv();
  const config = fhirConfigSchema.parse({ base_url: ORIGIN, auth: 'none', timeout_seconds: 0.3 });
  const client = new FhirClient(config, env);
  const { signal } = new AbortController();
  let asked = 0;
  const scope = nock(ORIGIN).persist();
  scope.on('request', () => {
    asked += 1;
  });
  wire(scope.get('/Patient/p-1'));
  expect(`${await said(client.read('Patient', 'p-1', signal))} x${asked}`).toBe(read);
  asked = 0;
  wire(scope.post('/Patient'));
  expect(await said(client.create({ resourceType: 'Patient' }, null, signal))).toBe(write);
  // Sent once, whatever its outcome.
  expect(asked).toBe(1);
  await client.close();
});
