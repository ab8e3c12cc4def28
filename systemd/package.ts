/**
 * `npm run package`: builds dist/eligd_VERSION_ARCH.deb and dist/eligd-VERSION-linux-ARCH.tar.gz
 * from the working copy. They contain the Node runtime, the packages that run (none that only build
 * or test), their licenses, and a bill of materials.
 *
 *     node bin/with-node.mjs systemd/package.ts [--out FOLDER] [--version VERSION] [--quick]
 *                                               [--arch x64|arm64] [--sign KEY]
 *
 * `--sign` adds SHA256SUMS and SHA256SUMS.asc, signed with a key of this user's gpg (its ID or its
 * owner's address). `--quick` builds only the .deb, without compression, for tests. `--arch` builds
 * the package for another machine. Requires dpkg-deb, which every Debian and Ubuntu has. With
 * binutils, it strips Node's program, which makes the package 18 MB smaller.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type LockedPackage, writeBillOfMaterials } from './bill-of-materials.ts';
import { buildProgram, keptPackages } from './built-program.ts';
import { type Architecture, checkNodeProgram } from './node-checksums.ts';
import { copyPackage, removeSymbols } from './packed-files.ts';
import { sign } from './sign.ts';

const ROOT = resolve(import.meta.dirname, '..');
/** The parts of the working copy that run; tests, fixtures, and development tools are left out. */
const PROGRAM = [
  'connectors',
  'dist/contract',
  'config',
  'docs',
  'bin/eligd',
  'package.json',
  'README.md',
  'SECURITY.md',
];
const NOT_RUN = [
  /^connectors\/conformance(?:\/|$)/,
  // Built into JavaScript; templates are kept for reading.
  /^connectors\/(?!template)[^/]+\/(?!README\.md$)./,
  /^connectors\/(?!contract)[^/]+\.ts$/,
  // For modules that the contract imports, only the types are needed.
  /^dist\/contract\/(?!connectors\/contract\.js$).*\.js$/,
  /^config\/(?:eligd\.yaml|\.env|state|dropbox)/,
];
/**
 * The bytes that the package may take without Node's program, which takes 108.5 MB: a larger one
 * has files in it that no clinic's server needs.
 */
const BYTES_MAX = 15_900_000;
type Options = {
  out: string;
  version: string;
  is_quick: boolean;
  architecture: Architecture;
  sign_with: string | undefined;
};

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    version: { type: 'string' },
    quick: { type: 'boolean', default: false },
    arch: { type: 'string', default: process.arch },
    sign: { type: 'string' },
  },
});
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};
if (values.arch !== 'x64' && values.arch !== 'arm64')
  throw new Error(`--arch ${values.arch}: eligd runs on x64 and on arm64.`);
await makePackage({
  out: resolve(values.out ?? join(ROOT, 'dist')),
  version: values.version ?? manifest.version,
  is_quick: values.quick,
  architecture: values.arch,
  sign_with: values.sign,
});

