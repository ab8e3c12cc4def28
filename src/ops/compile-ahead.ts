/**
 * Run by root when the package is installed: compiles the program for the processor of this
 * machine, so that no start has to.
 *
 *     node compile-ahead.js FOLDER USER_ID
 *
 * Node keeps what it has compiled in a folder named after the user that it runs as. It is renamed
 * for the service's user, who can read it and not change it.
 */
import { readdirSync, renameSync, rmSync } from 'node:fs';
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
  if (file.endsWith('.js') && !/\/(?:main|compile-ahead)\.js$/.test(file))
    await import(pathToFileURL(file).href).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    });
module.flushCompileCache();
const [made] = readdirSync(folder);
if (made !== undefined)
  renameSync(join(folder, made), join(folder, made.replace(/-\d+$/, `-${user_id}`)));
