/**
 * The power fails while requests are in progress: eligd finds accepted inquiries and repeats no
 * call.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import {
  expectOneCallEach,
  expectOwnAnswers,
  needsOf,
  placesOf,
  questionsOf,
  writtenFor,
} from '../support/needs.ts';
import { startEligd } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

const DAY_MS = 86_400_000;

const VISITS = 12;

test.each(['bulk', 'single'])(
  'SIGKILL at several moments of sending leaves one inquiry per need (%s)',
  async (mode) => {
    const service = await startService();
    const clinic = makeClinic({
      base_url: service.url,
      config: {
        service: {
          settle_seconds: 1,
          timeout_seconds: 2,
          submission: { mode, batch_size: 3, concurrency: 2 },
        },
      },
    });
    const day = (index: number) =>
      new Date(Date.now() + (5 + Math.floor(index / 4)) * DAY_MS).toISOString().slice(0, 10);
    // Each export has its own days, so that no visit seems to vanish from the next one.
    const all = visits(VISITS, (index) => ({
      appointment_at: `${day(index)}T${10 + (index % 4)}:00`,
    }));
    const path = mode === 'bulk' ? 'batch' : 'dental/inquiries';
    const posts = async () => {
      const { by_route } = await service.traffic();
      return Object.entries(by_route).reduce(
        (sum, [route, count]) =>
          sum + (route.startsWith('POST') && route.includes('inquiries') ? count : 0),
        0,
      );
    };
    let kills = 0;
    for (const when of ['after', 'before', 'after'] as const) {
      // The reply does not arrive, and the process dies when the service has processed some, all,
      // or none of the request.
      await service.clearFaults();
      await service.fault({
        method: 'POST',
        path,
        skip: kills === 0 ? 1 : 0,
        // Two for this process, and two that requests of the previous process may use up, because
        // the service still delays them.
        times: 4,
        when,
        action: 'delay',
        delay_ms: 900,
      });
      clinic.drop(`export-${kills}.csv`, exportOf(all.slice(kills * 4, kills * 4 + 4)));
      const before = await posts();
      const { child, ended } = startEligd(['once', '--config', clinic.file]);
      const wanted = before + (kills === 0 ? 2 : 1);
      const deadline = Date.now() + 8000;
      while ((await posts()) < wanted && Date.now() < deadline && child.exitCode === null)
        await sleep(10);
      await sleep(kills * 20);
      child.kill('SIGKILL');
      const { signal } = await ended;
      if (signal === 'SIGKILL') kills += 1;
    }
    expect(kills).toBe(3);
    await service.clearFaults();
    const killed_at = (await service.ledger()).length;
    // Within two settle times, the service accepts the requests that it delayed; an inconclusive
    // lookup takes longer.
    for (let round = 0; round < 14 && (await service.ledger()).length < VISITS; round += 1) {
      await sleep(1100);
      await clinic.once();
    }
    // Long enough for a second call, if eligd were to make one.
    for (let round = 0; round < 2; round += 1) {
      await sleep(1100);
      await clinic.once();
    }
    expect((await service.ledger()).length).toBeGreaterThan(killed_at);
    await service.advance({ days: 8 });
    // eligd still looks up rows that the service has, until their lookup is due.
    for (let round = 0; round < 8 && writtenFor(clinic).size < VISITS; round += 1) {
      await sleep(1100);
      await clinic.once();
    }
    const ledger = await service.ledger();
    expectOneCallEach(ledger, needsOf(questionsOf(all)));
    expect(writtenFor(clinic)).toEqual(placesOf(questionsOf(all)));
    expectOwnAnswers(clinic, ledger);
  },
  40_000,
);