async function makePackage(options: Options): Promise<void> {
  const { out, version, is_quick, architecture, sign_with } = options;
  const debian = architecture === 'arm64' ? 'arm64' : 'amd64';
  const work = mkdtempSync(join(tmpdir(), 'eligd-package-'));
  try {
    buildContract();
    const tree = join(work, `eligd-${version}`);
    await buildProgram(ROOT, join(tree, 'usr/lib/eligd'));
    stage(tree, { version, architecture, work });
    writeMaintainerFiles(tree, version, debian);
    checkSize(tree, architecture);
    mkdirSync(out, { recursive: true });
    const environment = { ...process.env, SOURCE_DATE_EPOCH: String(sourceDate()) };
    const deb = join(out, `eligd_${version}_${debian}.deb`);
    const compression = is_quick ? ['-Znone'] : ['-Zxz', '-z9', '-Sextreme'];
    execFileSync('dpkg-deb', ['--root-owner-group', ...compression, '--build', tree, deb], {
      env: environment,
      stdio: 'pipe',
    });
    console.log(deb);
    if (is_quick) {
      if (sign_with !== undefined) console.log(sign([deb], sign_with).join('\n'));
      return;
    }
    const tarball = join(out, `eligd-${version}-linux-${architecture}.tar.gz`);
    rmSync(join(tree, 'DEBIAN'), { recursive: true });
    const stable = [
      '--sort=name',
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      `--mtime=@${environment.SOURCE_DATE_EPOCH}`,
    ];
    execFileSync('tar', ['-C', work, ...stable, '-czf', tarball, basename(tree)]);
    console.log(tarball);
    if (sign_with !== undefined) console.log(sign([deb, tarball], sign_with).join('\n'));
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Builds `eligd/connector`, which connectors outside the tree import. */
function buildContract(): void {
  rmSync(join(ROOT, 'dist/contract'), { recursive: true, force: true });
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '--project', join(ROOT, 'tsconfig.contract.json')];
  execFileSync(process.execPath, args, { stdio: 'inherit' });
}

/**
 * Returns the commit's time in seconds since 1970: the same commit gives the same bytes at any
 * time.
 */
function sourceDate(): number {
  const { status, stdout } = spawnSync('git', ['-C', ROOT, 'log', '-1', '--format=%ct'], {
    encoding: 'utf8',
  });
  return status === 0 ? Number(stdout) : 0;
}

/** Copies everything to its path on the clinic's server. */
function stage(
  tree: string,
  { version, architecture, work }: { version: string; architecture: Architecture; work: string },
): void {
  const program = join(tree, 'usr/lib/eligd');
  for (const part of PROGRAM) {
    cpSync(join(ROOT, part), join(program, part), {
      recursive: true,
      filter: (from) => !NOT_RUN.some((pattern) => pattern.test(from.slice(ROOT.length + 1))),
    });
  }
  const packed = {
    ...(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>),
    version,
    // An installed program uses no configuration from the current folder (isInstalled in
    // src/ops/project.ts).
    installed: true,
  };
  writeFileSync(join(program, 'package.json'), `${JSON.stringify(packed, null, 2)}\n`);
  const packages = runningPackages(architecture);
  const kept = keptPackages(packages);
  for (const path of Object.keys(packages))
    if (path !== nodePackage(architecture))
      copyPackage(path, { root: ROOT, program, architecture, is_run: kept.has(path) });
  placeNode(program, { architecture, work, locked: packages[nodePackage(architecture)] });
  mkdirSync(join(program, 'node_modules/.bin'), { recursive: true });
  symlinkSync(`../node-linux-${architecture}/bin/node`, join(program, 'node_modules/.bin/node'));

  const put = (from: string, to: string, mode = 0o644) => {
    mkdirSync(dirname(join(tree, to)), { recursive: true });
    cpSync(join(ROOT, from), join(tree, to));
    chmodSync(join(tree, to), mode);
  };
  put('systemd/eligd.service', 'usr/lib/systemd/system/eligd.service');
  put('systemd/eligd-failed.service', 'usr/lib/systemd/system/eligd-failed.service');
  put('systemd/eligd.sysusers', 'usr/lib/sysusers.d/eligd.conf');
  put('systemd/eligd.tmpfiles', 'usr/lib/tmpfiles.d/eligd.conf');
  put('systemd/eligd.default', 'etc/default/eligd');
  // Only the header line: the payers in the example are made up.
  mkdirSync(join(tree, 'etc/eligd'));
  const [columns = ''] = readFileSync(join(ROOT, 'config/payers.example.csv'), 'utf8').split('\n');
  writeFileSync(join(tree, 'etc/eligd/payers.csv'), `${columns}\n`);
  put('config/prometheus/eligd-rules.yml', 'usr/share/doc/eligd/eligd-rules.yml');
  put('config/prometheus/eligd-dashboard.json', 'usr/share/doc/eligd/eligd-dashboard.json');
  put('docs/alerts.md', 'usr/share/doc/eligd/alerts.md');
  put('docs/systemd.md', 'usr/share/doc/eligd/README.md');
  put('SECURITY.md', 'usr/share/doc/eligd/SECURITY.md');
  mkdirSync(join(tree, 'usr/bin'), { recursive: true });
  symlinkSync('../lib/eligd/bin/eligd', join(tree, 'usr/bin/eligd'));
  writeShellFiles(tree);
  writeBillOfMaterials({
    root: ROOT,
    folder: join(tree, 'usr/share/doc/eligd'),
    version,
    made_at: sourceDate(),
    packages,
    installed: program,
  });
}

/** Returns the path of npm's Node for a machine, relative to the working copy. */
function nodePackage(architecture: Architecture): string {
  return `node_modules/node-linux-${architecture}`;
}

/** Writes the files that the program generates, so that they match its commands and options. */
function writeShellFiles(tree: string): void {
  const files = {
    man: 'usr/share/man/man1/eligd.1',
    bash: 'usr/share/bash-completion/completions/eligd',
    zsh: 'usr/share/zsh/vendor-completions/_eligd',
    fish: 'usr/share/fish/vendor_completions.d/eligd.fish',
  };
  for (const [form, file] of Object.entries(files)) {
    const program = [join(ROOT, 'src/main.ts'), 'completion', form];
    const text = execFileSync(process.execPath, program, { cwd: ROOT });
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), text);
  }
}

