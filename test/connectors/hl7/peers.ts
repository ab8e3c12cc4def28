/** Both ends of MLLP for tests, on plain sockets and without code of the connector. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export const framed = (message: string | Buffer) =>
  Buffer.concat([Buffer.from([0x0b]), Buffer.from(message), Buffer.from([0x1c, 0x0d])]);

/** A port on which no one listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export function listening(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

const CONNECT_TRIES = 1000;

/** Connects, also to a port on which someone will listen in a moment. */
export async function connected(port: number): Promise<Socket> {
  for (let tries = 0; ; tries += 1) {
    const socket = connect({ port, host: '127.0.0.1' });
    const is_open = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    if (is_open) {
      socket.on('error', () => socket.destroy());
      return socket;
    }
    if (tries === CONNECT_TRIES) throw new Error(`Nobody listens on port ${port}.`);
    await sleep(20);
  }
}

/** The messages in a stream of frames; keeps an incomplete one. */
export class Unframer {
  #rest = '';

  push(chunk: Buffer): string[] {
    const parts = (this.#rest + chunk.toString('utf8')).split('\x1c\r');
    this.#rest = parts.pop() ?? '';
    return parts.map((part) => part.replace('\x0b', ''));
  }
}

export const field = (message: string, segment: string, number: number): string =>
  message
    .split('\r')
    .find((line) => line.startsWith(`${segment}|`))
    ?.split('|')[segment === 'MSH' ? number - 1 : number] ?? '';

/**
 * A sender that writes bytes and reads answers until it has as many as it waits for, or the
 * connection ends.
 */
export class RawSender {
  readonly answers: string[] = [];
  readonly socket: Socket;
  #heard: (() => void) | null = null;
  is_closed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    const frames = new Unframer();
    socket.on('data', (chunk) => {
      this.answers.push(...frames.push(chunk));
      this.#heard?.();
    });
    socket.on('close', () => {
      this.is_closed = true;
      this.#heard?.();
    });
  }

  static async to(port: number): Promise<RawSender> {
    return new RawSender(await connected(port));
  }

  write(bytes: Buffer | string): void {
    this.socket.write(bytes);
  }

  /** Waits for this many answers in all; fewer if the connection ends. */
  async heard(count: number): Promise<string[]> {
    while (this.answers.length < count && !this.is_closed) {
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
    return this.answers;
  }

  async ended(): Promise<void> {
    while (!this.is_closed) {
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  async ask(message: string): Promise<string> {
    this.write(framed(message));
    const count = this.answers.length + 1;
    return (await this.heard(count))[count - 1] ?? '';
  }

  close(): void {
    this.socket.destroy();
  }
}

/** The receiver's answer: text of an acknowledgment, or null for silence. */
export type Answering = (message: string, socket: Socket) => string | null;

export const ack = (code: string, message: string, text = '') =>
  `MSH|^~\\&|PMS|CLINIC|ELIGD||20261123090000||ACK|A${field(message, 'MSH', 10)}|P|` +
  `2.5.1\rMSA|${code}|${field(message, 'MSH', 10)}|${text}\r`;

/** A receiver that keeps every message by its control ID, so it recognizes repetitions. */
export class Receiver {
  readonly port: number;
  readonly messages: string[] = [];
  /** The bytes as received. */
  readonly raw: Buffer[] = [];
  answering: Answering = (message) => ack('AA', message);
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async start(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server, await listening(server));
    server.on('connection', (socket) => receiver.#take(socket));
    return receiver;
  }

  #take(socket: Socket): void {
    const frames = new Unframer();
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      this.raw.push(chunk);
      for (const message of frames.push(chunk)) {
        this.messages.push(message);
        const answer = this.answering(message, socket);
        if (answer !== null) socket.write(framed(answer));
      }
    });
  }

  kept(): [control_id: string, message: string][] {
    return [
      ...new Map(this.messages.map((message) => [field(message, 'MSH', 10), message])),
    ].toSorted();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
