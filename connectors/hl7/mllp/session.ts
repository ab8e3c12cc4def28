/**
 * One connection from a sender: bytes in, replies out in the order of the messages. It uses no
 * socket, so tests can run without one.
 */
import type { ListenCall } from '../../contract.ts';
import { type Frame, FrameReader, frameText } from './frames.ts';

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

/** A message, and its replies: null if it was not stored, undefined while it waits. */
type Waiting = { answers: Answers | null | undefined };

/** Reads the frames of one connection and sends the replies. */
export class Session {
  readonly #intake: FrameIntake;
  readonly #taker: Taker;
  readonly #peer: Peer;
  readonly #frames: FrameReader;
  /** The number of messages and other frames received. */
  messages = 0;
  /** Unanswered messages, oldest first. */
  #waiting: Waiting[] = [];
  #is_answering = false;
  #is_paused = false;
  #is_over = false;
  readonly #when_idle: (() => void)[] = [];

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
    if (this.#waiting.length >= UNANSWERED_MAX && !this.#is_paused) {
      this.#is_paused = true;
      this.#peer.pause();
    }
  }

  /** Resolves when every received message is answered or given up. */
  async idle(): Promise<void> {
    if (this.#waiting.length > 0)
      await new Promise<void>((resolve) => this.#when_idle.push(resolve));
  }

  #take({ body, is_too_large }: Frame): void {
    for (const taken of this.#intake.takeFrame(body, is_too_large, this.#taker)) {
      this.messages += 1;
      const message: Waiting = { answers: undefined };
      this.#waiting.push(message);
      const settle = (answers: Answers | null) => {
        message.answers = answers;
        this.#answerSoon();
      };
      taken.then(settle, () => settle(null));
    }
  }

  /** Waits until the other messages of the same commit have their replies, too. */
  #answerSoon(): void {
    if (this.#is_answering) return;
    this.#is_answering = true;
    queueMicrotask(() => {
      this.#is_answering = false;
      this.#answer();
    });
  }

  /** Sends the replies up to the first message that still waits, in one piece. */
  #answer(): void {
    const end = this.#waiting.findIndex(({ answers }) => answers === undefined);
    const settled = this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
    const text = this.#is_over ? '' : this.#textOf(settled);
    if (text !== '') this.#peer.write(Buffer.from(text));
    if (!this.#is_over && settled.some(({ answers }) => answers === null)) {
      // Not stored (G3). The following messages on this connection get no reply either, so that no
      // reply is taken for another message's.
      this.#is_over = true;
      this.#peer.hangUp();
    }
    if (!this.#is_over && this.#is_paused && this.#waiting.length <= UNANSWERED_MAX / 2) {
      this.#is_paused = false;
      this.#peer.resume();
    }
    if (this.#waiting.length === 0) for (const resolve of this.#when_idle.splice(0)) resolve();
  }

  /** Returns the replies before the first message that was not stored. */
  #textOf(settled: readonly Waiting[]): string {
    let text = '';
    for (const { answers } of settled) {
      if (answers === null || answers === undefined) break;
      for (const answer of answers) text += frameText(answer);
    }
    return text;
  }
}
