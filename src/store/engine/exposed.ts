import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { EligdError } from '../../domain/errors.ts';

/** Folders that a computer empties when it starts, or now and then. */
const EMPTIED_FOLDERS = ['/tmp', '/var/tmp', '/dev/shm', '/run'];

/**
 * The database holds patient data: neither it nor its folder may be open to other users of this
 * machine.
 */
export function refuseExposed(path: string): void {
  if (process.platform === 'win32') return;
  const folder = dirname(path);
  const isOpen = (each: string) => existsSync(each) && (statSync(each).mode & 0o077) !== 0;
  const mode = (each: string) => (statSync(each).mode & 0o777).toString(8);
  if (isOpen(folder))
    throw new EligdError('configuration', {
      what: `${folder} is open to other users of this machine, so eligd did not use it.`,
      why: `eligd keeps patient data in it, and its mode is ${mode(folder)} instead of 700.`,
      // Never a command that changes the folder: it may be /tmp, or serve other programs.
      next:
        `Give eligd its own folder: set state.path: ${ownPlace(path)}. ` +
        'eligd creates that folder. If there is already a database, stop eligd and move it ' +
        `there (every file whose name begins with ${basename(path)}).`,
    });
  if (isOpen(path))
    throw new EligdError('configuration', {
      what: `${path} is open to other users of this machine, so eligd did not use it.`,
      why: `It holds patient data, and its mode is ${mode(path)} instead of 600.`,
      next: `Run "chmod 600 ${path}".`,
    });
}

/** A folder in the one of `path`, or next to the configuration where that one is emptied. */
function ownPlace(path: string): string {
  const folder = dirname(path);
  return EMPTIED_FOLDERS.includes(folder)
    ? `./state/${basename(path)}`
    : join(folder, 'eligd', basename(path));
}
