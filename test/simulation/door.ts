/**
 * A layer between eligd and its listening sockets: the HTTP server is the real one, and gets the
 * bytes of a request from a stream of the world, piece by piece and at the world's time. It opens
 * no port.
 */
import { Server } from 'node:net';
import { Duplex } from 'node:stream';
import { Life } from './machine.ts';
import type { Random } from './random.ts';
import { owners } from './scheduler.ts';

const opened = new Map<Server, Life>();

/** Patches node:net permanently; servers without an owner are not affected. */
export function watchDoors(): void {
  const { listen, close, address } = Server.prototype;
  Server.prototype.listen = function (this: Server, ...given: unknown[]) {
    const life = owners.getStore();
    if (!(life instanceof Life)) return Reflect.apply(listen, this, given);
    opened.set(this, life);
    life.doors.add(this);
    process.nextTick(() => this.emit('listening'));
    return this;
  } as typeof listen;
  Server.prototype.close = function (this: Server, told?: (error?: Error) => void) {
    const life = opened.get(this);
    if (life === undefined) return Reflect.apply(close, this, [told]);
    opened.delete(this);
    life.doors.delete(this);
    if (told !== undefined) this.once('close', () => told());
    process.nextTick(() => this.emit('close'));
    return this;
  } as typeof close;
  Server.prototype.address = function (this: Server) {
    return opened.has(this)
      ? { address: '127.0.0.1', family: 'IPv4', port: 8686 }
      : Reflect.apply(address, this, []);
  } as typeof address;
}

class Wire extends Duplex {
  readonly #onStatus: (status: number) => void;
  #said = '';

  constructor(onStatus: (status: number) => void) {
    super();
    this.#onStatus = onStatus;
    this.on('error', () => {});
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#said += chunk.toString('latin1');
    const status = /^HTTP\/1\.1 (\d{3}) [\s\S]*?\r\n\r\n/.exec(this.#said)?.[1];
    if (status !== undefined) this.#onStatus(Number(status));
    done();
  }
}

export type Knock = {
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  breaks_off: boolean;
};

const PATIENCE_MS = 15_000;

/**
 * Sends a request to a daemon. Calls `told` once with the status, or with null if no daemon
 * listened or no answer came.
 */
export function knock(
  life: Life | null,
  request: Knock,
  random: Random,
  told: (status: number | null) => void,
): void {
  const door = life === null ? undefined : [...life.doors][0];
  if (life === null || door === undefined) {
    told(null);
    return;
  }
  const { scheduler } = life.machine;
  let is_over = false;
  const end = (status: number | null) => {
    if (is_over) return;
    is_over = true;
    owners.exit(() => told(status));
    scheduler.after(1, () => wire.destroy(), life);
  };
  const wire = new Wire((status) => end(life.is_dead ? null : status));
  const { body, headers, path, breaks_off } = request;
  const lines = Object.entries({
    host: 'clinic.example',
    'content-length': String(body.length),
    ...headers,
  });
  const head =
    `POST ${path} ` +
    `HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  const bytes = Buffer.concat([Buffer.from(head, 'latin1'), body]);
  const middle = random.int(1, bytes.length - 1);
  const steps: [number, () => void][] = [
    [0, () => door.emit('connection', wire)],
    [random.int(1, 40), () => wire.push(bytes.subarray(0, middle))],
    [random.int(1, 860), () => (breaks_off ? wire.destroy() : wire.push(bytes.subarray(middle)))],
  ];
  // In order: a computer that was asleep also receives them in order.
  const next = () => {
    const step = steps.shift();
    if (step === undefined) return;
    const [delay_ms, take] = step;
    scheduler.after(
      delay_ms,
      () => {
        take();
        next();
      },
      life,
    );
  };
  next();
  scheduler.after(PATIENCE_MS, () => end(null), null);
}
