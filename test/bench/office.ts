/** What the office's pages cost with 10,000 visits on the books, next to a page of fastify alone. */
import fastify from 'fastify';
import { localDate } from '../../src/domain/time.ts';
import { hashPassword, UserFile } from '../../src/office/users.ts';
import { growDatabase } from '../faults/grow.ts';
import { DAY_MS, HOUR_MS, SimulatedClinic, ZONE } from '../faults/simulated-clinic.ts';

const START_MS = Date.parse('2030-03-04T11:00:00Z');
const VISITS = 10_000;
const ROUNDS = 21;
const PASSWORD = 'correct horse battery';

/** Medians, milliseconds by the wall clock; `bare_ms`: the same text from fastify alone. */
export type OfficeResult = {
  path: string;
  bytes: number;
  rows: number;
  ms: number;
  bare_ms: number;
};

export async function measureOffice(): Promise<OfficeResult[]> {
  const clinic = await SimulatedClinic.open(START_MS, null);
  try {
    const listen = `127.0.0.1:${clinic.spare_port}`;
    clinic.configure({ office: { listen } });
    await clinic.turnOn();
    await clinic.live(START_MS + 14 * DAY_MS);
    await clinic.turnOff();
    growDatabase(clinic.path('state/eligd.db'), VISITS);
    new UserFile(clinic.path('state/office-users')).write([
      { name: 'maria', role: 'operator', hash: await hashPassword(PASSWORD) },
    ]);
    await clinic.turnOn();
    await clinic.live(clinic.clock.trueNow() + HOUR_MS);
    const site = `http://${listen}`;
    const cookie = await logIn(site);
    const day = localDate(clinic.clock.trueNow() - 3 * DAY_MS, ZONE);
    const results: OfficeResult[] = [];
    for (const path of ['/', `/day/${day}`, '/attention', '/week'])
      results.push(await measurePage(site, path, cookie));
    return results;
  } finally {
    await clinic.close();
  }
}

async function logIn(site: string): Promise<string> {
  const response = await fetch(`${site}/login`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ name: 'maria', password: PASSWORD }),
  });
  if (response.status !== 303) throw new Error(`The login answered ${response.status}.`);
  return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

async function measurePage(site: string, path: string, cookie: string): Promise<OfficeResult> {
  const { text, median } = await medianOf(site + path, { cookie });
  const bare = fastify();
  bare.get('/', async (_request, reply) => reply.type('text/html; charset=utf-8').send(text));
  const address = await bare.listen({ host: '127.0.0.1', port: 0 });
  const { median: bare_ms } = await medianOf(`${address}/`, {});
  await bare.close();
  const rows = text.split('<tr role="row" class="s-').length - 1;
  return { path, bytes: Buffer.byteLength(text), rows, ms: median, bare_ms };
}

async function medianOf(
  url: string,
  headers: Record<string, string>,
): Promise<{ text: string; median: number }> {
  const times: number[] = [];
  let text = '';
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = performance.now();
    const response = await fetch(url, { headers });
    text = await response.text();
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}.`);
    times.push(performance.now() - begun);
  }
  return { text, median: times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN };
}
