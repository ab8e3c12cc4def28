/**
 * `npm run node-checksums`: compares the Node program that npm installed with the checksum of the
 * program in the archive that the Node project publishes (`node-checksums.json`).
 *
 *     node bin/with-node.mjs systemd/node-checksums.ts [--archive FILE]
 *
 * `--archive` proves the origin of that checksum: the archive, downloaded from Node's own site,
 * must have the checksum that Node's releasers signed, and its program must have the recorded one.
 * Do this for each new version and both machines before you record its checksums.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = resolve(import.meta.dirname, '..');

/** Node's names for the machines that eligd is packaged for. */
export type Architecture = 'x64' | 'arm64';

/** SHA-256 sums in hexadecimal: of the archive that Node publishes, and of `bin/node` in it. */
export type NodeChecksums = {
  version: string;
  /** The source of the archive's sum. */
  source: string;
} & Record<Architecture, { archive: string; archive_sha256: string; program_sha256: string }>;

const RECORDED = JSON.parse(
  readFileSync(join(ROOT, 'systemd/node-checksums.json'), 'utf8'),
) as NodeChecksums;

/**
 * Throws if `program` is not the Node program published for `architecture`, because it is another
 * version or was changed.
 */
export function checkNodeProgram(
  program: string,
  architecture: Architecture,
  recorded: NodeChecksums = RECORDED,
): void {
  const found = sha256(readFileSync(program));
  const { program_sha256, archive } = recorded[architecture];
  if (found === program_sha256) return;
  throw new Error(
    `${program} is not the program in ${archive} published by Node: its SHA-256 is ` +
      `${found}, but ${program_sha256} is recorded. Do not use it. After a change of Node's ` +
      'version, record the new checksums in systemd/node-checksums.json (see docs/systemd.md).',
  );
}

/**
 * Throws if the file `path` is not the archive signed by Node's releasers, or contains another
 * program than the recorded one. Returns the archive's machine.
 */
export function checkNodeArchive(path: string, recorded: NodeChecksums = RECORDED): Architecture {
  const machines: Architecture[] = ['x64', 'arm64'];
  const architecture = machines.find((each) => recorded[each].archive === basename(path));
  if (architecture === undefined)
    throw new Error(
      `${path}: systemd/node-checksums.json names ${machines
        .map((each) => recorded[each].archive)
        .join(' and ')}.`,
    );
  const { archive, archive_sha256, program_sha256 } = recorded[architecture];
  const found = sha256(readFileSync(path));
  if (found !== archive_sha256)
    throw new Error(`${path} has the SHA-256 ${found}; Node's makers signed ${archive_sha256}.`);
  const folder = archive.replace(/\.tar\.xz$/, '');
  const program = sha256(
    execFileSync('tar', ['-xJOf', path, `${folder}/bin/node`], { maxBuffer: 512 * 1024 * 1024 }),
  );
  if (program !== program_sha256)
    throw new Error(
      `The program in ${path} has the SHA-256 ${program}; systemd/node-checksums.json records ` +
        `${program_sha256}.`,
    );
  return architecture;
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { archive: { type: 'string' } } });
  const architecture: Architecture = process.arch === 'arm64' ? 'arm64' : 'x64';
  try {
    if (values.archive !== undefined) {
      const machine = checkNodeArchive(values.archive);
      console.log(`${values.archive}: signed by Node's makers; its program (${machine}) too.`);
    }
    const program = join(ROOT, `node_modules/node-linux-${architecture}/bin/node`);
    checkNodeProgram(program, architecture);
    console.log(`Node ${RECORDED.version} (${architecture}) is as its makers published it.`);
  } catch (error) {
    console.error(`eligd: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
