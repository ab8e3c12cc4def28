import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { judgeAdvisories } from '../../systemd/advisories.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const EXCEPTIONS = JSON.parse(readFileSync(join(ROOT, 'systemd/advisories.json'), 'utf8'));

const WEAKNESS = {
  id: 1,
  url: 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc',
  title: 'A reply can be forged',
  severity: 'high',
  vulnerable_versions: '<999.0.0',
  cwe: [],
  cvss: { score: 7, vectorString: null },
};

/** The program, with npm set up for its own registry. */
async function runWith(registry: RequestListener): Promise<{ code: number; printed: string }> {
  const server = createServer(registry);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise((done) => {
      execFile(
        process.execPath,
        [join(ROOT, 'systemd/advisories.ts')],
        { env: { ...process.env, npm_config_registry: `http://127.0.0.1:${port}/` } },
        (error, stdout, stderr) =>
          done({ code: error === null ? 0 : Number(error.code), printed: stdout + stderr }),
      );
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('npm run advisories', () => {
  test('npm run advisories reports a registry that does not answer, and passes', async () => {
    const { code, printed } = await runWith((_, reply) => reply.writeHead(405).end());
    expect(code).toBe(0);
    expect(printed).toContain('NOT CHECKED, the registry does not answer this question (405).');
  });

  test('npm run advisories fails for a vulnerability of a package that runs', async () => {
    const asked: string[] = [];
    const { code, printed } = await runWith((request, reply) => {
      asked.push(`${request.method} ${request.url}`);
      reply.setHeader('content-type', 'application/json');
      const version = { name: 'undici', version: '8.12.4', dist: {} };
      const page = { name: 'undici', 'dist-tags': {}, versions: { '8.12.4': version }, time: {} };
      reply.end(JSON.stringify(request.method === 'POST' ? { undici: [WEAKNESS] } : page));
    });
    expect(asked).toContain('POST /-/npm/v1/security/advisories/bulk');
    expect(code).toBe(1);
    expect(printed).toContain('undici: GHSA-aaaa-bbbb-cccc (high): A reply can be forged.');
  });
});

describe('the exceptions', () => {
  const { url, title, severity } = WEAKNESS;
  const via = [{ url, title, severity, name: 'undici' }, 'something-that-uses-it'];
  const report = { auditReportVersion: 2, vulnerabilities: { undici: { via } } };
  const exception = {
    advisory: 'GHSA-aaaa-bbbb-cccc',
    package: 'undici',
    until: '2026-12-01',
    reason: 'eligd never forges replies.',
  };

  test('an exception is for one vulnerability of one package, until its day', () => {
    expect(judgeAdvisories(report, [exception], '2026-12-01')).toEqual([]);
    expect(judgeAdvisories(report, [exception], '2026-12-02')).toEqual([
      'undici: GHSA-aaaa-bbbb-cccc was excepted until 2026-12-01: review its reason.',
    ]);
    expect(judgeAdvisories(report, [{ ...exception, package: 'pino' }], '2026-12-01')).toHaveLength(
      2,
    );
    expect(judgeAdvisories({ ...report, vulnerabilities: {} }, [exception], '2026-12-01')).toEqual([
      'undici: GHSA-aaaa-bbbb-cccc is no longer found: remove it from systemd/advisories.json.',
    ]);
  });

  test('each exception of this project has a day and a reason', () => {
    for (const each of EXCEPTIONS) {
      expect(each.until).toMatch(/^\d{4}-\d\d-\d\d$/);
      expect(each.reason.length).toBeGreaterThan(20);
    }
  });
});
