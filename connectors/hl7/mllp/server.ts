/**
 * The listening side of MLLP: sockets, who may connect, and an orderly stop. `session.ts` handles
 * the data of a connection.
 */
import { BlockList, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { errorCode } from '../../../src/domain/errors.ts';
import { ConnectorError, type ListenCall } from '../../contract.ts';
import { addRange, type Hl7Config } from '../config.ts';
import type { Hl7Env } from '../events.ts';
import { parseAddress } from './address.ts';
import { type FrameIntake, Session } from './session.ts';
import { serverTls } from './tls-files.ts';

/**
 * How long the server holds the connection of a sender whose message was not stored, so that the
 * sender does not reconnect in a tight loop.
 */
const HANG_UP_MS = 1000;
/** How long the last replies may take when the daemon stops. */
const LAST_REPLIES_MS = 2000;
/**
 * Replies that the sender does not read; beyond this, the connection is closed before they fill the
 * memory.
 */
const UNREAD_BYTES_MAX = 16_000_000;
const LISTEN_RETRY_MS = 5000;

/**
 * Receives until the signal is aborted, then answers the messages in progress and returns. Throws
 * ConnectorError when it cannot listen.
 */
export async function listenForMessages(
  config: Hl7Config & { listen: string },
  env: Hl7Env,
  intake: FrameIntake,
  call: ListenCall,
): Promise<void> {
  const host = new Listener(config, env, intake, call);
  await host.run(await serverTls(config, env));
}

class Listener {
  readonly #config: Hl7Config & { listen: string };
  readonly #env: Hl7Env;
  readonly #intake: FrameIntake;
  readonly #call: ListenCall;
  readonly #allowed = new BlockList();
  readonly #connections = new Map<Socket, Session>();
  /** All connected sockets, including those before or without a TLS handshake. */
  readonly #sockets = new Set<Socket>();

  constructor(
    config: Hl7Config & { listen: string },
    env: Hl7Env,
    intake: FrameIntake,
    call: ListenCall,
  ) {
    this.#config = config;
    this.#env = env;
    this.#intake = intake;
    this.#call = call;
    for (const range of config.allow) addRange(this.#allowed, range);
  }

  async run(tls: TlsOptions | null): Promise<void> {
    const { signal } = this.#call;
    if (signal.aborted) return;
    const receive = (socket: Socket) => this.#receive(socket);
    // Half open: a sender that has finished sending still gets its replies.
    const half_open = { allowHalfOpen: true };
    const server =
      tls === null
        ? createServer(half_open, receive)
        : createTlsServer({ ...tls, ...half_open }, receive);
    // Runs before the TLS handshake, which strangers do not get.
    server.prependListener('connection', (socket: Socket) => this.#screen(socket));
    server.on('tlsClientError', (_, socket: Socket) => this.#refuse(socket));
    server.on('drop', () => {
      this.#env.log('hl7_connections_full', {
        connector: this.#env.connector_id,
        limit: server.maxConnections,
      });
    });
    server.maxConnections = this.#config.max_connections;
    await open(server, this.#config.listen);
    try {
      const bound = server.address();
      if (bound !== null && typeof bound === 'object')
        this.#env.log('hl7_listening', {
          connector: this.#env.connector_id,
          host: bound.address,
          port: bound.port,
        });
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    } finally {
      await this.#close(server);
    }
  }

  #screen(socket: Socket): void {
    // A socket error always comes with its close, so its cause does not matter.
    socket.on('error', () => socket.destroy());
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    if (!this.#isAllowed(socket.remoteAddress)) this.#refuse(socket);
  }

  #refuse(socket: Socket): void {
    this.#env.log('hl7_connection_refused', {
      connector: this.#env.connector_id,
      host: socket.remoteAddress ?? null,
    });
    socket.destroy();
  }

  #isAllowed(remote: string | undefined): boolean {
    if (this.#config.allow.length === 0) return true;
    if (remote === undefined) return false;
    const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(remote)?.[1];
    const address = mapped ?? remote;
    return this.#allowed.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  }

  #receive(socket: Socket): void {
    if (socket.destroyed) return;
    socket.on('error', () => socket.destroy());
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 60_000);
    if (this.#config.idle_minutes > 0)
      socket.setTimeout(this.#config.idle_minutes * 60_000, () => socket.destroy());
    const peer = {
      write: (bytes: Buffer) => {
        if (socket.destroyed) return;
        // Replies of one commit are sent together.
        if (socket.writableCorked === 0) {
          socket.cork();
          process.nextTick(() => socket.uncork());
        }
        socket.write(bytes);
        if (socket.writableLength > UNREAD_BYTES_MAX) socket.destroy();
      },
      pause: () => void socket.pause(),
      resume: () => void socket.resume(),
      hangUp: () => void this.#hangUp(socket),
    };
    const session = new Session(
      this.#intake,
      this.#call,
      peer,
      this.#config.max_message_megabytes * 1_000_000,
    );
    this.#connections.set(socket, session);
    socket.on('data', (chunk) => session.receive(chunk));
    socket.on('end', () => void session.idle().then(() => socket.end()));
    socket.on('close', () => this.#ended(socket, session));
  }

  #ended(socket: Socket, session: Session): void {
    this.#connections.delete(socket);
    this.#env.log('hl7_connection_ended', {
      connector: this.#env.connector_id,
      messages: session.messages,
      junk_bytes: session.junk_bytes,
    });
  }

  /** Closes the connection of a sender whose message was not stored, after a pause. */
  async #hangUp(socket: Socket): Promise<void> {
    this.#env.log('hl7_not_stored', { connector: this.#env.connector_id });
    socket.pause();
    await this.#env.clock.sleep(HANG_UP_MS, this.#call.signal).catch(() => {});
    socket.destroy();
  }

  async #close(server: Server): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of this.#connections.keys()) socket.pause();
    const late = new AbortController();
    const answered = Promise.all(
      [...this.#connections].map(([socket, session]) => session.idle().then(() => ended(socket))),
    );
    await Promise.race([
      answered,
      this.#env.clock.sleep(LAST_REPLIES_MS, late.signal).catch(() => {}),
    ]);
    late.abort();
    for (const socket of [...this.#connections.keys(), ...this.#sockets]) socket.destroy();
    await closed;
  }
}

/** Resolves when the system has taken the last bytes. */
function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.end(() => resolve());
    socket.once('close', () => resolve());
  });
}

async function open(server: Server, listen: string): Promise<void> {
  const address = parseAddress(listen);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: address?.host, port: address?.port }, () => {
      server.off('error', reject);
      resolve();
    });
  }).catch((error: unknown) => {
    throw cannotListen(listen, error);
  });
}

/** Returns the error for an address on which eligd cannot listen; `check` shows the same text. */
export function cannotListen(listen: string, error: unknown): ConnectorError {
  const code = errorCode(error) ?? 'unknown';
  const next =
    code === 'EADDRINUSE'
      ? 'End the other program, or choose another port in "listen:".'
      : code === 'EACCES'
        ? 'Choose a port from 1024 on in "listen:".'
        : 'Write an address of this computer into "listen:".';
  const parts = {
    what: `It cannot listen on ${listen} (${code}).`,
    next,
    cause: error,
    retry_after_ms: LISTEN_RETRY_MS,
  };
  return new ConnectorError(code === 'EADDRINUSE' ? 'transient' : 'permanent', parts);
}
