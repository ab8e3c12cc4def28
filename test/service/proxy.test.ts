/** The service behind the clinic's proxy, over real sockets. */
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** A proxy that tunnels (CONNECT) to the requested host, and remembers it. */
async function startProxy(): Promise<{ url: string; tunnels: string[] }> {
  const tunnels: string[] = [];
  const server = createServer((_request, reply) => reply.writeHead(501).end());
  server.on('connect', (request: IncomingMessage, client, head: Buffer) => {
    tunnels.push(request.url ?? '');
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.write(head);
      onward.pipe(client);
      client.pipe(onward);
    });
    onward.on('error', () => client.destroy());
    client.on('error', () => onward.destroy());
    open.push(() => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tunnels };
}

const inTenDays = () => new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10);

test('everything goes through service.proxy, and check says if it works', async () => {
  const service = await startService();
  const proxy = await startProxy();
  const clinic = makeClinic({ base_url: service.url, config: { service: { proxy: proxy.url } } });
  expect((await clinic.run('check')).stdout).toMatch(/ok service:/);
  clinic.drop(
    'export.csv',
    exportOf(visits(3, () => ({ appointment_at: `${inTenDays()}T10:30` }))),
  );
  await clinic.once();
  expect(await service.ledger()).toHaveLength(3);
  expect(new Set(proxy.tunnels)).toEqual(new Set([new URL(service.url).host]));
});

test('with an unavailable proxy, everything stays due and nothing is sent twice', async () => {
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: { service: { proxy: 'http://127.0.0.1:9' } },
  });
  clinic.drop(
    'export.csv',
    exportOf(visits(2, () => ({ appointment_at: `${inTenDays()}T10:30` }))),
  );
  await clinic.once(75);
  expect(await service.ledger()).toEqual([]);
  expect((await clinic.run('check')).stdout).toMatch(/!! service:/);
});
