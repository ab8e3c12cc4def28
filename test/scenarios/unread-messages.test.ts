/** Messages that are acknowledged, but were not read before eligd ended. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { PullBatch } from '../../connectors/contract.ts';
import type { Clock } from '../../src/domain/env.ts';
import { realClock } from '../../src/ops/env.ts';
import { writeLearned } from '../../src/store/bookkeeping/learned-settings.ts';
import { openStore, type Store } from '../../src/store/engine/store.ts';
import { acceptBatch } from '../../src/store/intake/intake.ts';
import { keepMessages } from '../../src/store/intake/keep-messages.ts';
import { adt, siu } from '../connectors/hl7/messages.ts';
import { field, framed, RawSender } from '../connectors/hl7/peers.ts';
import { anAppointment } from '../domain/examples.ts';
import { makeClinic } from '../support/clinic.ts';
import { loseEntries } from '../support/damage.ts';
import { freePort } from '../support/free-port.ts';
import { startService } from '../support/service.ts';

const DAY_MS = 86_400_000;

function visit(over: { status?: 'cancelled' } = {}) {
  const starts_at = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS + 5 * DAY_MS).toISOString();
  return anAppointment({ source_id: 'V-1', starts_at, ...over });
}

async function scene(id = 'interface', config: Record<string, unknown> = {}) {
  const service = await startService();
  const folder = { folder: './hl7', stable_seconds: 0, write_back: 'none' };
  const interface_of = { type: 'hl7', ...folder, ...config };
  const monitoring = `127.0.0.1:${await freePort()}`;
  const clinic = makeClinic({
    base_url: service.url,
    config: { connectors: [{ id, ...interface_of }], monitoring: { listen: monitoring } },
  });
  const inStore = async <Value>(work: (store: Store) => Promise<Value>): Promise<Value> => {
    const store = await openStore(join(clinic.state, 'eligd.db'));
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  await clinic.once();
  return {
    service,
    clinic,
    monitoring,
    inStore,
    /** As a process that ended right after its acknowledgments. */
    acknowledge: (texts: readonly string[], connector = 'interface') =>
      inStore((store) => {
        const kept = texts.map((text) => ({ key: text, name: 'message 1', reply: '[]', text }));
        const at = Date.now() - 10 * 60_000;
        return store.write((tx) => keepMessages({ tx, connector, now: at }, kept, new Map()));
      }),
    status: async () => {
      const { stdout } = await clinic.run('status', '--json');
      return JSON.parse(stdout) as {
        unread_messages: { connector: string; count: number }[];
        attention: { reason: string }[];
        health: { export: { is: string; next: string } };
      };
    },
    visits: () =>
      inStore((store) => store.db.selectFrom('appointments').select('closed_reason').execute()),
  };
}

test('a visit that was booked and canceled before eligd ended costs no call (G1, G2)', async () => {
  const { acknowledge, clinic, service, visits, status } = await scene();
  await acknowledge([adt('A04', visit()), siu(visit()), siu(visit({ status: 'cancelled' }))]);
  expect((await status()).unread_messages).toMatchObject([{ connector: 'interface', count: 3 }]);
  await clinic.once();
  expect(await visits()).toEqual([{ closed_reason: 'cancelled' }]);
  expect(await service.ledger()).toEqual([]);
  expect((await status()).unread_messages).toEqual([]);
});

test('a cancellation that a starting daemon still has to read costs no call (G1)', async () => {
  const { acknowledge, clinic, service, inStore } = await scene();
  await service.fault({ times: 100_000, when: 'before', action: 'status', status: 500 });
  await acknowledge([adt('A04', visit()), siu(visit())]);
  await clinic.once(75);
  const states = (store: Store) => store.db.selectFrom('inquiries').select('state').execute();
  expect(await inStore(states)).toEqual([{ state: 'planned' }]);
  const others = Array.from({ length: 4_000 }, (_, number) =>
    siu({ ...visit(), status: 'cancelled', source_id: `O-${number}` }, { with_insurance: false }),
  );
  await acknowledge([...others, siu(visit({ status: 'cancelled' }))]);
  await service.clearFaults();
  const daemon = await clinic.daemon({}, { idle_ms: 50 });
  const stop = new AbortController();
  const running = daemon.run(stop.signal);
  await expect
    .poll(() => states(daemon.store), { timeout: 30_000 })
    .toEqual([{ state: 'withdrawn' }]);
  expect(await service.ledger()).toEqual([]);
  // A daemon that is reading has nothing to complain about.
  expect(clinic.logged()).not.toContain('messages_unread');
  stop.abort();
  await running;
  await daemon.close();
});

