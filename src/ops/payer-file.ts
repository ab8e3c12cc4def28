/** The payer map while eligd runs: read again when the file changes, and written by a command. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { EligdError, errorCode } from '../domain/errors.ts';
import type { PayerMap } from '../domain/policy.ts';
import type { Config } from './config.ts';
import {
  loadPayers,
  PAYER_COLUMNS,
  type PayerList,
  parsePayers,
  plainId,
  plainName,
  SHIPPED_ONLY,
} from './payers.ts';
import { requireTrusted } from './trusted-files.ts';

/**
 * The result of a check for changes. `error`: the file cannot be used, and the map stays the same.
 */
type PayerChange = { kind: 'same' } | { kind: 'changed' } | { kind: 'error'; error: EligdError };

/**
 * Returns the path of the payer map: as configured, otherwise payers.csv next to the configuration.
 */
export function payersPath({ policy, folder }: Pick<Config, 'policy' | 'folder'>): string {
  return policy.payers ?? join(folder, 'payers.csv');
}

/** Reads the installation's payer map. Throws when the configured file is missing or has errors. */
export function readPayers(config: Pick<Config, 'policy' | 'folder'>): PayerList {
  const file = payersPath(config);
  return config.policy.payers === null && !existsSync(file) ? SHIPPED_ONLY : loadPayers(file);
}

/** The payer map of a running daemon. */
export class PayerFile implements PayerMap {
  readonly #config: Pick<Config, 'policy' | 'folder'>;
  #list: PayerList;
  #stamp: string;

  /** Throws like `readPayers`. */
  constructor(config: Pick<Config, 'policy' | 'folder'>) {
    this.#config = config;
    this.#stamp = this.#look();
    this.#list = readPayers(config);
  }

  get prices(): PayerList['prices'] {
    return this.#list.prices;
  }

  find(...[payor_id, name]: Parameters<PayerMap['find']>): ReturnType<PayerMap['find']> {
    return this.#list.find(payor_id, name);
  }

  /** Returns a hash of the file's current content, to detect changes across a restart. */
  contentHash(): string {
    const file = payersPath(this.#config);
    const content = existsSync(file) ? readFileSync(file) : '';
    return createHash('sha256').update(content).digest('hex');
  }

  /** Reads the file again if it has changed since the last call. */
  refresh(): PayerChange {
    const stamp = this.#look();
    if (stamp === this.#stamp) return { kind: 'same' };
    this.#stamp = stamp;
    try {
      this.#list = readPayers(this.#config);
      return { kind: 'changed' };
    } catch (error) {
      if (error instanceof EligdError) return { kind: 'error', error };
      throw error;
    }
  }

  #look(): string {
    try {
      const stat = statSync(payersPath(this.#config), { throwIfNoEntry: false });
      return stat === undefined ? '' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
    } catch {
      return '';
    }
  }
}

/**
 * The new values for a line of the payer map, identified by the PMS's name for the payer, or by its
 * ID if the PMS has no name. Missing keys stay the same.
 */
type PayerLine = ({ pms_name: string } | { pms_id: string }) &
  Partial<Record<'carrier' | 'payor_id' | 'action' | 'phone_number', string>>;

/**
 * Writes a line of payers.csv: changes the line with this name or ID, or adds one. The other lines
 * keep their values. The file is replaced atomically. Throws when it cannot be written, and when
 * others can change it or its folder.
 */
export function writePayer(
  config: Pick<Config, 'policy' | 'folder' | 'file'>,
  line: PayerLine,
): void {
  const file = payersPath(config);
  requireTrusted(file, { role: 'payer map' });
  const before = existsSync(file) ? readFileSync(file, 'utf8') : `${PAYER_COLUMNS.join(',')}\n`;
  // Throws for a file with errors, and leaves it unchanged.
  parsePayers(before, file);
  const text = withLine(before, line);
  parsePayers(text, file);
  const { uid, gid } = statSync(existsSync(file) ? file : config.file);
  const mode = existsSync(file) ? statSync(file).mode & 0o777 : 0o640;
  const fresh = `${file}.new`;
  try {
    rmSync(fresh, { force: true });
    writeFileSync(fresh, text, { mode, flag: 'wx' });
    chmodSync(fresh, mode);
    if (process.getuid?.() === 0) chownSync(fresh, uid, gid);
    renameSync(fresh, file);
  } catch (error) {
    if (existsSync(fresh)) unlinkSync(fresh);
    throw new EligdError('failed', {
      what: `The payer map ${file} could not be written.`,
      why: `The system reported ${errorCode(error) ?? 'an unknown error'}.`,
      next: 'Run the command as a user who can write to it, such as root.',
      cause: error,
    });
  }
}

function withLine(text: string, line: PayerLine): string {
  const rows: string[][] = parse(text, { bom: true, skip_empty_lines: true, trim: true });
  const header = (rows[0] ?? []).map((name) => name.toLowerCase());
  for (const column of Object.keys(line)) {
    if (header.includes(column)) continue;
    header.push(column);
    for (const row of rows.slice(1)) row.push('');
  }
  const [key, plain, given] =
    'pms_name' in line
      ? (['pms_name', plainName, line.pms_name] as const)
      : (['pms_id', plainId, line.pms_id] as const);
  const at = header.indexOf(key);
  const same = rows.slice(1).find((row) => plain(row[at] ?? '') === plain(given));
  const changed = same ?? header.map(() => '');
  for (const [column, value] of Object.entries(line)) {
    if (same === undefined || column !== key) changed[header.indexOf(column)] = value;
  }
  const all = [header, ...rows.slice(1), ...(same === undefined ? [changed] : [])];
  return all.map((row) => `${row.map(cell).join(',')}\n`).join('');
}

function cell(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
