/**
 * The sending side of MLLP: one message at a time on a persistent connection; the next one is sent
 * after the reply.
 */
import type { Socket } from 'node:net';
import { ConnectionError, errorCode } from '../../../src/domain/errors.ts';
import { ConnectorError } from '../../contract.ts';
import type { Hl7Config } from '../config.ts';
import type { Hl7Env } from '../events.ts';
import { splitMessages } from '../v2/batches.ts';
import { parseMessage } from '../v2/message.ts';
import { parseAddress } from './address.ts';
import { FrameReader, frame } from './frames.ts';
import { clientTls } from './tls-files.ts';

/** The receiver's reply. `silent`: none in time, or the receiver closed the connection. */
export type Reply = { code: string; text: string } | 'silent';

const REPLY_BYTES_MAX = 1_000_000;
const CONNECT_MS = 15_000;

type Waiting = { control_id: string; answer: (reply: Reply) => void };

/**
 * Sends messages. After a timeout it closes the connection, so that a late reply is never read. A
 * reply counts only for the message that it names (MSA-2), so that a late or repeated reply never
 * counts for the next message.
 */
export class MllpClient {
  readonly #config: Hl7Config & { send_to: string };
  readonly #env: Hl7Env;
  #socket: Socket | null = null;
  #waiting: Waiting | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(config: Hl7Config & { send_to: string }, env: Hl7Env) {
    this.#config = config;
    this.#env = env;
  }

  /**
   * Sends a message and waits for its reply; another call waits for this one. Throws a
   * ConnectorError `transient` when it cannot connect.
   */
  send(bytes: Buffer, control_id: string, signal: AbortSignal): Promise<Reply> {
    const reply = this.#last.then(() => this.#sendNow(bytes, control_id, signal));
    this.#last = reply.catch(() => {});
    return reply;
  }

  async #sendNow(bytes: Buffer, control_id: string, signal: AbortSignal): Promise<Reply> {
    signal.throwIfAborted();
    const socket = await this.#connected(signal);
    signal.throwIfAborted();
    const giveUp = () => this.#drop(socket);
    // Measured from the send, regardless of other replies: a receiver that keeps sending other
    // messages must not block the queue. The timer uses real time, like a socket's own timeout.
    const end = AbortSignal.any([signal, AbortSignal.timeout(this.#config.reply_seconds * 1000)]);
    end.addEventListener('abort', giveUp, { once: true });
    try {
      const reply = await new Promise<Reply>((resolve) => {
        this.#waiting = { control_id, answer: resolve };
        socket.write(frame(bytes));
      });
      signal.throwIfAborted();
      return reply;
    } finally {
      this.#waiting = null;
      end.removeEventListener('abort', giveUp);
    }
  }

  close(): void {
    if (this.#socket !== null) this.#drop(this.#socket);
  }

  async #connected(signal: AbortSignal): Promise<Socket> {
    if (this.#socket !== null && !this.#socket.destroyed && this.#socket.writable)
      return this.#socket;
    const socket = await openConnection(this.#config, this.#env, signal);
    const frames = new FrameReader(REPLY_BYTES_MAX);
    socket.on('data', (chunk) => {
      for (const { body } of frames.push(chunk)) this.#readReply(body);
    });
    socket.on('close', () => this.#drop(socket));
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 60_000);
    this.#socket = socket;
    return socket;
  }

  #readReply(body: Buffer): void {
    const message = parseMessage(splitMessages(body)[0]?.text ?? '');
    const acknowledgment = message?.first('MSA') ?? null;
    // Not an acknowledgment; this connection reads nothing else.
    if (acknowledgment === null) return;
    if (this.#waiting === null || acknowledgment.value(2) !== this.#waiting.control_id) {
      this.#env.log('hl7_answer_unmatched', { connector: this.#env.connector_id });
      return;
    }
    const error = message?.first('ERR') ?? null;
    const texts = [
      acknowledgment.value(3),
      error?.value(8),
      error?.value(3, 2),
      error?.value(1, 4),
    ];
    const words = [...new Set(texts.filter((each) => each !== undefined && each !== ''))].join(
      '; ',
    );
    this.#waiting.answer({ code: acknowledgment.value(1).toUpperCase(), text: words });
    this.#waiting = null;
  }

  #drop(socket: Socket): void {
    socket.destroy();
    if (this.#socket !== socket) return;
    this.#socket = null;
    this.#waiting?.answer('silent');
    this.#waiting = null;
  }
}

/**
 * Opens a connection to the receiver, including TLS. Throws ConnectorError `transient` when it
 * cannot connect.
 */
export async function openConnection(
  config: Hl7Config & { send_to: string },
  env: Hl7Env,
  signal: AbortSignal,
): Promise<Socket> {
  const { host, port } = parseAddress(config.send_to) ?? { host: '', port: 0 };
  const tls = await clientTls(config, env, host);
  try {
    return await env.network.socket(
      { host, port, proxy: config.send_proxy, tls },
      CONNECT_MS,
      signal,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ConnectionError && error.code.startsWith('ERR_PROXY_'))
      throw new ConnectorError('transient', { what: error.message, next: error.next });
    throw new ConnectorError('transient', {
      what:
        `The receiver of answers at ${config.send_to} cannot be reached ` +
        `(${errorCode(error) ?? 'no answer'}).`,
      next:
        'Check that it is running and that "send_to:" is right. eligd tries again ' +
        'automatically.',
      cause: error,
    });
  }
}
