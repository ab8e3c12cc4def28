/** Health and metrics of a real daemon, over a real socket. */
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { freePort } from '../support/free-port.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';
import { signatureOf } from './receiver.ts';

const inTenDays = () => new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10);

test('health, readiness and metrics show the daemon’s state and no patient data', async () => {
  const service = await startService();
  const port = await freePort();
  const listen = `127.0.0.1:${port}`;
  const clinic = makeClinic({
    base_url: service.url,
    config: {
      monitoring: { listen },
      webhook: { listen, public_url: `http://${listen}/hook` },
      prices: { per_inquiry: 12.5, per_code: 0.25 },
      policy: { calls_per_month: 10, dollars_per_month: 100 },
    },
    secrets: {
      ELIGD_SERVICE_USERNAME: 'clinic',
      ELIGD_SERVICE_PASSWORD: 'sandbox',
      ELIGD_WEBHOOK_SECRET: 'sandbox',
    },
  });
  const all = visits(3, (index) => ({
    appointment_id: `VISIT-${index}`,
    appointment_at: `${inTenDays()}T10:30`,
    patient_name: 'Zephyrine Quux',
    member_id: 'ACTIVE778899',
  }));
  clinic.drop('export.csv', exportOf(all));
  await clinic.once();
  const daemon = await clinic.daemon({}, { idle_ms: 50 });
  const stop = new AbortController();
  const running = daemon.run(stop.signal);
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, text: await response.text() };
  };
  try {
    await expect
      .poll(() => get('/healthz').catch(() => null))
      .toEqual({ status: 200, text: '{"ok":true,"hanging":[]}' });
    await expect.poll(() => get('/readyz'), { timeout: 60_000 }).toMatchObject({ status: 200 });
    for (const signature of [
      signatureOf('[]', 'sandbox'),
      signatureOf('[]', 'sandbox'),
      signatureOf('[]', 'another'),
    ])
      await fetch(`http://${listen}/hook`, {
        method: 'POST',
        headers: { 'x-service-signature': signature },
        body: '[]',
      });
    const { status, text } = await get('/metrics');
    expect(status).toBe(200);
    expect(text).toMatch(/^eligd_appointments\{situation="asking"\} 3$/m);
    expect(text).toMatch(/^eligd_inquiries\{state="open"\} [123]$/m);
    expect(text).toMatch(/^eligd_log_events_total\{event="daemon_started"\} 1$/m);
    const gauge = (name: string) =>
      Number(new RegExp(`^eligd_${name}\\{period="month"\\} (\\S+)$`, 'm').exec(text)?.[1]);
    const calls = (await service.ledger()).length;
    expect(gauge('calls_started')).toBe(calls);
    expect(gauge('spent_dollars')).toBe(calls * 13);
    expect(gauge('calls_unpriced')).toBe(0);
    expect(gauge('budget_left_calls')).toBe(10 - calls);
    expect(gauge('budget_left_dollars')).toBe(100 - calls * 13);
    for (const outcome of ['stored', 'duplicate', 'bad_signature'])
      expect(text).toMatch(
        new RegExp(`^eligd_webhook_deliveries_total\\{outcome="${outcome}"\\} 1$`, 'm'),
      );
    // Only counters are named as counters.
    for (const [, name = '', type] of text.matchAll(/^# TYPE (eligd_\w+) (\w+)$/gm))
      expect({ name, type }).toEqual({
        name,
        type: kindOf(name),
      });
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(text).not.toMatch(/Zephyrine|Quux|ACTIVE|VISIT/);
    // Monitoring should say that someone must act.
    await daemon.store.write(async (tx) => {
      await tx
        .insertInto('halts')
        .values({ reason: 'account', since: 1, next_try_at: null, detail: 'x' })
        .execute();
    });
    const stopped = await get('/readyz');
    expect(stopped.status).toBe(503);
    expect(JSON.parse(stopped.text)).toMatchObject({
      ok: false,
      answers: { daemon: 'yes', calls: 'no', answers: 'yes' },
      since: { calls: '1970-01-01T00:00:00.001Z' },
    });
    expect((await get('/metrics')).text).toMatch(/^eligd_calls_stopped 1$/m);
  } finally {
    stop.abort();
    await running;
    await daemon.close();
  }
});

function kindOf(name: string): string {
  if (name.endsWith('_total')) return 'counter';
  return name.endsWith('_duration_seconds') ? 'histogram' : 'gauge';
}
