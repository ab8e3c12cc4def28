import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  checkNodeArchive,
  checkNodeProgram,
  type NodeChecksums,
} from '../../systemd/node-checksums.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const NAME = 'node-v1.2.3-linux-x64';

let folder: string;
let recorded: NodeChecksums;

/** An archive laid out as Node's makers publish theirs, with its checksums recorded. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eligd-node-'));
  mkdirSync(join(folder, NAME, 'bin'), { recursive: true });
  writeFileSync(join(folder, NAME, 'bin/node'), 'the program');
  pack();
  const sums = { archive: `${NAME}.tar.xz`, archive_sha256: sum(`${NAME}.tar.xz`) };
  const x64 = { ...sums, program_sha256: sum(`${NAME}/bin/node`) };
  recorded = {
    version: '1.2.3',
    source: 'a test',
    x64,
    arm64: { ...x64, archive: 'other.tar.xz' },
  };
});
afterEach(() => rmSync(folder, { recursive: true }));

function pack(): void {
  execFileSync('tar', ['-C', folder, '-cJf', join(folder, `${NAME}.tar.xz`), NAME]);
}

function sum(file: string): string {
  return createHash('sha256')
    .update(readFileSync(join(folder, file)))
    .digest('hex');
}

test('the program that npm installed is the published Node of that version', () => {
  const locked = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const { version } = JSON.parse(
    readFileSync(join(ROOT, 'systemd/node-checksums.json'), 'utf8'),
  ) as NodeChecksums;
  for (const machine of ['x64', 'arm64'])
    expect(locked.packages[`node_modules/node-linux-${machine}`].version).toBe(version);
  const machine = process.arch === 'arm64' ? 'arm64' : 'x64';
  checkNodeProgram(join(ROOT, `node_modules/node-linux-${machine}/bin/node`), machine);
});

test('a program with one byte changed is refused', () => {
  const program = join(folder, NAME, 'bin/node');
  checkNodeProgram(program, 'x64', recorded);
  writeFileSync(program, 'the Program');
  expect(() => checkNodeProgram(program, 'x64', recorded)).toThrow('Do not use it');
});

test('an archive with another checksum than the signed one is refused', () => {
  const archive = join(folder, `${NAME}.tar.xz`);
  expect(checkNodeArchive(archive, recorded)).toBe('x64');
  writeFileSync(join(folder, NAME, 'bin/node'), 'another program');
  pack();
  expect(() => checkNodeArchive(archive, recorded)).toThrow('signed');
});

test('a recorded program that is not in the signed archive is refused', () => {
  const archive = join(folder, `${NAME}.tar.xz`);
  recorded.x64.program_sha256 = '0'.repeat(64);
  expect(() => checkNodeArchive(archive, recorded)).toThrow('records');
});
