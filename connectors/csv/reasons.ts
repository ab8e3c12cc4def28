/**
 * The file next to a processed file that says what the office should fix. It names row and column,
 * never a value.
 */
import { type FileHandle, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { FieldProblem } from '../../src/domain/appointment.ts';
import { csvLines } from './cells.ts';
import { openNew, removeIfThere, syncDirectory } from './folder.ts';

const HEADER = ['row', 'column', 'value_class', 'remedy', 'row_used'];
const FLUSH_CHARS = 65_536;

/** Returns the name of the reasons file of a file with this name. */
const reasonsName = (name: string) => `${name}.reasons.csv`;

/**
 * Writes the rows' problems as they are found, under a temporary name in `processing/`, so that a
 * large file with a problem in every row does not fill the memory.
 */
export class ReasonsFile {
  count = 0;
  private readonly path: string;
  private handle: FileHandle | null = null;
  private is_begun = false;
  private pending: string[][] = [];
  private pending_chars = 0;

  constructor(directory: string, name: string) {
    this.path = join(directory, `.${reasonsName(name)}.tmp`);
  }

  /** `row_used`: whether the appointment was accepted despite the problem. */
  async add(position: string, problem: FieldProblem, row_used: boolean): Promise<void> {
    this.count += 1;
    const { field, value_class, remedy } = problem;
    const row = position.startsWith('row ') ? position.slice(4) : '';
    this.pending.push([row, field, value_class, remedy, row_used ? 'yes' : 'no']);
    this.pending_chars += field.length + value_class.length + remedy.length;
    if (this.pending_chars > FLUSH_CHARS) await this.flush();
  }

  /**
   * Moves the reasons next to their file. Without problems, there is no reasons file; a leftover of
   * an earlier file of that name is removed.
   */
  async publish(directory: string, name: string): Promise<void> {
    if (this.count === 0) {
      await this.discard();
      return removeIfThere(join(directory, reasonsName(name)));
    }
    await this.flush();
    await this.handle?.sync();
    await this.close();
    await rename(this.path, join(directory, reasonsName(name)));
    await syncDirectory(directory);
  }

  async discard(): Promise<void> {
    await this.close();
    await removeIfThere(this.path);
  }

  private async flush(): Promise<void> {
    this.handle ??= await openNew(this.path);
    const begin = this.is_begun ? '' : `\ufeff${csvLines([HEADER])}`;
    const text = begin + csvLines(this.pending);
    this.is_begun = true;
    this.pending = [];
    this.pending_chars = 0;
    await this.handle.write(text);
  }

  private async close(): Promise<void> {
    await this.handle?.close();
    this.handle = null;
  }
}
