/** The rate limit (G5), eligd's and the service's, on a fast clock for both. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createEnv, scaledClock } from '../../src/ops/env.ts';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { gatekeeper } from '../support/gatekeeper.ts';
import { expectOneCallEach, needsOf, placesOf, questionsOf, writtenFor } from '../support/needs.ts';
import { type Service, startService } from '../support/service.ts';
import { exportOf, type Visit, visits } from '../support/visits.ts';

const DAY_MS = 86_400_000;

function soon(count: number): Visit[] {
  const day = new Date(Date.now() + 6 * DAY_MS).toISOString().slice(0, 10);
  return visits(count, (index) => ({ appointment_at: `${day}T${10 + (index % 6)}:00` }));
}

/** Runs `once` in its own process; eligd's clock is the sandbox's. */
async function round(clinic: Clinic, service: Service, speed: number): Promise<void> {
  const clock = scaledClock({ anchor_ms: service.anchor_ms, speed });
  const daemon = await clinic.daemon(createEnv({ clock, log: () => {} }));
  try {
    await daemon.once(new AbortController().signal);
  } finally {
    await daemon.close();
  }
}

test('max_per_minute 30 holds at the server over several minutes and a restart', async () => {
  const speed = 60;
  const service = await startService({ speed });
  const submission = { mode: 'single', max_per_minute: 30 };
  const clinic = makeClinic({ base_url: service.url, config: { service: { submission } } });
  const all = soon(70);
  clinic.drop('export.csv', exportOf(all));
  await round(clinic, service, speed);
  await service.advance({ days: 8 });
  await round(clinic, service, speed);
  const { peak_per_minute, total } = await service.traffic();
  expect(total).toBeGreaterThan(70);
  expect(peak_per_minute).toBeLessThanOrEqual(30);
  expect(peak_per_minute).toBeGreaterThan(20);
  expectOneCallEach(await service.ledger(), needsOf(questionsOf(all)));
  expect(writtenFor(clinic)).toEqual(placesOf(questionsOf(all)));
}, 60_000);

describe('a limit of the service', () => {
  test.each([
    { rate_limit_status: '429', retry_after: 'seconds', mode: 'single' },
    { rate_limit_status: '429', retry_after: 'date', mode: 'bulk' },
    { rate_limit_status: '429', retry_after: 'none', mode: 'single' },
    { rate_limit_status: '429', retry_after: 'none', mode: 'bulk' },
    { rate_limit_status: '503', retry_after: 'seconds', mode: 'bulk' },
    { rate_limit_status: '503', retry_after: 'date', mode: 'single' },
    { rate_limit_status: '503', retry_after: 'none', mode: 'single' },
    { rate_limit_status: '503', retry_after: 'none', mode: 'bulk' },
  ])(
    'eligd obeys $rate_limit_status, Retry-After $retry_after, in mode $mode',
    async ({ rate_limit_status, retry_after, mode }) => {
      const speed = 600;
      const service = await startService({ speed });
      await service.behave({ rate_limit_per_minute: 8, rate_limit_status, retry_after });
      const submission = { mode, max_per_minute: 0, batch_size: 2 };
      const clinic = makeClinic({ base_url: service.url, config: { service: { submission } } });
      const all = soon(12);
      clinic.drop('export.csv', exportOf(all));
      for (
        let rounds = 0;
        rounds < 6 && (await service.ledger()).length < all.length;
        rounds += 1
      ) {
        await round(clinic, service, speed);
        await sleep(100);
      }
      await service.behave({ rate_limit_per_minute: 0 });
      // A tenth of a second is a minute here, and an inconclusive lookup waits for its time.
      for (let rounds = 0; rounds < 3; rounds += 1) {
        await sleep(100);
        await round(clinic, service, speed);
      }
      await service.advance({ days: 8 });
      for (let rounds = 0; rounds < 2; rounds += 1) await round(clinic, service, speed);
      expectOneCallEach(await service.ledger(), needsOf(questionsOf(all)));
      expect(writtenFor(clinic)).toEqual(placesOf(questionsOf(all)));
    },
  );
});

describe('a server that accepts two requests a second', () => {
  test.each([
    { max_per_minute: 60, retry_after: 'none' },
    { max_per_minute: 60, retry_after: '1' },
    { max_per_minute: 600, retry_after: 'none' },
    { max_per_minute: 0, retry_after: 'none' },
  ])(
    'a slow server gets every call in five minutes at $max_per_minute, Retry-After $retry_after',
    async ({ max_per_minute, retry_after }) => {
      const speed = 15;
      const service = await startService({ speed });
      const limited = await limitedService(service.url, speed, retry_after);
      const clinic = makeClinic({
        base_url: limited.url,
        config: {
          service: { settle_seconds: 5, submission: { mode: 'single', max_per_minute } },
        },
      });
      const all = soon(35);
      clinic.drop('export.csv', exportOf(all));
      const until = Date.now() + (5 * 60_000) / speed;
      while (Date.now() < until && (await service.ledger()).length < all.length)
        await round(clinic, service, speed);
      expectOneCallEach(await service.ledger(), needsOf(questionsOf(all)));
      expect(limited.refused()).toBeLessThanOrEqual(12);
      // The next process starts with the pace that eligd learned.
      const before = limited.refused();
      await round(clinic, service, speed);
      expect(limited.refused()).toBe(before);
    },
    60_000,
  );
});

/** The service behind a limit of two requests in any second of its own time. */
async function limitedService(target: string, speed: number, retry_after: string) {
  let refused = 0;
  const taken: number[] = [];
  const url = await gatekeeper(target, () => {
    const now = performance.now() * speed;
    while (taken[0] !== undefined && taken[0] <= now - 1_000) taken.shift();
    if (taken.length < 2) {
      taken.push(now);
      return null;
    }
    refused += 1;
    const headers: Record<string, string> =
      retry_after === 'none' ? {} : { 'retry-after': retry_after };
    return { status: 429, headers };
  });
  return { url, refused: () => refused };
}
