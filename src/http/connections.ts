import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Holds the number of connections below a limit without ever shutting new ones out: when it is reached, the connection that
 * has done nothing for longest makes room, and if none is idle the one that has been sending its request for longest. So a
 * crowd of idle or slow sockets pushes out itself, and a genuine delivery, which is done in milliseconds, gets through.
 */
export class ConnectionLimit {
  /** In the order in which they became idle. */
  readonly #idle = new Set<Socket>();
  /** In the order in which their request began. */
  readonly #receiving = new Set<Socket>();
  #count = 0;

  constructor(server: Server, connections_max: number) {
    server.on('connection', (socket: Socket) => {
      if (this.#count >= connections_max) this.#makeRoom();
      this.#count += 1;
      this.#idle.add(socket);
      socket.once('close', () => {
        this.#count -= 1;
        this.#idle.delete(socket);
        this.#receiving.delete(socket);
      });
    });
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      this.#idle.delete(socket);
      this.#receiving.add(socket);
      // What has arrived whole is being answered: it is never cut off.
      request.once('end', () => this.#receiving.delete(socket));
      response.once('close', () => {
        this.#receiving.delete(socket);
        if (!socket.destroyed) this.#idle.add(socket);
      });
    });
  }

  #makeRoom(): void {
    const [victim] = this.#idle.size > 0 ? this.#idle : this.#receiving;
    victim?.destroy();
  }
}
