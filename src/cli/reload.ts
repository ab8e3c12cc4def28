/** What a reload cannot change in a running process: it is refused, or needs a restart. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { EligdError } from '../domain/errors.ts';
import type { EventLevel } from '../domain/events.ts';
import type { Config } from '../ops/config.ts';
import { isModulePath } from '../ops/connectors.ts';
import { databaseKeysOf } from '../ops/database-keys.ts';
import { logLevel } from '../ops/log.ts';
import { LEVELS } from '../ops/log-sentences.ts';
import type { SecretSource } from '../ops/secrets.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What a reload compares: the files as they were read, and the version on the disk. */
type Settings = { config: Config; secrets: SecretSource; version: string };

/**
 * Throws an EligdError if the new settings have another database, or another key for it. A reload
 * happens unattended, and a database that does not know the calls stops them.
 */
export function requireSameDatabase(before: Settings, after: Settings): void {
  const path = after.config.state.path;
  if (path !== before.config.state.path)
    throw new EligdError('configuration', {
      what: `state.path is now ${path}.`,
      why: 'A reload keeps the database, which knows the calls that were made.',
      next:
        'To move it, stop eligd and move the file first. To use the new path, run "systemctl ' +
        'restart eligd".',
    });
  const ids = ({ secrets }: Settings) => databaseKeysOf(secrets).map(({ id }) => id);
  if (ids(before).join() !== ids(after).join())
    throw new EligdError('configuration', {
      what: 'ELIGD_DATABASE_KEY or ELIGD_DATABASE_KEY_PREVIOUS was changed.',
      why: 'A reload keeps the key, because the database is encrypted with it.',
      next:
        'Stop eligd, run "eligd database rekey" (or encrypt, or decrypt), then run "systemctl ' +
        'restart eligd".',
    });
}

/** Finds changes that only another process can apply. Holds what this process started with. */
export class RestartWatch {
  readonly #environment: Environment;
  readonly #version: string;
  /** The hash of each file when this process first used it. */
  readonly #loaded = new Map<string, string>();

  constructor(environment: Environment, { version, config }: Settings) {
    this.#environment = environment;
    this.#version = version;
    for (const { file } of this.#files(config)) this.#loaded.set(file, hashOf(file));
  }

  /** Returns a reason for each change that the reload from `before` to `after` did not apply. */
  reasons(before: Settings, after: Settings): string[] {
    const reasons = this.#files(after.config).flatMap(({ file, reason }) => {
      const now = hashOf(file);
      const then = this.#loaded.get(file);
      if (then === undefined) this.#loaded.set(file, now);
      return then === undefined || then === now ? [] : [reason];
    });
    if (after.version !== this.#version)
      reasons.push(`eligd ${after.version} is installed, but ${this.#version} runs.`);
    const wanted = after.config.log.level;
    const used = logLevel(wanted, this.#environment);
    if (wanted !== before.config.log.level && used !== wanted)
      reasons.push(
        `log.level is now ${wanted}, but ELIGD_LOG_LEVEL=${used} overrides it; remove it from ` +
          'the environment (/etc/default/eligd).',
      );
    return reasons;
  }

  /** Returns the files that a process reads only once. */
  #files(config: Config): { file: string; reason: string }[] {
    const authorities = this.#environment.NODE_EXTRA_CA_CERTS;
    const modules = config.connectors.filter(({ type }) => isModulePath(type));
    return [
      ...(authorities
        ? [{ file: authorities, reason: `NODE_EXTRA_CA_CERTS: ${authorities} was changed.` }]
        : []),
      ...modules.map(({ id, type }) => ({
        file: type,
        reason: `The module of the connector ${id} was changed: ${type}.`,
      })),
    ];
  }
}

function hashOf(file: string): string {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } catch {
    return '';
  }
}

/** Returns whether the first of two levels logs at least as much as the second. */
export function logsAsMuch(level: EventLevel, as: EventLevel): boolean {
  return LEVELS.indexOf(level) <= LEVELS.indexOf(as);
}
