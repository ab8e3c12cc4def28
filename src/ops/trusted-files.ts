/**
 * Checks which files eligd may trust. Anyone who can change the configuration, the payer map,
 * `.env`, a key, or a connector's module, or a folder on the path to one of them, decides where
 * patient data and secrets are sent, and which code runs as eligd's user. So each of these must
 * belong to root or to eligd's user, and no other user may be able to write there. Every reader of
 * such a file uses this check, and so does `eligd check`.
 */
import { lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, join, parse, resolve, sep } from 'node:path';
import { EligdError, errorCode } from '../domain/errors.ts';

type TrustedFile = {
  /** The kind of file, for errors: "configuration", "payer map". */
  role: string;
  /** Whether other users must not be able to read it either: it contains a secret or a key. */
  is_secret?: boolean;
};

/** A problem of a file, or of a folder on the path to it. */
type Distrust = {
  path: string;
  why: string;
  /** Null for a folder: it may have other uses, so eligd suggests no command that changes it. */
  command: string | null;
  is_changeable: boolean;
};

const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;
/** The number of links that Linux follows (path_resolution(7)). */
const LINKS_MAX = 40;

/** Returns the content of a trusted file. Throws an EligdError otherwise. */
export function readTrusted(file: string, use: TrustedFile): Buffer {
  requireTrusted(file, use);
  return readFileSync(file);
}

/**
 * Throws an EligdError that names every problem, with one command that fixes all of them. Ignores a
 * file that is missing or cannot be inspected; its reader reports that.
 */
export function requireTrusted(file: string, use: TrustedFile): void {
  const found = distrusted(file, use);
  if (found.length === 0) return;
  const lines = found.map(({ path, why }) => `${path} ${why}`);
  const may_be_changed = found.some(({ is_changeable }) => is_changeable);
  const danger = may_be_changed ? 'other users could have changed it' : 'other users can read it';
  throw new EligdError('configuration', {
    what: `eligd does not use the ${use.role} ${file}, because ${danger}.`,
    why: lines.length === 1 ? `${lines[0]}.` : `${lines.map((line) => `\n- ${line}`).join('')}\n`,
    next: `${may_be_changed ? 'Make sure that it contains what you wrote. ' : ''}${remedy(found)}`,
  });
}

function remedy(found: readonly Distrust[]): string {
  const commands = found.flatMap(({ command }) => command ?? []);
  const run = commands.length === 0 ? '' : `Run "${commands.join(' && ')}"`;
  if (commands.length === found.length) return `${run}, then run this command again.`;
  return (
    'Move it to a folder that only you and root can change, and use that path. ' +
    `${run === '' ? '' : `${run} first. `}Then run this command again.`
  );
}

/** Returns the problems as a list; empty: the file may be trusted. */
export function distrusted(file: string, { is_secret = false }: TrustedFile): Distrust[] {
  const user = process.geteuid?.();
  if (user === undefined) return []; // Windows stores permissions differently.
  const found: Distrust[] = [];
  for (const { path, stats, is_last } of wayTo(resolve(file))) {
    const mode = (stats.mode & 0o7777).toString(8);
    if (stats.uid !== 0 && stats.uid !== user) {
      found.push({
        path,
        why: `belongs to another user (user ID ${stats.uid})`,
        command: stats.isDirectory() ? null : `chown ${user} ${path}`,
        is_changeable: true,
      });
    } else if (stats.isSymbolicLink()) {
      // The mode of a link has no effect; its folder's mode decides who can replace it.
    } else if (is_last && is_secret && (stats.mode & forbiddenToRead(stats, user)) !== 0) {
      found.push({
        path,
        why: `contains secrets, and its mode is ${mode} instead of 600`,
        command: stats.isDirectory() ? null : `chmod 600 ${path}`,
        is_changeable: (stats.mode & OTHERS_WRITE) !== 0,
      });
    } else if ((stats.mode & OTHERS_WRITE) !== 0 && !isShared(stats)) {
      found.push({
        path,
        why: `can be changed by other users (its mode is ${mode})`,
        command: stats.isDirectory() ? null : `chmod go-w ${path}`,
        is_changeable: true,
      });
    }
  }
  return found;
}

/**
 * Returns the read permissions to refuse. Root passes a secret to the daemon through its group; for
 * every other owner, only the owner may read it.
 */
function forbiddenToRead(stats: Stats, user: number): number {
  return stats.uid === 0 && user !== 0 ? 0o037 : 0o077;
}

/**
 * Returns whether this is a folder such as /tmp, where users cannot rename or delete each other's
 * files.
 */
function isShared(stats: Stats): boolean {
  return stats.isDirectory() && (stats.mode & STICKY) !== 0;
}

type Step = { path: string; stats: Stats; is_last: boolean };

/** Returns every folder and link that the system follows to `file`, and the file. */
function wayTo(file: string): Step[] {
  const steps: Step[] = [];
  let links = 0;
  let path = parse(file).root;
  let names = namesOf(file);
  steps.push({ path, stats: lstatSync(path), is_last: names.length === 0 });
  while (names.length > 0) {
    const [name = '', ...rest] = names;
    const next = join(path, name);
    const stats = lookAt(next);
    if (stats === null) return steps;
    steps.push({ path: next, stats, is_last: rest.length === 0 && !stats.isSymbolicLink() });
    names = rest;
    if (!stats.isSymbolicLink()) {
      path = next;
      continue;
    }
    links += 1;
    if (links > LINKS_MAX) return steps;
    const target = resolve(dirname(next), readlinkSync(next));
    names = [...namesOf(target), ...rest];
    path = parse(target).root;
  }
  return unique(steps);
}

function namesOf(path: string): string[] {
  return path.split(sep).filter((name) => name !== '');
}

function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if (errorCode(error) === null) throw error;
    return null;
  }
}

/** Removes duplicates: a link leads through folders already seen. The file itself comes last. */
function unique(steps: readonly Step[]): Step[] {
  const seen = new Set<string>();
  return steps.filter(({ path }) => !seen.has(path) && seen.add(path));
}
