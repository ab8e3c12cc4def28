/**
 * One connection from a sender: bytes in, replies out in the order of the messages. It uses no
 * socket, so tests can run without one.
 */
import type { ListenCall } from '../../contract.ts';
import { type Frame, FrameReader, frame } from './frames.ts';

/** Where messages go. */
export type Taker = Pick<ListenCall, 'accept' | 'keep'>;

/** The replies to one message, each a message of its own; empty if none is due. */
export type Answers = readonly string[];

/** Reads the messages of a frame and has them stored. */
export interface FrameIntake {
  /**
   * Returns one promise for each message, in order. Each resolves after its commit (G3), and
   * rejects when the commit failed.
   */
  takeFrame: (body: Buffer, is_too_large: boolean, taker: Taker) => Promise<Answers>[];
}

export type Peer = {
  write: (bytes: Buffer) => void;
  /** Asks the peer to stop sending for now, and to continue. */
  pause: () => void;
  resume: () => void;
  /** Closes the connection without a reply: the sender still has its message and sends it again. */
  hangUp: () => void;
};

/**
 * Messages of one connection that wait for their commit; the connection is not read beyond this
 * number (backpressure when the database is slow).
 */
const UNANSWERED_MAX = 256;

/** Reads the frames of one connection and sends the replies. */
export class Session {
  readonly #intake: FrameIntake;
  readonly #taker: Taker;
  readonly #peer: Peer;
  readonly #frames: FrameReader;
  /** The number of messages and other frames received. */
  messages = 0;
  #unanswered = 0;
  #is_paused = false;
  #is_over = false;
  #last: Promise<void> = Promise.resolve();

  constructor(intake: FrameIntake, taker: Taker, peer: Peer, bytes_max: number) {
    this.#intake = intake;
    this.#taker = taker;
    this.#peer = peer;
    this.#frames = new FrameReader(bytes_max);
  }

  get junk_bytes(): number {
    return this.#frames.junk_bytes;
  }

  receive(chunk: Buffer): void {
    if (this.#is_over) return;
    for (const received of this.#frames.push(chunk)) this.#take(received);
    if (this.#unanswered >= UNANSWERED_MAX && !this.#is_paused) {
      this.#is_paused = true;
      this.#peer.pause();
    }
  }

  /** Resolves when every received message is answered or given up. */
  async idle(): Promise<void> {
    await this.#last;
  }

  #take({ body, is_too_large }: Frame): void {
    for (const answers of this.#intake.takeFrame(body, is_too_large, this.#taker)) {
      this.messages += 1;
      this.#unanswered += 1;
      // Handled at once, so that a failure while an earlier message waits is not an unhandled
      // rejection.
      const settled = answers.catch(() => null);
      this.#last = this.#last.then(async () => this.#answer(await settled));
    }
  }

  #answer(answers: Answers | null): void {
    this.#unanswered -= 1;
    if (this.#is_over) return;
    if (answers === null) {
      // Not stored (G3). The following messages on this connection get no reply either, so that no
      // reply is taken for another message's.
      this.#is_over = true;
      this.#peer.hangUp();
      return;
    }
    for (const text of answers) this.#peer.write(frame(Buffer.from(text)));
    if (this.#is_paused && this.#unanswered <= UNANSWERED_MAX / 2) {
      this.#is_paused = false;
      this.#peer.resume();
    }
  }
}
