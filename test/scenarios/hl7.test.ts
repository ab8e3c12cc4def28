/** A visit from start to end over HL7, with a real daemon, sandbox, sender, and receiver. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { Daemon } from '../../src/daemon/index.ts';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { adt, msh, siu } from '../connectors/hl7/messages.ts';
import { field, freePort, RawSender, Receiver } from '../connectors/hl7/peers.ts';
import { anAppointment } from '../domain/examples.ts';
import { makeClinic } from '../support/clinic.ts';
import { startService } from '../support/service.ts';

const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const DAY_MS = 86_400_000;
/** More days than any holiday lasts: the insurance company can be called before the visit. */
const AHEAD_DAYS = 5;

function visit(over: Partial<AppointmentInput> = {}, days = AHEAD_DAYS): AppointmentInput {
  const starts_at = new Date(Math.floor(Date.now() / 1000) * 1000 + days * DAY_MS).toISOString();
  const coverages = [
    {
      carrier: 'Delta Dental',
      payor_id: '05030',
      member_id: 'ACTIVE1',
      group_id: '1',
      subscriber: null,
    },
  ];
  const patient = {
    id: 'P-1',
    first_name: 'One',
    last_name: 'Testpatient',
    birth_date: '1970-05-06',
  };
  return anAppointment({ source_id: 'V-1', starts_at, patient, coverages, ...over });
}

/** `is_away`: the service cannot be reached from the start, so eligd sends nothing. */
async function scene({ is_away = false } = {}) {
  const service = await startService();
  if (is_away)
    await service.fault({ times: 100_000, when: 'before', action: 'status', status: 500 });
  const receiver = await Receiver.start();
  const port = await freePort();
  const listen = `127.0.0.1:${port}`;
  const connectors = [
    {
      id: 'interface',
      type: 'hl7',
      listen,
      send_to: `127.0.0.1:${receiver.port}`,
      folder: './hl7',
      stable_seconds: 0,
    },
  ];
  const clinic = makeClinic({ base_url: service.url, config: { connectors } });
  const daemon = await clinic.daemon();
  const stop = new AbortController();
  const running = daemon.run(stop.signal);
  const sender = await RawSender.to(port);
  const end = async () => {
    stop.abort();
    await running;
    await daemon.close();
  };
  open.push(
    () => receiver.close(),
    end,
    async () => sender.close(),
  );
  return {
    service,
    receiver,
    daemon,
    clinic,
    end,
    say: async (message: string) => expect(field(await sender.ask(message), 'MSA', 1)).toBe('AA'),
  };
}

async function until<Value>(
  look: () => Promise<Value> | Value,
  is: (value: Value) => boolean,
): Promise<Value> {
  for (let tries = 0; ; tries += 1) {
    const value = await look();
    if (is(value)) return value;
    if (tries === 800) throw new Error(`It stays ${JSON.stringify(value)}.`);
    await sleep(20);
  }
}

const states = async ({ store }: Daemon) =>
  (await store.db.selectFrom('inquiries').select('state').orderBy('id').execute()).map(
    ({ state }) => state,
  );
const waits = async ({ store }: Daemon) =>
  (await store.db.selectFrom('appointments').select(['plan_wait', 'closed_reason']).execute()).map(
    ({ plan_wait, closed_reason }) => closed_reason ?? plan_wait,
  );

describe('S12, the insurance, S13, then S15', () => {
  test('a cancellation before the call withdraws the inquiry, and no call is made', async () => {
    const { service, daemon, say } = await scene({ is_away: true });
    await say(siu(visit(), { event: 'S12', with_insurance: false }));
    await until(
      () => waits(daemon),
      ([wait]) => wait === 'insurance_awaited',
    );
    await say(adt('A08', visit()));
    await until(
      () => states(daemon),
      ([state]) => state === 'planned',
    );
    await say(siu(visit({}, AHEAD_DAYS + 1), { event: 'S13', with_insurance: false }));
    await say(
      siu(visit({ status: 'cancelled' }, AHEAD_DAYS + 1), { event: 'S15', with_insurance: false }),
    );
    await until(
      () => states(daemon),
      ([state]) => state === 'withdrawn',
    );
    expect(await waits(daemon)).toEqual(['cancelled']);
    await service.clearFaults();
    expect(await service.ledger()).toEqual([]);
  });

  test('a cancellation after the call keeps the inquiry, because it cannot be undone', async () => {
    const { service, daemon, say } = await scene();
    await say(siu(visit(), { event: 'S12', with_insurance: false }));
    await say(adt('A04', visit()));
    await until(
      () => states(daemon),
      ([state]) => state === 'open',
    );
    await say(siu(visit({}, AHEAD_DAYS + 1), { event: 'S13', with_insurance: false }));
    // The shortest message, as many systems cancel.
    await say([msh('SIU^S15', 'CANCEL-1'), 'SCH||V-1'].join('\r'));
    await until(
      () => waits(daemon),
      ([wait]) => wait === 'cancelled',
    );
    expect(await states(daemon)).toEqual(['open']);
    expect(await service.ledger()).toHaveLength(1);
  });
});

test('an answer is a message of its own, with the visit’s new time', async () => {
  const { service, daemon, receiver, clinic, say } = await scene();
  await say(siu(visit()));
  await until(
    () => states(daemon),
    ([state]) => state === 'open',
  );
  const moved = visit({}, AHEAD_DAYS + 1);
  await say(siu(moved, { event: 'S13' }));
  await service.advance({ days: 8 });
  // The daemon polls on its own schedule, which other tests cover. Here the test polls at once.
  await daemon.once(new AbortController().signal);
  const [message = ''] = await until(
    () => receiver.messages,
    ({ length }) => length > 0,
  );
  expect(field(message, 'MSH', 9)).toBe('PIN^I07^RQI_I01');
  expect(field(message, 'PID', 3)).toBe('P-1^^^^MR');
  expect(message).toMatch(/\rNTE\|1\|L\|V-1\|APPT\^/);
  expect(message).toContain(moved.starts_at.slice(0, 4));
  expect(await service.ledger()).toHaveLength(1);
  expect(await daemon.store.db.selectFrom('deliveries').select('state').execute()).toEqual([
    { state: 'delivered' },
  ]);
  // Only "once" has run here, so eligd does not know whether the daemon works.
  expect((await clinic.run('status')).code).toBe(75);
});

test('a restore reads files again and lists the acknowledged messages', async () => {
  const { clinic, end, say } = await scene({ is_away: true });
  await say(siu(visit(), { control_id: 'KNOWN' }));
  const backup = join(clinic.folder, 'copy.db');
  expect((await clinic.run('backup', backup)).code).toBe(0);
  await say(siu(visit({ source_id: 'V-2' }), { control_id: 'SINCE' }));
  await end();
  writeFileSync(
    join(clinic.folder, 'hl7/inbox/a.hl7'),
    siu(visit({ source_id: 'V-3' }), { control_id: 'IN-A-FILE' }),
  );
  // The exit code is "temporary", because the service cannot be reached.
  await clinic.once(75);
  const { code, stdout, stderr } = await clinic.run('restore', backup);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('interface: 1 file is read again.');
  expect(stdout).toContain('unless they are in those files');
  expect(stdout).toContain('message SINCE');
  expect(stdout).not.toContain('KNOWN');
  expect(readdirSync(join(clinic.folder, 'hl7/inbox'))).toEqual(['a.hl7']);
});