/**
 * Returns the installed packages that are not only for development, by path, with the Node of
 * `architecture` instead of this machine's.
 */
function runningPackages(architecture: Architecture): Record<string, LockedPackage> {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const isNode = (path: string) => /^node_modules\/node-linux-[^/]+$/.test(path);
  return Object.fromEntries(
    Object.entries(lock.packages).filter(([path, { dev }]) =>
      isNode(path)
        ? path === nodePackage(architecture)
        : path !== '' && dev !== true && existsSync(join(ROOT, path)),
    ),
  );
}

type NodeWanted = { architecture: Architecture; work: string; locked: LockedPackage | undefined };

/** Copies Node's program after checking that it is the published one, and removes its symbols. */
function placeNode(program: string, { architecture, work, locked }: NodeWanted): void {
  const path = nodePackage(architecture);
  const from = existsSync(join(ROOT, path))
    ? join(ROOT, path)
    : downloadNode(architecture, work, locked);
  checkNodeProgram(join(from, 'bin/node'), architecture);
  for (const file of ['bin/node', 'package.json', 'LICENSE']) {
    if (!existsSync(join(from, file))) continue;
    mkdirSync(dirname(join(program, path, file)), { recursive: true });
    cpSync(join(from, file), join(program, path, file));
  }
  removeSymbols(join(program, path, 'bin/node'), architecture);
}

/** Downloads the package for another machine, because npm has not installed it. */
function downloadNode(
  architecture: Architecture,
  work: string,
  locked: LockedPackage | undefined,
): string {
  if (locked?.integrity === undefined)
    throw new Error(`package-lock.json does not name node-linux-${architecture} with its sum.`);
  const name = `node-linux-${architecture}@${locked.version}`;
  execFileSync('npm', ['pack', name, '--silent', '--pack-destination', work], { stdio: 'pipe' });
  const archive = join(work, `node-linux-${architecture}-${locked.version}.tgz`);
  const sum = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (sum !== locked.integrity)
    throw new Error(`${name} from the registry has another sum than package-lock.json names.`);
  const folder = join(work, 'node');
  mkdirSync(folder);
  execFileSync('tar', ['-C', folder, '-xzf', archive]);
  return join(folder, 'package');
}

function writeMaintainerFiles(tree: string, version: string, architecture: string): void {
  const folder = join(tree, 'DEBIAN');
  mkdirSync(folder);
  const control = readFileSync(join(ROOT, 'systemd/debian/control'), 'utf8')
    .replace('@version@', version)
    .replace('@architecture@', architecture)
    .replace('@size@', String(Math.ceil(bytesOf(tree) / 1024)));
  writeFileSync(join(folder, 'control'), control);
  writeFileSync(join(folder, 'conffiles'), '/etc/default/eligd\n/etc/eligd/payers.csv\n');
  for (const script of ['postinst', 'prerm', 'postrm']) {
    cpSync(join(ROOT, 'systemd/debian', script), join(folder, script));
    chmodSync(join(folder, script), 0o755);
  }
  // The modes must not depend on the umask of the user who runs this.
  execFileSync('chmod', ['-R', 'u+rwX,go+rX,go-w', tree]);
}

function checkSize(tree: string, architecture: Architecture): void {
  const program = join(tree, 'usr/lib/eligd');
  const bytes = bytesOf(tree) - bytesOf(join(program, nodePackage(architecture), 'bin/node'));
  if (bytes <= BYTES_MAX) return;
  const largest = ['node_modules', '.']
    .flatMap((folder) => readdirSync(join(program, folder)).map((name) => join(folder, name)))
    .map((name) => ({ name, bytes: bytesOf(join(program, name)) }))
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, 8);
  console.error(
    `eligd: without Node, the package takes ${bytes} bytes; at most ${BYTES_MAX} are intended. ` +
      'systemd/packed-files.ts selects the files. The largest:\n' +
      largest.map((each) => `  ${each.bytes}  ${each.name}`).join('\n'),
  );
  process.exitCode = 1;
}

/** Adds up the files only: the size of folders and blocks differs on every disk. */
function bytesOf(path: string): number {
  if (!statSync(path).isDirectory()) return statSync(path).size;
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  );
  return files.reduce(
    (sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size,
    0,
  );
}
