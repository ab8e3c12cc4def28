/**
 * A computer at the clinic, with its clock, its disk, and the daemons that run on it one after
 * another.
 */
import { chmodSync, copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Connector } from '../../connectors/contract.ts';
import { createDaemon, type Daemon } from '../../src/daemon/index.ts';
import type { Env, LogFields } from '../../src/domain/env.ts';
import { EligdError } from '../../src/domain/errors.ts';
import type { EventName } from '../../src/domain/events.ts';
// The daemon loads it when needed, which takes real time, so the world must wait.
import '../../src/http/server.ts';
import type { Config } from '../../src/ops/config.ts';
import { type SecretSource, serviceCredentials } from '../../src/ops/secrets.ts';
import { Network, type World } from './network.ts';
import { Random } from './random.ts';
import { type Owner, owners, type Scheduler } from './scheduler.ts';
import { Broken } from './story.ts';

/** A clean stop must take at most this long. */
export const STOP_MS_MAX = 10_000;

export class Machine {
  readonly name: string;
  readonly world: World;
  readonly scheduler: Scheduler;
  readonly path: string;
  /** How far its clock is ahead of the true time. */
  clock_ahead_ms = 0;
  /** How far its boot clock is behind the true time: a snapshot brings the older value back. */
  boot_clock_behind_ms = 0;
  asleep_until = 0;
  disk_full_until = 0;
  life: Life | null = null;
  lives = 0;
  config: Config;
  readonly secrets: SecretSource;
  is_removed = false;
  readonly random: Random;
  readonly counts = {
    crashes: 0,
    stops: 0,
    starts: 0,
    disk_full: 0,
    by_point: new Map<string, number>(),
  };
  readonly #starts: Promise<void>[] = [];

  constructor(world: World, name: string, folder: string, config: Config, secrets: SecretSource) {
    this.world = world;
    this.scheduler = world.scheduler;
    this.name = name;
    this.path = join(folder, `${name}.db`);
    this.config = { ...config, state: { path: this.path } };
    this.secrets = secrets;
    this.random = new Random(world.plan.seed, `machine ${name}`);
  }

  isDiskFull(): boolean {
    return this.scheduler.now < this.disk_full_until;
  }

  wallNow(): number {
    return Math.round(this.scheduler.now + this.clock_ahead_ms);
  }

  tell(text: string, about: readonly string[] = []): void {
    this.world.story.tell(this.scheduler.now, this.name, text, about);
  }

  /** Starts a daemon on the existing state; it runs until it dies or stops. */
  start(onEnded: () => void): void {
    if (this.life !== null) throw new Error('One is running.');
    this.lives += 1;
    this.counts.starts += 1;
    const life = new Life(this, this.lives);
    this.life = life;
    life.onEnded = onEnded;
    this.tell(`daemon ${life.number} starts`);
    this.#starts.push(owners.run(life, () => life.run()));
  }

  /** Whether a daemon could start; for states that it must refuse. */
  async tryStart(): Promise<EligdError | null> {
    const life = new Life(this, 0);
    // The test is about the refusal, not about a crash.
    life.defuse();
    const started = owners.run(life, () => life.open());
    let error: unknown = null;
    let is_over = false;
    started.then(
      () => {
        is_over = true;
      },
      (reason: unknown) => {
        is_over = true;
        error = reason;
      },
    );
    for (let turns = 0; turns < 200 && !is_over; turns += 1)
      await this.scheduler.pass(this.scheduler.now);
    life.die();
    if (error !== null && !(error instanceof EligdError)) throw error;
    return error as EligdError | null;
  }

  backup(to: string): void {
    if (!existsSync(this.path)) return;
    rmSync(to, { force: true });
    const raw = new Database(this.path);
    try {
      raw.exec(`VACUUM INTO '${to}'`);
      // Patient data: eligd refuses a database that others may read.
      chmodSync(to, 0o600);
    } finally {
      raw.close();
    }
  }

  /** What the boot clock shows; it never jumps while the machine runs. */
  awakeMs(): number {
    return this.scheduler.now - this.boot_clock_behind_ms;
  }

  /** Replaces the database of this machine with another one; null: none. */
  replaceState(from: string | null): void {
    for (const ending of ['', '-wal', '-shm']) rmSync(this.path + ending, { force: true });
    if (from !== null && existsSync(from)) copyFileSync(from, this.path);
  }

  /**
   * Overwrites half of one page, the last one whose damage a check of the whole file finds, as a
   * dying disk does: what a start reads may be sound. Returns the bytes that must still be there
   * after a refusal.
   */
  damage(): Buffer | null {
    if (!existsSync(this.path)) return null;
    const sound = readFileSync(this.path);
    for (let page = Math.floor(sound.length / 4096) - 1; page > 1; page -= 1) {
      const damaged = Buffer.from(sound).fill(0xa5, page * 4096, page * 4096 + 2048);
      writeFileSync(this.path, damaged);
      if (isDamaged(this.path)) return damaged;
    }
    writeFileSync(this.path, sound);
    return null;
  }
}

/** Whether SQLite finds damage in a database that nobody has open. */
function isDamaged(path: string): boolean {
  const raw = new Database(path, { readonly: true });
  try {
    return raw.pragma('quick_check(1)', { simple: true }) !== 'ok';
  } catch {
    return true;
  } finally {
    raw.close();
  }
}

/** The oracle asks the same things again and again. */
class Reader extends Database {
  readonly #known = new Map<string, Database.Statement>();

