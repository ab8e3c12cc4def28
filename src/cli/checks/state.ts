import { constants, existsSync } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../domain/errors.ts';
import { HEALTH_QUESTIONS, type HealthQuestion } from '../../domain/health.ts';
import type { Config } from '../../ops/config.ts';
import { clinicTime, healthSettings } from '../../ops/health-text.ts';
import { payersForPrices } from '../../ops/prices.ts';
import { readHeartbeat } from '../../store/bookkeeping/heartbeat.ts';
import { inspectDatabase } from '../../store/engine/database.ts';
import { isInstanceRunning } from '../../store/engine/instance-lock.ts';
import { databaseKeys } from '../../store/engine/keys.ts';
import { readDatabase } from '../../store/engine/read-only.ts';
import { keyIdOfDatabase } from '../../store/engine/recode.ts';
import { readHealth } from '../../store/views/health.ts';
import { bad, type CheckedLine, checked, fine, skipped } from './line.ts';

const NEVER_RAN = 'The daemon has not run on this database yet.';

/** Enough for years of a clinic's answers, and for SQLite's temporary files. */
const FREE_MEGABYTES_MIN = 500;

/** Checks the database, its folder, and the daemon's health. Changes nothing. */
export async function checkState(config: Config, now: number): Promise<CheckedLine[]> {
  const { path } = config.state;
  const database = await checked('database', () => checkDatabase(path));
  const is_unusable = database.some(({ state }) => state === 'failed');
  return [
    ...database,
    ...(is_unusable
      ? [skipped('daemon', 'Not checked, because it depends on the database.')]
      : await checked('daemon', () => checkDaemon(config, now))),
    ...(await checked('disk', () => checkDisk(path))),
  ];
}

/** Checks the health questions of `eligd status`. Before the first start there are no answers. */
async function checkDaemon(config: Config, now: number): Promise<CheckedLine[]> {
  const { path } = config.state;
  if (inspectDatabase(path) !== 'current') return [fine('daemon', NEVER_RAN)];
  const health = await readDatabase(path, async (db) => {
    if ((await readHeartbeat(db)) === null && !isInstanceRunning(path)) return null;
    return (await readHealth(db, healthSettings(config, payersForPrices(config)), now)).health;
  });
  if (health === null) return [fine('daemon', NEVER_RAN)];
  // While the daemon is not running, most of the answers say only that.
  const questions = Object.keys(HEALTH_QUESTIONS) as HealthQuestion[];
  const asked = health.daemon.is === 'yes' ? questions : (['daemon', 'export', 'backup'] as const);
  return asked.map((question) => {
    const answer = health[question];
    const said = HEALTH_QUESTIONS[question];
    const part = 'daemon';
    if (answer.is === 'yes') return fine(part, `Yes, ${said}.`);
    if (answer.is === 'unknown') return skipped(part, `Unknown whether ${said}. ${answer.why}`);
    const { time_zone } = config.clinic;
    const since = answer.since === null ? '' : ` since ${clinicTime(answer.since, time_zone)}`;
    return bad(part, 'failed', `Not true${since} that ${said}. ${answer.why}`, answer.next);
  });
}

async function checkDatabase(path: string): Promise<CheckedLine[]> {
  const folder = nearestFolder(dirname(path));
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = errorCode(error) ?? 'unknown';
    const what = `eligd cannot read and write the folder ${folder} (${code}).`;
    return [
      bad(
        'database',
        'configuration',
        what,
        'Make the user that eligd runs as its owner, or change state.path.',
      ),
    ];
  }
  const found = inspectDatabase(path);
  if (found === 'absent')
    return [fine('database', `${path} does not exist yet; the first start creates it.`)];
  if (found === 'behind')
    return [fine('database', `${path} is sound; the next start upgrades it to this version.`)];
  return [fine('database', `${path} is sound${encryptionWords(keyIdOfDatabase(path))}.`)];
}

function encryptionWords(key_id: string | null): string {
  if (key_id === null) return '';
  const is_current = key_id === databaseKeys()[0]?.id;
  return is_current
    ? ' and encrypted'
    : ', and encrypted with the previous key: run "eligd database rekey"';
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
      `Free up at least ${FREE_MEGABYTES_MIN} MB; eligd stops when the disk is full.`,
    ),
  ];
}

/** Returns the folder, or if it does not exist, the nearest existing folder above it. */
function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}
