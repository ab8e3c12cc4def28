import { constants, existsSync } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../domain/errors.ts';
import { inspectDatabase, isInstanceRunning } from '../../store/engine/database.ts';
import { bad, type CheckedLine, checked, fine } from './line.ts';

/** Enough for years of a clinic's answers, and for the room that SQLite needs meanwhile. */
const FREE_MEGABYTES_MIN = 500;

/** The database and the folder it lies in. Nothing is made or migrated. */
export async function checkState(path: string): Promise<CheckedLine[]> {
  return [
    ...(await checked('database', () => checkDatabase(path))),
    ...(await checked('daemon', () => [
      fine(
        'daemon',
        isInstanceRunning(path)
          ? 'A daemon is running on this database.'
          : 'No daemon is running on this database.',
      ),
    ])),
    ...(await checked('disk', () => checkDisk(path))),
  ];
}

async function checkDatabase(path: string): Promise<CheckedLine[]> {
  const folder = nearestFolder(dirname(path));
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = errorCode(error) ?? 'unknown';
    const what = `The folder ${folder} cannot be read and written (${code}).`;
    return [
      bad(
        'database',
        'configuration',
        what,
        'Let the user that eligd runs as own it, or change state.path.',
      ),
    ];
  }
  const found = inspectDatabase(path);
  if (found === 'absent')
    return [fine('database', `${path} is not there yet; the first start makes it.`)];
  if (found === 'behind')
    return [
      fine('database', `${path} is sound; the next start brings it to the form of this version.`),
    ];
  return [fine('database', `${path} is sound.`)];
}

async function checkDisk(path: string): Promise<CheckedLine[]> {
  const folder = nearestFolder(dirname(path));
  const { bavail, bsize } = await statfs(folder);
  const free_megabytes = Math.floor((bavail * bsize) / 1_000_000);
  const what = `${free_megabytes} MB are free on the disk of ${folder}.`;
  if (free_megabytes >= FREE_MEGABYTES_MIN) return [fine('disk', what)];
  return [
    bad(
      'disk',
      'failed',
      what,
      `Make room: at least ${FREE_MEGABYTES_MIN} MB, or eligd stops when the disk is full.`,
    ),
  ];
}

/** The folder itself, or the one above in which it would be made. */
function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}
