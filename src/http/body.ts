import type { Readable } from 'node:stream';

/** Why a body was not read to the end. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused';
  readonly status: 400 | 413 | 503;

  constructor(status: 400 | 413 | 503) {
    super(`The body was refused with ${status}.`);
    this.status = status;
  }
}

type Reading = { bytes: number; cut: (error: BodyRefused) => void };

/**
 * Reads bodies into memory, at most `total_bytes_max` for all together. When that limit is
 * exceeded, the longest body still being received is cut off, so a client that sends without end
 * harms only itself.
 */
export class BodyReader {
  readonly #body_bytes_max: number;
  readonly #total_bytes_max: number;
  readonly #readings = new Set<Reading>();
  #total_bytes = 0;

  constructor(limits: { body_bytes_max: number; total_bytes_max: number }) {
    this.#body_bytes_max = limits.body_bytes_max;
    this.#total_bytes_max = limits.total_bytes_max;
  }

  /**
   * Reads a body. Rejects with BodyRefused: 413 too long, 503 no memory left, 400 when the sender
   * aborts. Call `release` when the body is no longer needed.
   */
  async read(
    source: Readable,
    content_length: number | null,
  ): Promise<{ body: Buffer; release: () => void }> {
    if (content_length !== null && content_length > this.#body_bytes_max)
      throw new BodyRefused(413);
    const chunks: Buffer[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const reading: Reading = { bytes: 0, cut: reject };
    this.#readings.add(reading);
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      reading.bytes += chunk.length;
      this.#total_bytes += chunk.length;
      if (reading.bytes > this.#body_bytes_max) reject(new BodyRefused(413));
      else if (this.#total_bytes > this.#total_bytes_max) this.#cutLongest();
    };
    // Every request closes; an error with its stack would cost more than reading the body.
    const onBroken = () => {
      if (!source.readableEnded) reject(new BodyRefused(400));
    };
    source.on('data', onData);
    source.once('end', resolve).once('error', onBroken).once('close', onBroken);
    const release = () => {
      this.#total_bytes -= reading.bytes;
      reading.bytes = 0;
    };
    try {
      await promise;
      return { body: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks), release };
    } catch (error) {
      release();
      throw error;
    } finally {
      this.#readings.delete(reading);
      source.off('data', onData);
      source.off('end', resolve).off('error', onBroken).off('close', onBroken);
    }
  }

  #cutLongest(): void {
    let longest: Reading | undefined;
    for (const reading of this.#readings)
      if (longest === undefined || reading.bytes > longest.bytes) longest = reading;
    longest?.cut(new BodyRefused(503));
  }
}
