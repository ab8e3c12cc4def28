/** The installed service as commands see it: its files, its user, its secrets. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'dotenv';
import { OWN_PROCESS } from '../ops/project.ts';
import { readTrusted } from '../ops/trusted-files.ts';
import { actorOf } from './actor.ts';
import type { Host, Output } from './context.ts';

export const INSTALLED = {
  user: 'eligd',
  config_file: '/etc/eligd/eligd.yaml',
  credentials: '/etc/eligd/credentials',
  drop_in: '/etc/systemd/system/eligd.service.d/clinic.conf',
  environment_file: '/etc/default/eligd',
  state_path: '/var/lib/eligd/eligd.db',
  drop_folder: '/srv/eligd',
} as const;

/**
 * Returns whether root called a command that would use the service's configuration. Then the
 * command must run as the service's user.
 */
export function isForService(configFile: () => string): boolean {
  return (
    process.getuid?.() === 0 &&
    existsSync(INSTALLED.config_file) &&
    configFile() === INSTALLED.config_file
  );
}

/**
 * Returns the program and arguments that run eligd with `args` as the service's user. The daemon
 * could not read files that root creates (a backup, a restored database), and what root can read
 * proves nothing about the daemon.
 */
export function asServiceUser(args: readonly string[]): [program: string, ...args: string[]] {
  return ['runuser', '-u', INSTALLED.user, '--', ...OWN_PROCESS, ...args];
}

/**
 * Runs a command as the service's user, with the environment that the unit gives the daemon, and
 * returns its exit code.
 */
export async function carryOutForService(
  args: readonly string[],
  { environment, stderr }: Pick<Host, 'environment' | 'stderr'>,
): Promise<number> {
  const [program, ...rest] = asServiceUser(args);
  const child = spawn(program, rest, {
    env: {
      ...serviceSettings(),
      ...environment,
      // The audit trail names the person who ran the command, not the service's user.
      SUDO_USER: actorOf(environment),
      ELIGD_CONFIG: INSTALLED.config_file,
      ...serviceSecrets(stderr),
    },
    stdio: 'inherit',
  });
  // Ctrl-C reaches both processes; the command decides how to end, and this process ends after it.
  const wait = () => {};
  const pass = () => void child.kill('SIGTERM');
  process.on('SIGINT', wait).on('SIGTERM', pass);
  try {
    return await new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve(code ?? 1));
    });
  } finally {
    process.off('SIGINT', wait).off('SIGTERM', pass);
  }
}

/** Returns the administrator's settings for the daemon: log level, proxy, own CA. */
export function serviceSettings(): Record<string, string> {
  const { environment_file } = INSTALLED;
  if (!existsSync(environment_file)) return {};
  return parse(readTrusted(environment_file, { role: 'settings of the service' }));
}

/**
 * Returns the secrets that the unit passes to the daemon, by their names in an environment. Reports
 * each one that cannot be read.
 */
export function serviceSecrets(to: Output): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, encrypted, name = '', file = ''] of dropInValues(
    /^LoadCredential(Encrypted)?=([\w.-]+):(\S+)$/gm,
  )) {
    const value = encrypted === undefined ? readIfThere(file) : decrypted(name, file);
    if (value !== null) found[`ELIGD_${name.toUpperCase()}`] = value.replace(/\r?\n$/, '');
    else {
      to.write(
        `eligd: The secret in ${file} cannot be read: it is missing, was changed, or was ` +
          `encrypted on another machine or under another name.\n` +
          `Write it again: systemd-ask-password | sudo systemd-creds encrypt --name=${name} - ` +
          `${file}\n`,
      );
    }
  }
  return found;
}

/** Returns the folders and files outside its own that the unit makes visible to the daemon. */
export function foldersShown(): string[] {
  return dropInValues(/^Bind(?:ReadOnly)?Paths=(.*)$/gm).flatMap(([, value = '']) =>
    [...value.matchAll(/"((?:\\.|[^"\\])*)"|(\S+)/g)].map(([, quoted, plain]) => {
      const [from = '', to = from] = (quoted ?? plain ?? '')
        .replaceAll(/\\(.)/g, '$1')
        .replaceAll('%%', '%')
        .split(':');
      return to.replace(/^-/, '');
    }),
  );
}

function dropInValues(line: RegExp): RegExpExecArray[] {
  const folder = dirname(INSTALLED.drop_in);
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((name) => name.endsWith('.conf'));
  return files.flatMap((name) => [...readFileSync(join(folder, name), 'utf8').matchAll(line)]);
}

function readIfThere(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

function decrypted(name: string, file: string): string | null {
  const { status, stdout } = spawnSync('systemd-creds', ['decrypt', `--name=${name}`, file, '-'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return status === 0 ? stdout : null;
}