  override prepare(text: string): never {
    const statement = this.#known.get(text) ?? super.prepare(text);
    this.#known.set(text, statement);
    return statement as never;
  }
}

/**
 * One daemon, from its start to its death. All its actions pass through here; after its death, they
 * have no effect.
 */
export class Life implements Owner {
  readonly machine: Machine;
  readonly number: number;
  is_dead = false;
  /** When the disk was last too full for one of its statements. */
  refused_at: number | null = null;
  readonly connections = new Set<Database.Database>();
  /** The servers at which it listens. */
  readonly doors = new Set<Server>();
  readonly network: Network;
  readonly #stop = new AbortController();
  #daemon: Daemon | null = null;
  #reader: Database.Database | null = null;
  /** Points of interaction left before the crash. */
  #fuse: number;
  readonly #random: Random;
  readonly #started_at: number;
  onEnded: () => void = () => {};

  constructor(machine: Machine, number: number) {
    this.machine = machine;
    this.number = number;
    this.#random = new Random(machine.world.plan.seed, `life ${machine.name} ${number}`);
    this.#fuse = machine.world.drawFuse(machine);
    this.network = new Network(machine.world, this);
    this.#started_at = machine.scheduler.now;
  }

  wallNow(): number {
    return this.machine.wallNow();
  }

  awakeAt(): number {
    return this.machine.asleep_until;
  }

  /** A moment at which the process may die. True: it just died. */
  point(kind: string): boolean {
    if (this.is_dead) return true;
    this.#fuse -= 1;
    if (this.#fuse > 0) return false;
    const { by_point, ...counts } = this.machine.counts;
    by_point.set(kind, (by_point.get(kind) ?? 0) + 1);
    this.machine.counts.crashes = counts.crashes + 1;
    this.machine.tell(`daemon ${this.number} is killed (at a ${kind})`);
    this.die();
    return true;
  }

  /** Refuses one of its statements, because the disk is full. */
  refuse(): void {
    this.refused_at = this.machine.scheduler.now;
    this.machine.counts.disk_full += 1;
  }

  defuse(): void {
    this.#fuse = Number.MAX_SAFE_INTEGER;
  }

  /**
   * The process is gone at once: its open transactions are lost, its locks are free, and requests
   * that it sent may still arrive.
   */
  die(): void {
    if (this.is_dead) return;
    this.is_dead = true;
    for (const connection of this.connections) connection.close();
    for (const door of this.doors) door.close();
    if (this.machine.life === this) this.machine.life = null;
    this.network.abandon();
    owners.exit(() => this.onEnded());
  }

  async open(): Promise<Daemon> {
    const { config, secrets, world } = this.machine;
    this.#daemon = await createDaemon({
      config,
      credentials: serviceCredentials(secrets, config.service.auth),
      secrets,
      env: this.#env(),
      version: '0.0.0',
      idle_ms: world.plan.config.idle_ms,
      dispatcher: this.network,
    });
    return this.#daemon;
  }

  async run(): Promise<void> {
    try {
      const daemon = await this.open();
      await daemon.run(this.#stop.signal);
      await daemon.close();
      if (this.is_dead) return;
      this.machine.tell(`daemon ${this.number} has stopped`);
      this.machine.counts.stops += 1;
      this.die();
    } catch (error) {
      if (this.is_dead) return;
      const { machine } = this;
      if (machine.isDiskFull()) {
        machine.tell(`daemon ${this.number} could not start: the disk is full`);
        this.die();
        return;
      }
      machine.world.fail(
        error instanceof Broken
          ? error
          : new Broken(
              'run',
              'The daemon ended on its own: ' +
                `${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
            ),
      );
    }
  }

  /**
   * The oracle's connection, which exists as long as the daemon does; null while no database
   * exists.
   */
  reader(): Database.Database | null {
    if (this.#reader === null && existsSync(this.machine.path)) {
      this.#reader = new Reader(this.machine.path);
      this.connections.add(this.#reader);
    }
    return this.#reader;
  }

  stop(): void {
    const { machine } = this;
    machine.tell(`daemon ${this.number} is told to stop`);
    const asked_at = machine.scheduler.now;
    this.#stop.abort();
    machine.scheduler.after(
      STOP_MS_MAX,
      () => {
        if (this.is_dead || machine.asleep_until > asked_at) return;
        machine.world.fail(
          new Broken(
            'stop',
            `The daemon had not stopped ${STOP_MS_MAX / 1000} seconds after it was told to.`,
          ),
        );
      },
      null,
    );
  }

  connector(): Connector {
    return this.machine.world.pms.connector(this);
  }

  #env(): Env {
    const { scheduler, world } = this.machine;
    return {
      clock: {
        now: () => this.wallNow(),
        elapsed: () => scheduler.now - this.#started_at,
        sleep: (duration_ms, signal) => {
          const { promise, resolve, reject } = Promise.withResolvers<void>();
          if (signal?.aborted) {
            reject(signal.reason);
            return promise;
          }
          const cancel = scheduler.after(
            duration_ms,
            () => {
              signal?.removeEventListener('abort', onAbort);
              resolve();
            },
            this,
          );
          const onAbort = () => {
            cancel();
            reject(signal?.reason);
          };
          signal?.addEventListener('abort', onAbort, { once: true });
          return promise;
        },
      },
      random: () => this.#random.next(),
      boot: () => ({ id: this.machine.name, awake_ms: this.machine.awakeMs() }),
      log: (event: EventName, fields: LogFields = {}) => {
        if (!this.is_dead) world.onLog(this, event, fields);
      },
    };
  }
}
