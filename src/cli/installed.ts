/**
 * The service that the package installs on this machine, as commands see it: its files, its user,
 * its secrets.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'dotenv';
import { OWN_PROCESS } from '../ops/project.ts';
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
 * Whether root has called a command that would use the service's configuration: then the service's
 * user has to do the work.
 */
export function isForService(configFile: () => string): boolean {
  return (
    process.getuid?.() === 0 &&
    existsSync(INSTALLED.config_file) &&
    configFile() === INSTALLED.config_file
  );
}

/**
 * The program and its arguments that run eligd with `args` as the service's user. What root made in
 * its place (a backup, a database that was put back) the daemon could not read, and what root may
 * read says nothing of the daemon.
 */
export function asServiceUser(args: readonly string[]): [program: string, ...args: string[]] {
  return ['runuser', '-u', INSTALLED.user, '--', ...OWN_PROCESS, ...args];
}

/**
 * Carries a command out as the service's user, with what the unit gives the daemon, and gives its
 * exit code.
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
      // The record of who did what names who ran the command, and not the service's user.
      SUDO_USER: actorOf(environment),
      ELIGD_CONFIG: INSTALLED.config_file,
      ...serviceSecrets(stderr),
    },
    stdio: 'inherit',
  });
  // Ctrl-C reaches both; the command ends as it sees fit, and this process after it.
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

/** Log level, proxy, own CA: what an administrator has set for the daemon. */
export function serviceSettings(): Record<string, string> {
  const { environment_file } = INSTALLED;
  return existsSync(environment_file) ? parse(readFileSync(environment_file)) : {};
}

/**
 * The secrets that the unit hands to the daemon, by the names that they have in an environment. One
 * that cannot be had is told.
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

/** The folders and files outside of its own that the unit shows to the daemon. */
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
