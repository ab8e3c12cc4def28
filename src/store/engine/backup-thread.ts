/**
 * Runs `writeBackup` in a thread: copying a large database takes seconds, and the event loop must
 * answer messages meanwhile.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { DatabaseKey, parseDatabaseKey } from '../../domain/database-key.ts';
import { EligdError, type ErrorKind } from '../../domain/errors.ts';
import { type CopyContent, writeBackup } from './backup.ts';
import { DamagedDatabase } from './damage.ts';
import { databaseKeys, useDatabaseKeys } from './keys.ts';

/** `keys`: in text form. */
type Job = { path: string; file: string; now: number; keys: string[] };
type ErrorDetails = { kind: ErrorKind; what: string; why: string; next: string };
type Outcome = { content: CopyContent } | { details: ErrorDetails; is_damaged: boolean };

/** Runs `writeBackup` without blocking the event loop. */
export async function writeBackupAside(
  path: string,
  file: string,
  now: number,
): Promise<CopyContent> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const written = databaseKeys().map((key) => key.reveal().join('\n'));
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { path, file, now, keys: written } satisfies Job,
  });
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', (code) => reject(new Error(`The backup thread ended with ${code}.`)));
  const outcome = await promise;
  if ('content' in outcome) return outcome.content;
  const { kind, ...details } = outcome.details;
  throw outcome.is_damaged ? new DamagedDatabase(kind, details) : new EligdError(kind, details);
}

if (!isMainThread && parentPort !== null) {
  const { path, file, now, keys } = workerData as Job;
  useDatabaseKeys(() => keys.map(parseDatabaseKey).filter((key) => key instanceof DatabaseKey));
  parentPort.postMessage(attempt(path, file, now));
}

function attempt(path: string, file: string, now: number): Outcome {
  try {
    return { content: writeBackup(path, file, now) };
  } catch (error) {
    if (error instanceof EligdError)
      return {
        details: { kind: error.kind, what: error.what, why: error.why, next: error.next },
        is_damaged: error instanceof DamagedDatabase,
      };
    throw error;
  }
}