test('an orderly stop leaves no acknowledged message unread', async () => {
  const port = await freePort();
  const { clinic, inStore } = await scene('interface', { listen: `127.0.0.1:${port}` });
  const daemon = await clinic.daemon();
  const stop = new AbortController();
  const running = daemon.run(stop.signal);
  const sender = await RawSender.to(port);
  const booking = siu(visit(), { with_insurance: false });
  let is_over = false;
  const traffic = (async () => {
    for (let sent = 0; !is_over; sent += 1) {
      const message = booking.replaceAll('V-1', `V-${sent}`);
      sender.socket.write(framed(message.replace(/MSG[^|]*/, `MSG${sent}`)));
      if (sent % 12 === 0) await sleep(4);
    }
  })();
  await expect.poll(() => sender.answers.length, { timeout: 10_000 }).toBeGreaterThan(1_000);
  stop.abort();
  await running;
  is_over = true;
  await traffic;
  await daemon.close();
  const acknowledged = sender.answers.filter((answer) => field(answer, 'MSA', 1) === 'AA').length;
  expect(acknowledged).toBeGreaterThan(1_000);
  const left = await inStore((store) =>
    store.db.selectFrom('unread_messages').select('id').execute(),
  );
  expect(left).toHaveLength(0);
  sender.close();
});

test('messages are read although the folder cannot be', async () => {
  const { acknowledge, clinic, visits } = await scene();
  await acknowledge([siu(visit())]);
  const folder = join(clinic.folder, 'hl7');
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'not a folder');
  await clinic.once(75);
  expect(await visits()).toHaveLength(1);
});

describe('one run of once sets aside a message that alone fails, and reads others (G7)', () => {
  async function withFailing() {
    const { acknowledge, clinic, inStore, status } = await scene();
    await acknowledge([siu(visit(), { with_insurance: false })]);
    await clinic.once();
    const database = join(clinic.state, 'eligd.db');
    loseEntries(database, 'appointments_last_source', 'update appointments set last_source = 0');
    const other = { ...visit(), source_id: 'V-2' };
    await acknowledge([
      siu(visit({ status: 'cancelled' }), { with_insurance: false }),
      siu(other, { with_insurance: false }),
    ]);
    const expectRead = async () => {
      expect((await status()).unread_messages).toEqual([]);
      const { stdout } = await clinic.run('list', '--attention');
      const text = stdout.replaceAll(/\s+/g, ' ');
      expect(text).toContain('the database failed each time eligd stored');
      const ids = (store: Store) =>
        store.db.selectFrom('appointments').select('source_id').execute();
      expect(await inStore(ids)).toEqual([{ source_id: 'V-1' }, { source_id: 'V-2' }]);
    };
    return { clinic, expectRead };
  }

  test('on this computer', async () => {
    const { clinic, expectRead } = await withFailing();
    await clinic.once();
    await expectRead();
  });

  test('also when a timer fires early, and the rest of the wait is over at once', async () => {
    const { clinic, expectRead } = await withFailing();
    let passed_ms = 0;
    const clock: Clock = {
      ...realClock,
      // A millisecond passes between two looks at the clock, as on a busy computer.
      elapsed: () => realClock.elapsed() + ++passed_ms,
      sleep: async (ms, signal) => {
        if (ms < 500) return realClock.sleep(ms, signal);
        passed_ms += ms - 1.5;
      },
    };
    const daemon = await clinic.daemon({ clock });
    await daemon.once(new AbortController().signal);
    await daemon.close();
    await expectRead();
  });
});

test('a daemon that restarts every minute says that messages stay unread (G2)', async () => {
  const { acknowledge, clinic, inStore, status } = await scene();
  await acknowledge([siu(visit())]);
  // As if the database failed whenever eligd has read a message.
  const failing = sql`create trigger failing before delete on unread_messages
    begin select raise(abort, 'failing'); end`;
  await inStore((store) => failing.execute(store.db));
  const seen: boolean[] = [];
  for (let starts = 0; starts < 2; starts += 1) {
    const daemon = await clinic.daemon({}, { idle_ms: 50 });
    const stop = new AbortController();
    const running = daemon.run(stop.signal);
    const failures = () => clinic.logged().split('"event":"stage_failed"').length;
    const before = failures();
    await expect.poll(failures, { timeout: 5_000 }).toBeGreaterThan(before);
    if (starts === 1)
      await expect.poll(clinic.logged, { timeout: 5_000 }).toContain('"event":"messages_unread"');
    stop.abort();
    await running;
    await daemon.close();
    const reasons = (await status()).attention.map(({ reason }) => reason);
    seen.push(reasons.includes('messages_unread'));
  }
  expect(seen).toEqual([false, true]);
});

test('an unreadable message is done when the office says so, and may come back', async () => {
  const { acknowledge, clinic } = await scene();
  const list = async () => (await clinic.run('list', '--attention')).stdout;
  await acknowledge(['not readable']);
  await clinic.once();
  const entry = /^(entry:\d+) of interface \(row_unreadable/m.exec(await list())?.[1] ?? '';
  const { stdout } = await clinic.run('done', entry, '--note', 'Asked the sender');
  expect(stdout).toContain('It comes back only if eligd fails to read it again.');
  expect(await list()).toBe('Nothing needs you.\n');
  await clinic.once();
  expect(await list()).toBe('Nothing needs you.\n');
  const again = await clinic.run('done', entry);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('Nothing was changed')]);
  await acknowledge(['not readable']);
  await clinic.once();
  expect(await list()).toMatch(/^entry:\d+ of interface \(row_unreadable/m);
});

