/** A Debian that systemd-nspawn boots with its own systemd, on a machine with any PID 1. */
import {
  type ChildProcess,
  type ExecFileSyncOptions,
  execFileSync,
  spawn,
  spawnSync,
} from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const SUITE = 'bookworm';
/** Additions to Debian's minimum; the package itself needs only systemd. */
const PACKAGES = ['systemd', 'systemd-sysv', 'dbus', 'libstdc++6', 'strace'];
/** Programs that this machine needs, each with its Debian package. */
const TOOLS = {
  debootstrap: 'debootstrap',
  'systemd-nspawn': 'systemd-container',
  unshare: 'util-linux',
  'dpkg-deb': 'dpkg',
};

export const CACHE =
  process.env.ELIGD_TEST_CACHE ?? join(homedir(), '.cache', 'eligd-test-systemd');

/** Installs missing programs from Debian; says what to do if that is not possible. */
export function installTools(): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new Error(
      'test:systemd boots a Debian, which needs Linux and root. Run it as root, or leave it to CI.',
    );
  const missing = Object.entries(TOOLS).filter(
    ([program]) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0,
  );
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name);
  console.log(`installing ${packages.join(', ')}`);
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const quiet: ExecFileSyncOptions = { env: environment, stdio: ['ignore', 'ignore', 'inherit'] };
  execFileSync('apt-get', ['update', '-qq'], quiet);
  execFileSync('apt-get', ['install', '-qq', '-y', '--no-install-recommends', ...packages], quiet);
}

