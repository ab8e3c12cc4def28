#!/usr/bin/env node
// Runs `node ARGS…` with the project's own Node 24 package. Installs the packages first if they are
// missing or differ from package-lock.json. It also works on old versions of Node, because the
// host's Node starts it; the shell finds that Node before any script can change the PATH.
//
//   node bin/with-node.mjs [--no-install] FILE [ARGS…]
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bundled_node = join(root, 'node_modules', '.bin', 'node');
const args = process.argv.slice(2);
const may_install = args[0] !== '--no-install';
if (!may_install) args.shift();

/** Returns whether every installed package matches the lockfile, and no required one is missing. */
function packages_match_lockfile() {
  let wanted, installed;
  try {
    wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
    installed = JSON.parse(
      readFileSync(join(root, 'node_modules', '.package-lock.json'), 'utf8'),
    ).packages;
  } catch {
    return false;
  }
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const found = installed[path];
    return found === undefined ? entry.optional === true : found.version === entry.version;
  });
}

/** Removes the secrets of eligd, which npm must not see. */
function without_secrets(environment) {
  return Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) => !name.startsWith('ELIGD_') && name !== 'CREDENTIALS_DIRECTORY',
    ),
  );
}

function is_supported(version) {
  const [major, minor] = version.replace(/^v/, '').split('.').map(Number);
  return major === 24 && minor >= 10;
}

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}

if (may_install && existsSync(join(root, 'package-lock.json')) && !packages_match_lockfile()) {
  console.error('eligd: installing its packages (npm ci); this happens only once …');
  const npm = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: without_secrets(process.env),
    },
  );
  if (npm.error)
    fail(
      `eligd: npm could not be started (${npm.error.message}). Install npm, or run "npm ci ` +
        `--ignore-scripts" in ${root}.`,
    );
  if (npm.status !== 0)
    fail(`eligd: "npm ci" failed; see its error above. Fix it and run the same command again.`);
}

let node;
if (existsSync(bundled_node)) node = bundled_node;
else if (is_supported(process.version) && existsSync(join(root, 'node_modules')))
  node = process.execPath;
else if (existsSync(join(root, 'node_modules')))
  fail(
    `eligd: this machine has Node ${process.version}, but eligd needs Node 24.10 or a later ` +
      `24; there is no Node package for ${process.platform} ${process.arch}, so install Node ` +
      '24 and run the same command again.',
  );
else
  fail(
    'eligd: its packages are not installed; run "npm ci --ignore-scripts --loglevel=error" ' +
      `in ${root}, then run the same command again.`,
  );

// SIGUSR1 would open a debugger to every user of the machine, here and in the child.
process.on('SIGUSR1', () => {});
// Node would run code that it finds in this folder; src/ops/compile-cache.ts has a safe one.
const { NODE_COMPILE_CACHE: _, ...environment } = process.env;
const child = spawn(node, ['--disable-sigusr1', ...args], {
  stdio: 'inherit',
  env: { ...environment, PATH: `${dirname(node)}:${process.env.PATH ?? ''}` },
});
// Ctrl-C reaches the child as well (same process group): wait for it. Other signals reach only this
// process.
process.on('SIGINT', () => {});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) =>
  fail(
    `eligd: ${node} could not be started (${error.message}); run "npm ci --ignore-scripts" ` +
      `in ${root}.`,
  ),
);
child.on('exit', (code, signal) =>
  process.exit(signal === null ? code : 128 + constants.signals[signal]),
);
