import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps the number of connections below a limit and always accepts new ones. At the limit, it
 * closes the connection that has been idle, or sending the same request, for the longest time. A
 * crowd of idle or slow sockets can displace only each other, and a genuine webhook event, which
 * takes milliseconds, gets through.
 */
export class ConnectionLimit {
  /**
   * Sockets without a request being answered, ordered by when they opened, began a request, or were
   * last answered.
   */
  readonly #waiting = new Set<Socket>();
  #count = 0;

  constructor(server: Server, connections_max: number) {
    server.on('connection', (socket: Socket) => {
      if (this.#count >= connections_max) this.#makeRoom();
      this.#count += 1;
      this.#waiting.add(socket);
      socket.once('close', () => {
        this.#count -= 1;
        this.#waiting.delete(socket);
      });
    });
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      this.#startOver(socket);
      // A request that has arrived completely is being answered: its socket is never closed.
      request.once('end', () => this.#waiting.delete(socket));
      response.once('close', () => this.#startOver(socket));
    });
  }

  #startOver(socket: Socket): void {
    this.#waiting.delete(socket);
    if (!socket.destroyed) this.#waiting.add(socket);
  }

  #makeRoom(): void {
    const [longest] = this.#waiting;
    longest?.destroy();
  }
}
