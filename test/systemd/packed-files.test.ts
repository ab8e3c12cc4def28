import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isPacked } from '../../systemd/packed-files.ts';

const ROOT = resolve(import.meta.dirname, '../..');

describe('the files that a package brings', () => {
  it.each(['better-sqlite3', 'better-sqlite3-multiple-ciphers'])(
    'the packaged files are %s for one machine',
    (name) => {
      const of = (architecture: string) =>
        readdirSync(join(ROOT, 'node_modules', name, 'prebuilds')).filter((file) =>
          isPacked(`${name}/prebuilds/${file}`, { architecture, is_run: true }),
        );
      expect(of('x64')).toEqual(['linux-x64.node']);
      expect(of('arm64')).toEqual(['linux-arm64.node']);
    },
  );

  it.each([
    ['find-my-way/test/methods.test.js', false],
    ['pino/benchmarks/basic.bench.js', false],
    ['undici/docs/index.html', false],
    ['kysely/dist/index.d.ts', false],
    ['fastify/README.md', false],
    ['better-sqlite3/build/Makefile', false],
    ['dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf', true],
    ['dejavu-fonts-ttf/ttf/DejaVuSerif.ttf', false],
    ['dejavu-fonts-ttf/LICENSE', true],
    ['pino/LICENSE', true],
    ['fastify/lib/server.js', true],
  ])('%s: %s', (path, is_packed) => {
    expect(isPacked(path, { architecture: 'x64', is_run: true })).toBe(is_packed);
  });

  it.each([
    ['kysely/dist/index.js', false],
    ['kysely/package.json', false],
    ['zod/package.json', true],
    ['kysely/LICENSE', true],
    ['zod/v4/core/core.d.ts', true],
    ['zod/v4/core/core.d.cts', false],
    ['zod/v3/types.d.ts', false],
    ['zod/v4/core/core.js', false],
    ['undici/types/dispatcher.d.ts', true],
    ['undici/lib/core/connect.js', false],
    ['nodemailer/SECURITY.txt', false],
    ['pdfkit/js/data/Helvetica.afm', false],
  ])('%s, whose code is in the built program: %s', (path, is_packed) => {
    expect(isPacked(path, { architecture: 'x64', is_run: false })).toBe(is_packed);
  });
});
