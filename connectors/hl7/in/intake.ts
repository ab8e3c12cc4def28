/** Turns the bytes of a frame or a file into committed messages and their replies. */
import { hash } from 'node:crypto';
import type { PullBatch } from '../../contract.ts';
import type { Hl7Config } from '../config.ts';
import type { Hl7Env } from '../events.ts';
import type { Answers, FrameIntake, Taker } from '../mllp/session.ts';
import { type FoundMessage, splitMessages } from '../v2/batches.ts';
import { type Message, parseMessage } from '../v2/message.ts';
import { readInstant, writeInstant } from '../v2/times.ts';
import { type ReplySettings, repliesTo, repliesToUnreadable } from './acknowledgments.ts';
import { longHeaderField } from './header-length.ts';
import { messageReader } from './reading.ts';
import { NOTHING, type Reading } from './result.ts';

/** The longest MSH-10 that HL7 allows. */
const CONTROL_ID_SHOWN_CHARS = 199;
/** More than a batch has; a frame of many more messages would hold up all other senders. */
const MESSAGES_PER_FRAME_MAX = 5000;
/** How often a repeated refusal is logged, so that a misconfigured sender does not fill the log. */
const REFUSED_LOG_MS = 60_000;
/**
 * If a sender's clock were further ahead, its messages would hide all messages with the correct
 * time.
 */
const AHEAD_MAX_MS = 10 * 60_000;

/** A message that is committed. */
type Found = { text: string; message: Message; reading: Exclude<Reading, { kind: 'refused' }> };

const namesOf = ({ text, message }: Found) => ({
  key: `hl7:${hash('sha256', text)}`,
  name: `message ${message.control_id.slice(0, CONTROL_ID_SHOWN_CHARS)}`,
});

/** Reads messages, has them committed, and builds their replies. */
export class MessageIntake implements FrameIntake {
  readonly #env: Hl7Env;
  readonly #read: (message: Message) => Reading;
  readonly #trusts_clocks: boolean;
  #stamp = { second: -1, text: '' };
  /** By reason: the refusals since the last log line, and the time of the next one. */
  readonly #refused = new Map<string, { count: number; next_ms: number }>();

  constructor(config: Hl7Config, env: Hl7Env) {
    this.#env = env;
    this.#trusts_clocks = config.trust_sender_clocks;
    this.#read = messageReader({
      ...config,
      time_zone: env.time_zone,
      keeps_segments: config.write_back === 'adt_a08' || config.write_back === 'pin_i07',
    });
  }

  /**
   * Takes the messages of a frame. Each reply resolves after its commit (G3), and rejects when the
   * commit failed. The messages are offered in order, so that one sender's messages are committed
   * in order.
   */
  takeFrame(body: Buffer, is_too_large: boolean, taker: Taker): Promise<Answers>[] {
    const messages = splitMessages(body);
    if (is_too_large) return [this.#tooLarge(messages[0]?.text ?? '')];
    if (messages.length > MESSAGES_PER_FRAME_MAX)
      return [this.#unreadable(`more than ${MESSAGES_PER_FRAME_MAX} messages in a frame`)];
    if (messages.length === 0)
      return [this.#unreadable('the frame holds no message: it does not begin with MSH')];
    return messages.map((found) => this.take(found, taker));
  }

  /** Takes one message. Resolves with its replies after the commit (G3). */
  take({ text, is_too_large }: FoundMessage, taker: Taker): Promise<Answers> {
    if (is_too_large) return this.#tooLarge(text);
    const message = parseMessage(text);
    if (message === null)
      return this.#unreadable('the delimiters in MSH-1 and MSH-2 cannot be used');
    const reading = this.#read(message);
    const replies = repliesTo(message, reading, this.#replySettings());
    if (reading.kind === 'refused') {
      this.#countRefusal(reading.fault.what);
      return Promise.resolve(replies);
    }
    return this.#commit({ text, message, reading }, replies, taker);
  }

  /** Reads a message that was committed at `received_at`. */
  readMessage(text: string, received_at: number): PullBatch {
    const message = parseMessage(text);
    const reading = message === null ? null : this.#read(message);
    if (message === null || reading === null || reading.kind === 'refused')
      throw new Error('This configuration refuses a message that eligd has acknowledged.');
    return this.#batchOf({ text, message, reading }, received_at);
  }

  async #commit(found: Found, replies: Answers, { accept, keep }: Taker): Promise<Answers> {
    const { text, reading } = found;
    const reply = JSON.stringify(replies);
    let stored = reply;
    if (keep === undefined) await accept(this.#batchOf(found, this.#env.clock.now()));
    else
      stored = await keep({
        ...namesOf(found),
        reply,
        text: reading.kind === 'ignored' ? null : text,
      });
    if (reading.kind === 'faulty')
      this.#env.log('hl7_message_faulty', {
        connector: this.#env.connector_id,
        field: reading.fault.at,
      });
    return stored === reply ? replies : (JSON.parse(stored) as string[]);
  }

  #batchOf(found: Found, received_at: number): PullBatch {
    const { message, reading } = found;
    const content = reading.kind === 'ignored' ? NOTHING : reading.content();
    return {
      source: {
        ...namesOf(found),
        is_last: true,
        completeness: 'changes',
        ...this.#writtenOf(message, received_at),
      },
      cursor: null,
      ...content,
    };
  }

  /**
   * Returns MSH-7 and the sender, unless the configuration does not trust MSH-7 or it was ahead of
   * this machine's clock.
   */
  #writtenOf(message: Message, received_at: number): { written?: { at: string; by: string } } {
    const { header } = message;
    // The message is on the attention list for that; its sender is not listed once more.
    if (longHeaderField(message) !== null) return {};
    const at = readInstant(header.value(7), this.#env.time_zone);
    const is_usable = this.#trusts_clocks && typeof at === 'string';
    if (!is_usable || Date.parse(at) > received_at + AHEAD_MAX_MS) return {};
    return { written: { at, by: `${header.raw(3)}|${header.raw(4)}` } };
  }

  #tooLarge(head: string): Promise<Answers> {
    this.#countRefusal('too large');
    const fault = {
      code: 207,
      at: 'MSH-10',
      what: 'the message is larger than max_message_megabytes allows',
    } as const;
    return Promise.resolve(repliesToUnreadable(parseMessage(head), fault, this.#replySettings()));
  }

  #unreadable(what: string): Promise<Answers> {
    this.#countRefusal('no message');
    return Promise.resolve(
      repliesToUnreadable(null, { code: 100, at: 'MSH-1', what }, this.#replySettings()),
    );
  }

  #countRefusal(reason: string): void {
    const now_ms = this.#env.clock.elapsed();
    const logged = this.#refused.get(reason) ?? { count: 0, next_ms: now_ms };
    const count = logged.count + 1;
    const is_due = now_ms >= logged.next_ms;
    this.#refused.set(
      reason,
      is_due ? { count: 0, next_ms: now_ms + REFUSED_LOG_MS } : { ...logged, count },
    );
    if (is_due)
      this.#env.log('hl7_message_refused', {
        connector: this.#env.connector_id,
        reason,
        messages: count,
      });
  }

  #replySettings(): ReplySettings {
    const second = Math.floor(this.#env.clock.now() / 1000);
    if (second !== this.#stamp.second)
      this.#stamp = { second, text: writeInstant(second * 1000, this.#env.time_zone) };
    return { at: this.#stamp.text };
  }
}
