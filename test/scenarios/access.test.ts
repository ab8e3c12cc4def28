/**
 * `eligd check` also reports on the running daemon's own token, which its own login cannot test.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../src/domain/time.ts';
import { makeClinic } from '../support/clinic.ts';
import { gatekeeper } from '../support/gatekeeper.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/**
 * A daemon whose token has worked, at a service that answers 403 to dead tokens. `deny` makes every
 * token dead, except the next `spared` tokens that the service issues.
 */
async function runningDaemon() {
  const service = await startService();
  let denied: { spared: number; tokens: Set<string> } | null = null;
  const handed_out: string[] = [];
  const url = await gatekeeper(
    service.url,
    ({ headers }) => {
      const token = headers.authorization?.replace('Bearer ', '');
      if (denied === null || token === undefined) return null;
      return denied.tokens.has(token) ? null : { status: 403 };
    },
    (token) => {
      handed_out.push(token);
      if (denied !== null && denied.tokens.size < denied.spared) denied.tokens.add(token);
    },
  );
  const clinic = makeClinic({ base_url: url });
  const day = new Date(Date.now() + 6 * DAY_MS).toISOString().slice(0, 10);
  clinic.drop('export.csv', exportOf(visits(3, () => ({ appointment_at: `${day}T10:00` }))));
  const daemon = await clinic.daemon({}, { idle_ms: 50 });
  const stop = new AbortController();
  const run = daemon.run(stop.signal);
  stops.push(async () => {
    stop.abort();
    await run;
    await daemon.close();
  });
  await expect.poll(async () => (await service.ledger()).length, { timeout: 60_000 }).toBe(3);
  const check = async () => {
    const { stdout } = await clinic.run('check', '--json');
    const { lines } = JSON.parse(stdout) as {
      lines: { part: string; state: string; what: string; next: string | null }[];
    };
    return lines.filter(({ part }) => part === 'service');
  };
  const deny = (spared: number) => {
    denied = { spared, tokens: new Set() };
  };
  return { check, deny, handed_out };
}

describe('check while a daemon runs', () => {
  test('check says that the service accepts the daemon’s own token', async () => {
    const { check } = await runningDaemon();
    expect((await check()).map(({ state, what }) => [state, what])).toContainEqual([
      'ok',
      'The running eligd is logged in, too.',
    ]);
  }, 30_000);

  test('check says that only its own login works, and what to do', async () => {
    const { check, deny } = await runningDaemon();
    // Only the first token after this works: the one for the command itself.
    deny(1);
    const lines = await check();
    expect(lines[0]).toMatchObject({ state: 'ok' });
    expect(lines[1]).toMatchObject({
      state: 'failed',
      what: expect.stringMatching(/credentials work here.*running eligd.*HTTP 403/),
      next: expect.stringContaining('eligd release submission'),
    });
  }, 30_000);

  test('check makes the daemon log in once when its token has expired early', async () => {
    const { check, deny, handed_out } = await runningDaemon();
    const before = handed_out.length;
    deny(9);
    expect((await check()).map(({ state }) => state)).not.toContain('failed');
    // One login of the command, and one of the daemon.
    expect(handed_out.length - before).toBe(2);
  }, 30_000);
});
