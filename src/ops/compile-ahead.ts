/**
 * Compiles the program for this machine's processor, so that no start has to. The package runs this
 * as root during installation.
 *
 *     node compile-ahead.js FOLDER USER_ID
 *
 * Node stores compiled code in a folder named after its user, and only that user can read it. This
 * program renames the folder for the service's user, who can then read it but not change it.
 */
import { chmodSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, user_id] = process.argv.slice(2);
if (folder === undefined || user_id === undefined)
  throw new Error('Usage: compile-ahead.js FOLDER USER_ID');
rmSync(folder, { recursive: true, force: true });
module.enableCompileCache(folder);
const program = import.meta.dirname;
const connectors = join(program, '../../connectors');
const files = [
  ...readdirSync(program).map((name) => join(program, name)),
  ...readdirSync(connectors).map((name) => join(connectors, name, 'index.js')),
];
for (const file of files)
  if (file.endsWith('.js') && !/\/(?:main|compile-ahead)\.js$/.test(file) && existsSync(file))
    await import(pathToFileURL(file).href);
// The log loads it with its first line.
module.createRequire(import.meta.url)('pino');
module.flushCompileCache();
for (const made of readdirSync(folder)) {
  const own = join(folder, made.replace(/-\d+$/, `-${user_id}`));
  renameSync(join(folder, made), own);
  for (const entry of readdirSync(own)) chmodSync(join(own, entry), 0o644);
  chmodSync(own, 0o755);
}
chmodSync(folder, 0o755);