/** The Debian that every machine starts from, made once and kept outside the repository. */
export function baseRoot(): string {
  const key = createHash('sha256')
    .update(JSON.stringify([SUITE, PACKAGES]))
    .digest('hex')
    .slice(0, 12);
  const root = join(CACHE, `debian-${SUITE}-${key}`);
  if (existsSync(root)) return root;
  mkdirSync(CACHE, { recursive: true, mode: 0o700 });
  const part = `${root}.part`;
  rmSync(part, { recursive: true, force: true });
  console.log(`making a Debian ${SUITE} in ${root}, once`);
  const include = `--include=${PACKAGES.join(',')}`;
  execFileSync('debootstrap', ['--variant=minbase', include, SUITE, part, ...mirror()], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  renameSync(part, root);
  return root;
}

/**
 * The package source of this machine, if it is a Debian of the same suite; otherwise debootstrap's
 * default.
 */
function mirror(): string[] {
  const { stdout } = spawnSync(
    'apt-get',
    ['indextargets', '--format', '$(SITE)', `Codename: ${SUITE}`],
    { encoding: 'utf8' },
  );
  const [site = ''] = (stdout ?? '').split('\n');
  return site === '' ? [] : [site];
}

export type Ran = { code: number; stdout: string; stderr: string };

export type Machine = {
  /** Runs a shell script as root inside; it may fail. */
  try: (script: string, environment?: Record<string, string>) => Ran;
  /** Runs a shell script as root inside and returns its output; throws if it fails. */
  run: (script: string, environment?: Record<string, string>) => string;
  /** Runs the script again until it succeeds; throws with its last output after `seconds`. */
  until: (what: string, script: string, seconds?: number) => Promise<string>;
  /** Copies a file of this machine to a path inside. */
  put: (file: string, to: string) => void;
  write: (path: string, content: string) => void;
  stop: () => Promise<void>;
};

/**
 * In its own mount namespace: its own cgroup in a cgroup2 hierarchy, its own /run, and the base
 * under a layer in memory that takes every change. The file $1/root is where it begins.
 */
const BOOT = `
set -eu
work=$1 base=$2 name=$3
mount --make-rprivate /
umount -R /sys/fs/cgroup 2>/dev/null || umount -l /sys/fs/cgroup || true
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs tmpfs /run
mount -t tmpfs -o mode=0755 tmpfs "$work"
mkdir "$work/upper" "$work/work" "$work/root"
mount -t overlay overlay -o "lowerdir=$base,upperdir=$work/upper,workdir=$work/work" "$work/root"
cgroup=/sys/fs/cgroup/$name
mkdir "$cgroup"
export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
( read -r self _ </proc/self/stat; echo "$self" >"$cgroup/cgroup.procs"
  # Without --system-call-filter=bpf, IPAddressDeny= and device filters would be ignored in silence.
  exec systemd-nspawn -q -D "$work/root" -M "$name" -b --register=no --keep-unit \\
    --console=pipe --private-network --system-call-filter=bpf
) || true
find "$cgroup" -depth -type d -exec rmdir {} +
`;

export async function bootMachine(base: string): Promise<Machine> {
  const work = mkdtempSync(join(tmpdir(), 'eligd-machine-'));
  const name = basename(work).toLowerCase();
  const outer = spawn('unshare', ['-m', 'bash', '-c', BOOT, 'boot', work, base, name], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  for (const stream of [outer.stdout, outer.stderr])
    stream.on('data', (text: Buffer) => void said.push(text.toString()));
  const ended = new Promise<void>((resolve) => outer.on('close', () => resolve()));
  const pid = await firstProcess(outer).catch((error: unknown) => {
    outer.kill('SIGKILL');
    throw new Error(`The machine did not boot: ${String(error)}\n${said.join('')}`);
  });
  const inside = (script: string, environment: Record<string, string>, input?: Buffer): Ran => {
    const { status, stdout, stderr } = spawnSync(
      'nsenter',
      ['-t', String(pid), '-a', '/bin/sh', '-c', script],
      {
        encoding: 'utf8',
        env: {
          PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
          DEBIAN_FRONTEND: 'noninteractive',
          ...environment,
        },
        input,
        maxBuffer: 256 * 1024 * 1024,
      },
    );
    return { code: status ?? 1, stdout, stderr };
  };
  const run: Machine['run'] = (script, environment = {}) => {
    const { code, stdout, stderr } = inside(script, environment);
    if (code !== 0) throw new Error(`"${script}" ended with ${code}:\n${stdout}${stderr}`);
    return stdout.trim();
  };
  const machine: Machine = {
    try: (script, environment = {}) => inside(script, environment),
    run,
    until: async (what, script, seconds = 30) => {
      const end = performance.now() + seconds * 1000;
      for (;;) {
        const { code, stdout, stderr } = inside(script, {});
        if (code === 0) return stdout.trim();
        if (performance.now() > end)
          throw new Error(
            `${what}: not within ${seconds} s. The last look said:\n${stdout}${stderr}`,
          );
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    },
    put: (file, to) => {
      const { code, stderr } = inside(`cat >'${to}'`, {}, readFileSync(file));
      if (code !== 0) throw new Error(stderr);
    },
    write: (path, content) => {
      const { code, stderr } = inside(`cat >'${path}'`, {}, Buffer.from(content));
      if (code !== 0) throw new Error(stderr);
    },
    stop: async () => {
      process.kill(pid, 'SIGKILL');
      await ended;
      rmSync(work, { recursive: true, force: true });
    },
  };
  await machine.until(
    'the boot',
    'systemctl is-system-running --wait >/dev/null || systemctl is-system-running | grep -q ' +
      'degraded',
    60,
  );
  return machine;
}

/**
 * PID 1 of the machine, as this one sees it: the first process with init's name below the one that
 * was started.
 */
async function firstProcess(outer: ChildProcess): Promise<number> {
  const end = performance.now() + 30_000;
  while (performance.now() < end && outer.exitCode === null) {
    for (const pid of descendants(outer.pid ?? 0)) {
      const is_first = /^NSpid:\t\d+\t1$/m.test(readProc(pid, 'status'));
      if (
        is_first &&
        readProc(pid, 'comm').trim() === 'systemd' &&
        existsSync(`/proc/${pid}/root/run/systemd/system`)
      )
        return pid;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('no systemd appeared below systemd-nspawn');
}

function descendants(pid: number): number[] {
  const children = readProc(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [...children, ...children.flatMap(descendants)];
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
