/** Checks a drop folder for `eligd check`. Changes nothing. */
import { constants } from 'node:fs';
import { access, readdir, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../src/domain/errors.ts';
import type { CheckLine } from '../contract.ts';
import { type Folder, listFiles, PARTS } from './folder.ts';

const FREE_MEGABYTES_MIN = 200;

/** Returns the lines about access, free space, and the files that wait or were rejected. */
export async function checkFolder(folder: Folder): Promise<CheckLine[]> {
  const access_line = await checkAccess(folder);
  if (!access_line.ok) return [access_line];
  const lines = [access_line, await checkSpace(folder)];
  try {
    await stat(folder.inbox);
  } catch {
    return lines;
  }
  return [...lines, ...(await checkFiles(folder))];
}

async function checkAccess(folder: Folder): Promise<CheckLine> {
  try {
    const found = await stat(folder.root);
    if (!found.isDirectory())
      return {
        ok: false,
        what: 'The path in "folder:" is not a folder.',
        next: 'Set "folder:" in the configuration to a folder.',
      };
    await access(folder.root, constants.R_OK | constants.W_OK | constants.X_OK);
    if (process.platform !== 'win32' && (found.mode & 0o007) !== 0) {
      const next =
        'Run "chmod o-rwx" on the drop folder; give the PMS access as its owner or group.';
      return {
        ok: false,
        what: 'The drop folder holds patient data and is open to every user of this machine.',
        next,
      };
    }
    for (const part of PARTS) await accessIfThere(folder[part]);
    return { ok: true, what: 'eligd can read and write the drop folder.' };
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') return notWritable(error);
  }
  try {
    await access(dirname(folder.root), constants.W_OK | constants.X_OK);
    return {
      ok: true,
      what: 'The drop folder does not exist yet; eligd creates it when it starts.',
    };
  } catch (error) {
    return notWritable(error);
  }
}

async function accessIfThere(path: string): Promise<void> {
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

function notWritable(error: unknown): CheckLine {
  const code = errorCode(error) ?? 'unknown';
  const next =
    code === 'ENOENT'
      ? 'Create the folder above it, or correct "folder:". If it is on a network share, check ' +
        'that the share is mounted.'
      : 'Let the user that eligd runs as write to it and everything inside it.';
  return { ok: false, what: `The drop folder cannot be used (${code}).`, next };
}

async function checkSpace(folder: Folder): Promise<CheckLine> {
  try {
    const { bavail, bsize } = await statfs(folder.root).catch(() => statfs(dirname(folder.root)));
    const free = Math.floor((bavail * bsize) / 1_000_000);
    const what = `${free} MB are free on the disk of the drop folder.`;
    return free >= FREE_MEGABYTES_MIN
      ? { ok: true, what }
      : { ok: false, what, next: 'Free up space; you can delete old files in processed/.' };
  } catch (error) {
    return {
      ok: false,
      what: `The free space of the drop folder is unknown (${errorCode(error) ?? 'unknown'}).`,
      next: 'Check the disk and the network share.',
    };
  }
}

async function checkFiles(folder: Folder): Promise<CheckLine[]> {
  const lines: CheckLine[] = [];
  const inbox = await listFiles(folder.inbox);
  lines.push({
    ok: true,
    what: `${count(inbox.exports.length, 'file')} in inbox/.`,
  });
  if (inbox.unreadable.length > 0) {
    const next =
      'Let the user that eligd runs as read them. eligd does not follow links or folders.';
    lines.push({
      ok: false,
      what: `${count(inbox.unreadable.length, 'file')} in inbox/ cannot be read.`,
      next,
    });
  }
  if (inbox.other.length > 0) {
    const next = 'Only .csv, .txt and .tsv are read. Save spreadsheets as CSV.';
    lines.push({
      ok: false,
      what: `${count(inbox.other.length, 'file')} in inbox/ with a different extension.`,
      next,
    });
  }
  const left = await namesIn(folder.processing);
  const stuck = left.filter((name) => !name.startsWith('.')).length;
  if (stuck > 0)
    lines.push({
      ok: true,
      what: `${count(stuck, 'file')} in processing/; eligd reads them again in the next pass.`,
    });
  const rejected = (await namesIn(folder.rejected)).filter(
    (name) => !name.startsWith('.') && !name.endsWith('.reasons.csv'),
  ).length;
  if (rejected === 0) lines.push({ ok: true, what: 'No file in rejected/.' });
  else {
    const next =
      'Read the .reasons.csv next to each file, fix the file, put it into inbox/ again, and ' +
      'delete the rejected one.';
    lines.push({ ok: false, what: `${count(rejected, 'file')} in rejected/.`, next });
  }
  return lines;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
