import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keptPackages } from '../../systemd/built-program.ts';
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
    ['nodemailer/dist/cjs/nodemailer.js', false],
    ['nodemailer/dist/esm/nodemailer.js', true],
    ['pdfkit/js/pdfkit.node.mjs', true],
    ['pdfkit/js/pdfkit.standalone.js', false],
    ['pdfkit/.yarn/releases/yarn.cjs', false],
    ['fontkit/dist/module.mjs', true],
    ['fontkit/dist/browser.cjs', false],
    ['brotli/dec/decode.js', true],
    ['brotli/dec/dictionary-data.js', true],
    ['brotli/dec/dictionary.bin.js', false],
    ['pdfkit/js/data/Helvetica.afm', true],
    ['pdfkit/js/data/Times-Roman.afm', false],
    ['linebreak/dist/main.cjs', false],
    ['@noble/hashes/esm/utils.js', true],
    ['@noble/hashes/utils.js', false],
    ['better-sqlite3/build/Makefile', false],
    ['dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf', true],
    ['dejavu-fonts-ttf/ttf/DejaVuSerif.ttf', false],
    ['dejavu-fonts-ttf/ttf', true],
    ['dejavu-fonts-ttf/LICENSE', true],
    ['pino/LICENSE', true],
    ['fastify/lib/server.js', true],
  ])('%s: %s', (path, is_packed) => {
    expect(isPacked(path, { architecture: 'x64', is_run: true })).toBe(is_packed);
  });

  it.each([
    ['kysely/dist/index.js', false],
    ['kysely/package.json', true],
    ['kysely/LICENSE', true],
    ['zod/v4/core/core.d.ts', true],
    ['zod/v4/core/core.d.cts', false],
    ['zod/v3/types.d.ts', false],
    ['zod/v4/core/core.js', false],
    ['undici/types/dispatcher.d.ts', true],
    ['undici/lib/core/connect.js', false],
  ])('%s, whose code is in the built program: %s', (path, is_packed) => {
    expect(isPacked(path, { architecture: 'x64', is_run: false })).toBe(is_packed);
  });

  it('the packaged libraries load, and draw a PDF, without the files that are left out', () => {
    const folder = mkdtempSync(join(tmpdir(), 'eligd-packed-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    const modules = join(ROOT, 'node_modules');
    for (const path of keptPackages(packages))
      cpSync(join(ROOT, path), join(folder, path), {
        recursive: true,
        filter: (from) =>
          !from.slice(join(ROOT, path).length).includes('/node_modules') &&
          (from === join(ROOT, path) ||
            isPacked(from.slice(modules.length + 1), { architecture: process.arch, is_run: true })),
      });
    const script = `
      for (const name of ['fastify', 'jose', 'nodemailer', 'openid-client', 'pino', 'prom-client'])
        await import(name);
      const { default: Database } = await import('better-sqlite3');
      new Database(':memory:').close();
      const { default: PdfDocument } = await import('pdfkit');
      const document = new PdfDocument({ autoFirstPage: false });
      const font = import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf');
      document.registerFont('regular', new URL(font).pathname);
      document.addPage().font('regular').text('Zoë');
      document.end();
      let bytes = 0;
      for await (const chunk of document) bytes += chunk.length;
      console.log(bytes > 2000);`;
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(output).toBe('true\n');
  }, 60_000);
});
