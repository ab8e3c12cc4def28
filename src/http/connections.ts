import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Holds the number of connections below a limit without ever shutting new ones out: when it is
 * reached, the connection makes room that has been idle, or sending one and the same request, for
 * longest. So a crowd of idle or slow sockets pushes out itself, and a genuine delivery, which is
 * done in milliseconds, gets through.
 */
export class ConnectionLimit {
  /**
   * Those that nobody is answering, in the order in which they were opened, began a request or were
   * answered.
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
      // What has arrived whole is being answered: it is never cut off.
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
