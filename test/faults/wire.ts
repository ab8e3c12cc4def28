import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** The network between the clinic and a server: a port that forwards, and that can be cut. */
export class Wire {
  readonly port: number;
  readonly #to: () => number;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;

  private constructor(port: number, to: () => number) {
    this.port = port;
    this.#to = to;
  }

  /** `port` 0: any that is free. */
  static async lay(port: number, to: () => number): Promise<Wire> {
    const wire = new Wire(port === 0 ? await anyPort() : port, to);
    await wire.repair();
    return wire;
  }

  async repair(): Promise<void> {
    if (this.#server !== null) return;
    const server = createServer((near) => {
      const far = connect(this.#to(), '127.0.0.1');
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          this.#sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
      }
      near.pipe(far);
      far.pipe(near);
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.#server = server;
  }

  /** Refuses connections from now on. */
  async cut(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) =>
      server === null ? resolve() : server.close(() => resolve()),
    );
  }
}

/** A port of this machine that was free a moment ago. */
export async function anyPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** An HTTP proxy on this machine that can be taken away. */
export class CuttableProxy {
  readonly port: number;
  readonly #sockets = new Set<Socket>();
  #server: HttpServer | null = null;

  private constructor(port: number) {
    this.port = port;
  }

  static async on(): Promise<CuttableProxy> {
    return new CuttableProxy(await anyPort());
  }

  async open(): Promise<void> {
    const server = createHttpServer((_request, response) => response.writeHead(405).end());
    server.on('connect', (request, near: Socket, head: Buffer) => {
      const [host = '', port = ''] = (request.url ?? '').split(':');
      const far = connect(Number(port), host, () => {
        near.write('HTTP/1.1 200 OK\r\n\r\n');
        far.write(head);
        far.pipe(near);
        near.pipe(far);
      });
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          near.destroy();
          far.destroy();
          this.#sockets.delete(socket);
        });
      }
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.#server = server;
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    for (const socket of this.#sockets) socket.destroy();
    server?.closeAllConnections();
    await new Promise<void>((resolve) =>
      server === null ? resolve() : server.close(() => resolve()),
    );
  }
}
