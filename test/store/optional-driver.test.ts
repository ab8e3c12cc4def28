/** The package that encrypts is optional: without a key nothing loads it, with one it is named. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const NAME = 'better-sqlite3-multiple-ciphers';
const json = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'));

/** As on a machine on which npm did not install the package. */
const WITHOUT = `import { registerHooks } from 'node:module';
registerHooks({
  resolve(name, context, next) {
    if (!name.startsWith('${NAME}')) return next(name, context);
    throw Object.assign(new Error(name), { code: 'MODULE_NOT_FOUND' });
  },
});`;

const USE = (keys: string) => `
const { useDatabaseKeys } = await import('${ROOT}/src/store/engine/keys.ts');
const { DatabaseKey } = await import('${ROOT}/src/domain/database-key.ts');
const { openSqlite } = await import('${ROOT}/src/store/engine/driver.ts');
useDatabaseKeys(() => ${keys});
try {
  console.log(openSqlite(':memory:').prepare('select 1').pluck().get());
} catch (error) {
  console.log(JSON.stringify({ kind: error.kind, ...error.parts, message: error.message }));
}`;

async function opened(keys: string): Promise<string> {
  const hooks = `data:text/javascript,${encodeURIComponent(WITHOUT)}`;
  const args = ['--import', hooks, '--input-type=module', '--eval', USE(keys)];
  return (await promisify(execFile)(process.execPath, args)).stdout.trim();
}

describe('the package that encrypts', () => {
  test('the encrypting driver is optional, and better-sqlite3 is not', () => {
    const { dependencies, optionalDependencies } = json('package.json');
    expect(optionalDependencies).toHaveProperty(NAME);
    expect(dependencies).not.toHaveProperty(NAME);
    expect(dependencies).toHaveProperty('better-sqlite3');
    const { packages } = json('package-lock.json');
    expect(packages[''].optionalDependencies[NAME]).toBe(optionalDependencies[NAME]);
    expect(packages[`node_modules/${NAME}`]).toMatchObject({ optional: true });
  });

  test('npm on an older Node installs the encrypting driver', () => {
    // npm skips an optional package without a word when its own Node is older than `engines` says.
    expect(json('package-lock.json').packages[`node_modules/${NAME}`]).not.toHaveProperty(
      'engines',
    );
  });

  test('without a key, the encrypting driver is not loaded', async () => {
    expect(await opened('[]')).toBe('1');
  });

  test('with a key and without the driver, the error names the driver and the remedy', async () => {
    const said = await opened('[new DatabaseKey(Buffer.alloc(32, 1))]');
    expect(said).toContain('eligd has a database key, but cannot encrypt.');
    expect(said).toContain(NAME);
    expect(said).toContain('npm ci --ignore-scripts --include=optional');
  });
});
