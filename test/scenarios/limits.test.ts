/** The rate limit (G5), ours and the service's, on a clock that runs fast for both. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createEnv, scaledClock } from '../../src/ops/env.ts';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { expectOneCallEach, needsOf, placesOf, questionsOf, writtenFor } from '../support/needs.ts';
import { type Service, startService } from '../support/service.ts';
import { exportOf, type Visit, visits } from '../support/visits.ts';

const DAY_MS = 86_400_000;

function soon(count: number): Visit[] {
  const day = new Date(Date.now() + 6 * DAY_MS).toISOString().slice(0, 10);
  return visits(count, (index) => ({ appointment_at: `${day}T${10 + (index % 6)}:00` }));
}

/** One `once` of a process of its own; eligd's clock is the sandbox's. */
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
}, 20_000);

describe('the service limits us', () => {
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
    'with $rate_limit_status, Retry-After: $retry_after, mode $mode',
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
      // A tenth of a second is a minute here, and looks that proved nothing wait for their time.
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
