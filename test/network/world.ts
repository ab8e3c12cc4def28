/** Proxies, and TLS with its own authority, between eligd and a server. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach } from 'vitest';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0).reverse()) close();
});

const TLS = join(import.meta.dirname, '../fixtures/tls');
const pem = (name: string) => readFileSync(join(TLS, name));
export const FILES = {
  authorities_file: join(TLS, 'ca.pem'),
  certificate_file: join(TLS, 'client.pem'),
  key_file: join(TLS, 'client-key.pem'),
};
/** A server with our certificate that accepts only clients with one. */
const MUTUAL = {
  key: pem('server-key.pem'),
  cert: pem('server.pem'),
  ca: pem('ca.pem'),
  requestCert: true,
  rejectUnauthorized: true,
};

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

export const startHttps = (listener: RequestListener) =>
  listening(createHttpsServer(MUTUAL, listener));
export const startHttp = (listener: RequestListener) => listening(createServer(listener));
export const startTls = (onSocket: (socket: Socket) => void) =>
  listening(createTlsServer(MUTUAL, onSocket));

export type Proxy = { port: number; url: string; tunnels: string[]; heads: string[] };

/**
 * A proxy that connects every client with the login. Names end in `.test`; only the proxy knows
 * them, and they all mean this computer.
 */
export async function startProxy(
  login: string | null,
  status: number | null = null,
): Promise<Proxy> {
  const proxy: Proxy = { port: 0, url: '', tunnels: [], heads: [] };
  const server = createServer((_request, reply) => reply.writeHead(501).end());
  server.on('connect', (request: IncomingMessage, near: Socket, head: Buffer) => {
    proxy.heads.push(JSON.stringify(request.headers));
    const given = request.headers['proxy-authorization'];
    const wanted = login === null ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
    if (status !== null || given !== wanted) {
      near.end(`HTTP/1.1 ${status ?? 407} No\r\nProxy-Authenticate: Basic\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${request.url}`);
    proxy.tunnels.push(request.url ?? '');
    const far = connect(Number(port), /\.test$/.test(hostname) ? '127.0.0.1' : hostname, () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      far.write(head);
      far.pipe(near);
      near.pipe(far);
    });
    for (const socket of [near, far]) {
      socket.on('error', () => {});
      socket.once('close', () => {
        near.destroy();
        far.destroy();
      });
    }
  });
  proxy.port = await listening(server);
  proxy.url = `http://127.0.0.1:${proxy.port}`;
  return proxy;
}

/** A port on which no one listens. */
export async function closedPort(): Promise<number> {
  const port = await startHttp(() => {});
  open.pop()?.();
  return port;
}
