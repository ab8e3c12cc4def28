/**
 * One connection from a sender: bytes in, answers out in the order of the messages. Knows no
 * socket, so that it can be tested without.
 */
import type { Accepted, PullBatch } from '../../contract.ts';
import { type Frame, FrameReader, frame } from './frames.ts';

export type Accept = (batch: PullBatch) => Promise<Accepted>;

/** The answers to one message, each a message of its own; empty when none is due. */
export type Answers = readonly string[];

/** Who reads the messages of a frame and has them stored. */
export interface FrameIntake {
  /**
   * One promise a message, in their order. Each resolves after its commit (G3), and rejects when
   * there was none.
   */
  takeFrame: (body: Buffer, is_too_large: boolean, accept: Accept) => Promise<Answers>[];
}

export type Peer = {
  write: (bytes: Buffer) => void;
  /** Asks the peer to send nothing more for now, and to go on. */
  pause: () => void;
  resume: () => void;
  /** Ends the connection without an answer: the sender has its message still and sends it again. */
  hangUp: () => void;
};

/**
 * Messages of one connection that wait for their commit; more are not read from it (back-pressure
 * when the database is slow).
 */
const UNANSWERED_MAX = 256;

export class Session {
  readonly #intake: FrameIntake;
  readonly #accept: Accept;
  readonly #peer: Peer;
  readonly #frames: FrameReader;
  /** Messages and other frames that came. */
  messages = 0;
  #unanswered = 0;
  #is_paused = false;
  #is_over = false;
  #last: Promise<void> = Promise.resolve();

  constructor(intake: FrameIntake, accept: Accept, peer: Peer, bytes_max: number) {
    this.#intake = intake;
    this.#accept = accept;
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

  /** Resolves when everything that was received is answered, or given up. */
  async idle(): Promise<void> {
    await this.#last;
  }

  #take({ body, is_too_large }: Frame): void {
    for (const answers of this.#intake.takeFrame(body, is_too_large, this.#accept)) {
      this.messages += 1;
      this.#unanswered += 1;
      // Heard at once: one that fails while an earlier one waits is no unhandled rejection.
      const settled = answers.catch(() => null);
      this.#last = this.#last.then(async () => this.#answer(await settled));
    }
  }

  #answer(answers: Answers | null): void {
    this.#unanswered -= 1;
    if (this.#is_over) return;
    if (answers === null) {
      // Not stored (G3). What follows on this connection is not answered either, so that no answer
      // is taken for another's.
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
