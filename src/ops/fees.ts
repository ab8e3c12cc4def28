import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import { EligdError, errorCode } from '../domain/errors.ts';
import { type FeeSchedule, feeCode, NO_FEES } from '../domain/fees.ts';
import type { Config } from './config.ts';
import { readTrusted } from './trusted-files.ts';

const FEE_COLUMNS = ['code', 'payer', 'fee'] as const;
type Row = { line: number; values: Record<string, string> };

/**
 * Returns the path of the fee schedule: as configured, otherwise fees.csv next to the
 * configuration.
 */
export function feesPath({ policy, folder }: Pick<Config, 'policy' | 'folder'>): string {
  return policy.fees ?? join(folder, 'fees.csv');
}

/**
 * The result of a check for changes. `error`: the file cannot be used, and the fees stay the same.
 */
type FeeChange = { kind: 'same' } | { kind: 'changed' } | { kind: 'error'; error: EligdError };

/** The fee schedule of a running daemon, read again when the file changes. */
export class FeeFile implements FeeSchedule {
  readonly #config: Pick<Config, 'policy' | 'folder'>;
  #fees: FeeSchedule;
  #stamp: string;

  /** Throws like `readFees`. */
  constructor(config: Pick<Config, 'policy' | 'folder'>) {
    this.#config = config;
    this.#stamp = this.#look();
    this.#fees = readFees(config);
  }

  find(...asked: Parameters<FeeSchedule['find']>): ReturnType<FeeSchedule['find']> {
    return this.#fees.find(...asked);
  }

  refresh(): FeeChange {
    const stamp = this.#look();
    if (stamp === this.#stamp) return { kind: 'same' };
    this.#stamp = stamp;
    try {
      this.#fees = readFees(this.#config);
      return { kind: 'changed' };
    } catch (error) {
      if (error instanceof EligdError) return { kind: 'error', error };
      throw error;
    }
  }

  #look(): string {
    const found = statSync(feesPath(this.#config), { throwIfNoEntry: false });
    return found === undefined ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`;
  }
}

/** Reads the fee schedule. Throws when the configured file is missing or has errors. */
export function readFees(config: Pick<Config, 'policy' | 'folder'>): FeeSchedule {
  const file = feesPath(config);
  return config.policy.fees === null && !existsSync(file) ? NO_FEES : loadFees(file);
}

/** Reads fees.csv: `code`, `payer` (payor ID, name, or *), `fee`. Throws with every error. */
function loadFees(file: string): FeeSchedule {
  try {
    return parseFees(readTrusted(file, { role: 'fee schedule' }).toString('utf8'), file);
  } catch (error) {
    if (error instanceof EligdError) throw error;
    const code = errorCode(error);
    throw new EligdError('configuration', {
      what: `The fee schedule ${file} could not be read.`,
      why:
        code === 'ENOENT'
          ? 'There is no such file.'
          : `The system reported ${code ?? 'an unknown error'}.`,
      next: 'Correct policy.fees in the configuration, or put the file at that path.',
      cause: error,
    });
  }
}

/** Parses the text; `file` is only for errors. */
function parseFees(text: string, file: string): FeeSchedule {
  const problems: string[] = [];
  const fees = new Map<string, string>();
  for (const { line, values } of readRows(text, file)) {
    const code = feeCode(values.code ?? '');
    const payer = plain(values.payer ?? '') || '*';
    const fee = /^\$?\s*(\d{1,7}(?:,\d{3})*(?:\.\d{1,2})?)$/.exec(values.fee ?? '')?.[1];
    if (code === '') problems.push(`- line ${line}: it has no code.`);
    if (fee === undefined)
      problems.push(`- line ${line}: its fee is not an amount. Use dollars, such as 98.00.`);
    const key = `${code} ${payer}`;
    if (fees.has(key))
      problems.push(`- line ${line}: an earlier line has a fee for this code and payer.`);
    if (fee !== undefined) fees.set(key, fee.replaceAll(',', ''));
  }
  if (problems.length > 0) throw feesError(file, problems);
  return {
    find: (code, { payor_id, carrier }) =>
      fees.get(`${code} ${plain(payor_id)}`) ??
      fees.get(`${code} ${plain(carrier)}`) ??
      fees.get(`${code} *`) ??
      null,
  };
}

/** Normalizes case, punctuation, and spaces; `*` stays. An empty text matches no payer. */
function plain(payer: string): string {
  const text = payer.trim();
  if (text === '*') return '*';
  const name = text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  return name === '' ? '' : name;
}

function readRows(text: string, file: string): Row[] {
  try {
    const rows: { record: Row['values']; info: { lines: number } }[] = parse(text, {
      bom: true,
      columns: (header: string[]) => columnsOf(header, file),
      info: true,
      skip_empty_lines: true,
      trim: true,
    });
    return rows.map(({ record, info }) => ({ line: info.lines, values: record }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error.lines === 'number' ? `line ${error.lines}: ` : '';
    throw feesError(file, [
      `- ${line}it has a different number of columns than the first line, or its quotes do not ` +
        'match.',
    ]);
  }
}

function columnsOf(header: string[], file: string): string[] {
  const names = header.map((name) => name.trim().toLowerCase());
  const missing = FEE_COLUMNS.filter((column) => !names.includes(column));
  if (missing.length > 0)
    throw feesError(file, [`- line 1: the column ${missing.join(', ')} is missing.`]);
  return names;
}

function feesError(file: string, problems: string[]): EligdError {
  return new EligdError('configuration', {
    what:
      `The fee schedule ${file} has ` +
      `${problems.length === 1 ? 'an error' : `${problems.length} errors`}.`,
    why: problems.join('\n'),
    next: 'Fix the file, then run the command again. Its columns are code, payer, fee.',
  });
}
