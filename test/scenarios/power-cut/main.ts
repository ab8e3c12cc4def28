/**
 * `npm run power-cut`: the power fails while eligd commits appointments. The test shuts down an
 * ext4 file system in an image in the middle of writing, without a flush of its journal
 * (FS_IOC_SHUTDOWN with NOLOGFLUSH), and mounts it again; every acknowledged row must be there
 * (G3). A control run that does not wait for the disk must lose rows; otherwise the test did not
 * cut the power.
 *
 * Needs root, loop devices, mkfs.ext4, and perl. If one is missing, it says so and exits with 0.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { cuts: { type: 'string', default: '5' } } });
/** linux/fs.h: _IOR('X', 125, __u32), and the flag that leaves the journal unflushed. */
const FS_IOC_SHUTDOWN = 0x8004587d;
const NOLOGFLUSH = 2;

const folder = mkdtempSync(join(tmpdir(), 'eligd-power-cut-'));
const image = join(folder, 'image');
const mounted = join(folder, 'disk');
/** Everyone can read the root of a new file system, and eligd requires a folder of its own. */
const state = join(mounted, 'state');
const database = join(state, 'eligd.db');

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'pipe' });
const mount = () => run('mount', '-o', 'loop', image, mounted);
/** The kernel releases the files of a dead writer a moment later. */
function unmount(): void {
  for (
    let tries = 0;
    tries < 50 && spawnSync('mountpoint', ['-q', mounted]).status === 0;
    tries += 1
  ) {
    if (spawnSync('umount', [mounted]).status !== 0)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
}
const cut = () =>
  run(
    'perl',
    '-e',
    'open(my $d, "<", $ARGV[0]) or die $!; my $f = pack("L", $ARGV[2]); ioctl($d, $ARGV[1], ' +
      '$f) or die $!',
    mounted,
    String(FS_IOC_SHUTDOWN),
    String(NOLOGFLUSH),
  );

/** Null if the machine can do it; otherwise the reason. */
function obstacle(): string | null {
  if (process.platform !== 'linux')
    return `this is ${process.platform}, and only Linux has FS_IOC_SHUTDOWN`;
  if (process.getuid?.() !== 0) return 'it needs root, to mount an image';
  try {
    mkdirSync(mounted);
    run('truncate', '-s', '64M', image);
    run('mkfs.ext4', '-q', '-F', image);
    mount();
    cut();
    unmount();
    return null;
  } catch (error) {
    unmount();
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    return `an ext4 image cannot be mounted and shut down here (${said || String(error)})`;
  }
}

/**
 * One life of a writer that ends with the power. Returns what it acknowledged before the power
 * failed. It ignores output from the moment of the shutdown on: ext4 then refuses to map blocks,
 * but a flush that is in progress still succeeds. A real power cut does not do that, and the output
 * would not have arrived.
 */
async function writeUntilCut(
  synchronous: 'FULL' | 'OFF',
  first: number,
  after: number,
): Promise<number[]> {
  const writer = spawn(
    process.execPath,
    [join(import.meta.dirname, 'writer.ts'), database, synchronous, String(first)],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const acknowledged: number[] = [];
  let said = '';
  writer.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = new Promise<void>((resolve) => writer.on('close', () => resolve()));
  createInterface({ input: writer.stdout }).on('line', (line) => {
    if (line === 'ready') return;
    if (acknowledged.length === after) return;
    acknowledged.push(Number(line));
    if (acknowledged.length === after) cut();
  });
  const patience = setTimeout(() => writer.kill('SIGKILL'), 60_000);
  await ended;
  clearTimeout(patience);
  if (acknowledged.length < after)
    throw new Error(`The writer ended before the power went: ${said}`);
  return acknowledged;
}

/** The rows that are on the disk when the power is back. */
async function rows(): Promise<Set<number>> {
  unmount();
  mount();
  const read = spawnSync(process.execPath, [join(import.meta.dirname, 'reader.ts'), database], {
    encoding: 'utf8',
  });
  return new Set(read.status === 0 ? (JSON.parse(read.stdout) as number[]) : []);
}

async function main(): Promise<number> {
  const why_not = obstacle();
  if (why_not !== null) {
    console.log(`power cut: SKIPPED, ${why_not}`);
    return 0;
  }
  let all: number[] = [];
  mount();
  mkdirSync(state, { mode: 0o700 });
  run('sync', '-f', mounted);
  for (let count = 1; count <= Number(values.cuts); count += 1) {
    all = [
      ...all,
      ...(await writeUntilCut(
        'FULL',
        all.length + count * 10_000,
        20 + Math.floor(Math.random() * 150),
      )),
    ];
    const there = await rows();
    const missing = all.filter((number) => !there.has(number));
    console.log(
      `power cut ${count}: ${all.length} appointments acknowledged so far, ${missing.length} ` +
        'missing',
    );
    if (missing.length > 0) return 1;
  }
  rmSync(database);
  rmSync(`${database}-wal`, { force: true });
  const careless = await writeUntilCut('OFF', 0, 150);
  const there = await rows();
  const lost = careless.filter((number) => !there.has(number)).length;
  console.log(
    `power cut, control without flushing: ${careless.length} acknowledged, ${lost} missing`,
  );
  if (lost > 0) return 0;
  console.log('The control lost nothing, so the cut proves nothing.');
  return 1;
}

try {
  process.exitCode = await main().catch((error: unknown) => {
    console.error(error);
    return 1;
  });
} finally {
  unmount();
  rmSync(folder, { recursive: true, force: true });
}
