import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from './capture.ts';

const MAIN = resolve(import.meta.dirname, '../../src/main.ts');

describe('eligd sandbox', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'the sandbox prints its address, accepts a caller, and exits with 0 on %s',
    async (signal) => {
      const args = [
        MAIN,
        'sandbox',
        '--port',
        '0',
        '--json',
        '--speed',
        '60',
        '--behavior',
        'list_paging=page',
      ];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const exit = once(child, 'exit');
      try {
        const [announcement]: Buffer[] = await once(child.stdout, 'data');
        const { url, credentials } = JSON.parse(String(announcement)) as {
          url: string;
          credentials: Record<string, string>;
        };
        const login = new URLSearchParams({
          username: credentials.username ?? '',
          password: credentials.password ?? '',
        });
        expect(
          (await fetch(`${url}/api/v0/auth/token`, { method: 'POST', body: login })).status,
        ).toBe(200);
        expect(await (await fetch(`${url}/_sandbox/behaviors`)).text()).toContain(
          '"list_paging":"page"',
        );
      } finally {
        child.kill(signal);
      }
      expect(await exit).toEqual([0, null]);
    },
  );

  test('the sandbox says that the port is in use, and what to do', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const address = blocker.address();
    const port = typeof address === 'object' ? address?.port : 0;
    try {
      const { code, stderr } = await run(['sandbox', '--port', String(port)]);
      expect(code).toBe(1);
      expect(stderr).toBe(
        `eligd: The sandbox did not start.\nAnother program is using port ${port} on ` +
          '127.0.0.1.\nStop that program, or choose another port with --port (0: a free port).\n',
      );
    } finally {
      blocker.close();
    }
  });

  test('the sandbox says that its database cannot be opened', async () => {
    const { code, stderr } = await run(['sandbox', '--port', '0', '--db', '/nowhere/at/all.db']);
    expect(code).toBe(1);
    expect(stderr).toContain('The sandbox did not start.');
  });
});
