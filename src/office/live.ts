/**
 * Notifies open pages of changes with server-sent events (HTML Standard 9.2). An event contains
 * only the fingerprint of the current state; a page with another fingerprint reloads.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { changeMark } from '../store/views/change-mark.ts';
import type { Office } from './context.ts';
import { SECURITY_HEADERS, TLS_HEADERS } from './headers.ts';

const LOOK_MS = 3_000;
/** A proxy closes a connection that is silent for too long. */
const LOOKS_PER_SIGN = 5;
/** Forgotten tabs must not use up all connections. */
const STREAMS_MAX = 200;

/** Returns a fingerprint that changes with every change and reveals nothing about it. */
export async function liveMark({ store }: Pick<Office, 'store'>): Promise<string> {
  const mark = await changeMark(store.db);
  return createHash('sha256').update(mark).digest('base64url').slice(0, 22);
}

const changed = (mark: string) => `event: changed\ndata: ${mark}\n\n`;

export class LivePages {
  readonly #office: Office;
  readonly #streams = new Set<(text: string) => void>();
  #watching: Promise<void> | null = null;

  constructor(office: Office) {
    this.#office = office;
  }

  /**
   * Opens a stream. Calls `isLoggedIn` repeatedly, because a page can stay open after its login
   * ends.
   */
  serve(request: FastifyRequest, reply: FastifyReply, isLoggedIn: () => Promise<boolean>): void {
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(this.#streams.size < STREAMS_MAX ? 200 : 204, {
      ...SECURITY_HEADERS,
      ...(this.#office.is_secure ? TLS_HEADERS : {}),
      'content-type': 'text/event-stream',
    });
    if (this.#streams.size >= STREAMS_MAX) {
      raw.end();
      return;
    }
    raw.write('retry: 10000\n\n');
    const send = (text: string) => {
      if (raw.writableEnded) return;
      raw.write(text);
      void isLoggedIn().then(
        (is_in) => is_in || raw.end(),
        () => raw.end(),
      );
    };
    this.#streams.add(send);
    request.raw.once('close', () => this.#streams.delete(send));
    // Sends changes made before the stream started, such as during a lost connection.
    void liveMark(this.#office).then(
      (mark) => raw.writableEnded || raw.write(changed(mark)),
      () => raw.end(),
    );
    this.#watching ??= this.#watch();
  }

  /** Runs while at least one page is open. */
  async #watch(): Promise<void> {
    const read = () => liveMark(this.#office);
    let mark = await read().catch(() => '');
    for (let look = 1; this.#streams.size > 0; look += 1) {
      // Sleeps in real time, even if a demo's clock is faster.
      await sleep(LOOK_MS, undefined, { ref: false });
      const now = await read().catch(() => mark);
      const text = now === mark ? ': here\n\n' : changed(now);
      if (now !== mark || look % LOOKS_PER_SIGN === 0) for (const send of this.#streams) send(text);
      mark = now;
    }
    this.#watching = null;
  }
}