describe('messages of a connector that was renamed', () => {
  test('are shown with what to do, kept, and read when it is back (G2)', async () => {
    const { acknowledge, clinic, status, visits, inStore } = await scene('other');
    await acknowledge([siu(visit())], 'interface');
    await clinic.once();
    const { unread_messages, attention, health } = await status();
    expect(unread_messages).toMatchObject([{ connector: 'interface', count: 1 }]);
    expect(attention).toMatchObject([{ reason: 'messages_unread' }]);
    expect(health.export).toMatchObject({
      is: 'no',
      next: expect.stringContaining('Put the connector interface back'),
    });
    const list = (await clinic.run('list', '--attention')).stdout.replaceAll(/\s+/g, ' ');
    expect(list).toContain('eligd keeps these messages until then, whatever retention says.');
    expect(clinic.logged()).toContain('"event":"messages_unread"');
    const { stdout } = await clinic.run('status');
    expect(stdout).toMatch(/^To read: +1 message of interface, the oldest since /m);
    await clinic.once();
    expect((await status()).attention).toHaveLength(1);
    await inStore((store) =>
      store.write((tx) => tx.updateTable('unread_messages').set({ connector: 'other' }).execute()),
    );
    await clinic.once();
    expect(await visits()).toHaveLength(1);
    const reasons = (await status()).attention.map(({ reason }) => reason);
    expect(reasons).not.toContain('messages_unread');
  });

  test('may cancel a visit, so it is not called until they are read (G1)', async () => {
    const { acknowledge, clinic, service, inStore } = await scene('other');
    const batch: PullBatch = {
      source: { key: 'K', name: 'before', is_last: true, completeness: 'changes' },
      appointments: [visit()],
      rejected: [],
      cursor: null,
    };
    const of_other = visit();
    const patient = { ...of_other.patient, id: 'P-2', last_name: 'Moss', birth_date: '1970-02-03' };
    const coverages = of_other.coverages.map((each) => ({ ...each, member_id: 'M-2' }));
    await inStore((store) =>
      store.write(async (tx) => {
        await acceptBatch(tx, 'interface', batch, Date.now());
        const appointments = [{ ...of_other, patient, coverages }];
        await acceptBatch(tx, 'other', { ...batch, appointments }, Date.now());
      }),
    );
    await acknowledge([siu(visit({ status: 'cancelled' }))], 'interface');
    await clinic.once();
    await clinic.once();
    const called = await inStore((store) =>
      store.db
        .selectFrom('inquiries')
        .select(['connector', 'state'])
        .orderBy('connector')
        .execute(),
    );
    expect(called).toMatchObject([
      { connector: 'interface', state: 'planned' },
      { connector: 'other', state: expect.not.stringMatching('planned') },
    ]);
    expect(await service.ledger()).toHaveLength(1);
    for (const command of [['explain', 'interface:V-1'], ['list']]) {
      const said = (await clinic.run(...command)).stdout.replaceAll(/\s+/g, ' ');
      expect(said).toContain('The call waits until eligd has read messages that it has received');
      expect(said).not.toContain('goes out with the next batch');
    }
    expect((await clinic.run('status')).stdout.replaceAll(/\s+/g, ' ')).toContain(
      'Calls for their visits wait.',
    );
  });

  test('are on the attention list although a job fails', async () => {
    const { acknowledge, clinic, inStore } = await scene('other');
    await acknowledge([siu(visit())], 'interface');
    const damaged = (store: Store) =>
      store.write((tx) => writeLearned(tx, 'job:reconciliation', 'damaged', Date.now()));
    await inStore(damaged);
    const daemon = await clinic.daemon({}, { idle_ms: 50 });
    const stop = new AbortController();
    const running = daemon.run(stop.signal);
    await expect.poll(clinic.logged).toContain('"event":"messages_unread"');
    expect(clinic.logged()).toMatch(/"event":"stage_failed".*"stage":"jobs"/);
    stop.abort();
    await running;
    await daemon.close();
  });

  test('are counted on the metrics page', async () => {
    const { acknowledge, clinic, monitoring } = await scene('other');
    await acknowledge([siu(visit()), adt('A04', visit())], 'interface');
    const daemon = await clinic.daemon({}, { idle_ms: 50 });
    const stop = new AbortController();
    const running = daemon.run(stop.signal);
    const page = () =>
      fetch(`http://${monitoring}/metrics`)
        .then((response) => response.text())
        .catch(() => '');
    await expect.poll(page).toMatch(/^eligd_unread_messages\{connector="interface"\} 2$/m);
    expect(await page()).toMatch(/^eligd_oldest_unread_message_timestamp_seconds\{/m);
    stop.abort();
    await running;
    await daemon.close();
  });
});
