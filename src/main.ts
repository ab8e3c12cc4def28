import module from 'node:module';
import { ownCacheFolder } from './ops/compile-cache.ts';
import { applyExtraAuthorities, takeEnvironment } from './ops/environment.ts';
import { keepHeapSmall } from './ops/heap.ts';

/** By then, a command has loaded its modules and has not read much. */
const STARTED_AFTER_MS = 1000;

// Caches compiled code between runs in a folder that no other user can write. This saves two thirds
// of the startup time. The other imports must follow it to be cached.
const cache_folder = ownCacheFolder();
if (cache_folder !== null) module.enableCompileCache(cache_folder);
const { runCli } = await import('./cli/program.ts');
const { reportError } = await import('./cli/exit.ts');

const distrust = applyExtraAuthorities(process.env);
if (distrust !== null) process.stderr.write(distrust);

const host = {
  stdout: process.stdout,
  stderr: process.stderr,
  environment: takeEnvironment(process.env),
  cwd: process.cwd(),
};

/** Ends the process after all output is written; a pipe accepts output later than a file. */
async function exit(code: number): Promise<never> {
  await Promise.all(
    [process.stdout, process.stderr].map(
      (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
    ),
  );
  process.exit(code);
}

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => process.exit(reportError(error, host)));
}
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => void exit(reportError(error, host)));
}

// Not sooner: V8 rejects what was compiled with other settings than the present ones. That includes
// the compiled code of Node's own modules, which saves a fifth of the startup time.
setTimeout(keepHeapSmall, STARTED_AFTER_MS).unref();
await exit(await runCli(process.argv.slice(2), host));
