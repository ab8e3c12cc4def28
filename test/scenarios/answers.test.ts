/** The answers that payers and the service may give, and what the front desk sees. */
import { describe, expect, test } from 'vitest';
import { type Clinic, makeClinic, type Overrides } from '../support/clinic.ts';
import { type MachineClock, setMachineClock } from '../support/machine-clock.ts';
import { type LedgerEntry, type Service, startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

type Scene = { machine: MachineClock; service: Service; clinic: Clinic };

/**
 * One visit on Wednesday of the next week, for a member whose ID begins with `prefix`; eligd sends
 * its inquiry on Monday morning.
 */
async function sent(prefix: string, config: Overrides = {}): Promise<Scene> {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config });
  clinic.drop(
    'export.csv',
    exportOf(visits(1, () => ({ member_id: `${prefix}-77`, appointment_at: '2030-01-16T10:00' }))),
  );
  await clinic.once();
  return { machine, service, clinic };
}

const statuses = async (service: Service) =>
  (await service.ledger()).map(({ status }: LedgerEntry) => status);
const lines = (clinic: Clinic) =>
  clinic.written().map(({ status, revision, is_active }) => [status, revision, is_active]);
const reasons = (clinic: Clinic) =>
  clinic
    .attention()
    .filter(({ appointment_id }) => appointment_id === '9001')
    .map(({ reason }) => reason);

describe('unsuccessful calls', () => {
  test('after a pause, eligd makes one more call, then writes and lists the failure', async () => {
    const { machine, service, clinic } = await sent('UNSUCC');
    await service.advance({ days: 9 });
    await clinic.once();
    expect(await statuses(service)).toEqual(['UNSUCCESSFUL']);
    expect(reasons(clinic)).toEqual([]);
    machine.pass({ hours: 19 });
    await clinic.once();
    expect(await statuses(service)).toEqual(['UNSUCCESSFUL']);
    machine.pass({ hours: 2 });
    await clinic.once();
    await service.advance({ days: 1 });
    await clinic.once();
    expect(await statuses(service)).toEqual(['UNSUCCESSFUL', 'UNSUCCESSFUL']);
    expect(reasons(clinic)).toEqual(['unsuccessful']);
    const last = clinic.written().at(-1);
    expect([last?.status, last?.inquiry_id]).toEqual([
      'UNSUCCESSFUL',
      (await service.ledger())[1]?.id,
    ]);
    // eligd makes no third call.
    machine.pass({ days: 2 });
    await clinic.once();
    expect(await service.ledger()).toHaveLength(2);
    expect((await clinic.run('explain', '9001')).stdout).toMatch(
      /could not get an answer from the insurance company \(2 calls\)/,
    );
  });

  test('a second call that succeeds leaves nothing on the attention list', async () => {
    const { machine, service, clinic } = await sent('UNSUCC1');
    await service.advance({ days: 9 });
    await clinic.once();
    machine.pass({ hours: 21 });
    await clinic.once();
    await service.advance({ days: 1 });
    await clinic.once();
    expect(await statuses(service)).toEqual(['UNSUCCESSFUL', 'SUCCESS']);
    expect((await service.ledger()).map(({ external_id }) => external_id)).toEqual([
      '9001',
      '9001',
    ]);
    expect(clinic.written().at(-1)?.status).toBe('SUCCESS');
    expect(reasons(clinic)).toEqual([]);
  });

  test('with policy.attempts 1, eligd makes no second call', async () => {
    const { machine, service, clinic } = await sent('UNSUCC', { policy: { attempts: 1 } });
    await service.advance({ days: 9 });
    await clinic.once();
    machine.pass({ hours: 30 });
    await clinic.once();
    expect(await service.ledger()).toHaveLength(1);
    expect(lines(clinic).map(([status]) => status)).toEqual(['UNSUCCESSFUL']);
    expect(reasons(clinic)).toEqual(['unsuccessful']);
  });

  test('eligd lists a call that the service canceled and never sends it again', async () => {
    const { machine, service, clinic } = await sent('CANCEL');
    await service.advance({ days: 9 });
    await clinic.once();
    machine.pass({ days: 2 });
    await clinic.once();
    expect(await statuses(service)).toEqual(['CANCELLED']);
    expect(reasons(clinic)).toEqual(['cancelled_by_service']);
    expect(lines(clinic).map(([status]) => status)).toEqual(['CANCELLED']);
    expect((await clinic.run('explain', '9001')).stdout).toMatch(
      /The service canceled the inquiry/,
    );
  });

  test('eligd gives up a call two weeks after the visit and lists it', async () => {
    const { machine, service, clinic } = await sent('NEVER');
    await service.advance({ days: 9 });
    await clinic.once();
    machine.pass({ days: 12 });
    await clinic.once();
    expect(reasons(clinic)).toEqual([]);
    machine.pass({ days: 12 });
    await clinic.once();
    expect(reasons(clinic)).toEqual(['no_answer']);
    expect(await service.ledger()).toHaveLength(1);
    expect(clinic.written()).toEqual([]);
  });
});

describe('answers', () => {
  test('an inactive plan reads as "no", and questions that were not asked stay empty', async () => {
    const { service, clinic } = await sent('INACTIVE');
    await service.advance({ days: 9 });
    await clinic.once();
    expect(lines(clinic)).toEqual([['SUCCESS', '1', 'no']]);
  });

  test('missing values read as unknown, never as "no" or 0 (G8)', async () => {
    const { service, clinic } = await sent('SILENT');
    await service.advance({ days: 9 });
    await clinic.once();
    const [line] = clinic.written();
    expect(line?.status).toBe('SUCCESS');
    const cells = Object.entries(line ?? {}).filter(([name]) =>
      /deductible|maximum|in_network|is_active/.test(name),
    );
    expect(cells.some(([, value]) => value === 'unknown')).toBe(true);
    for (const [, value] of cells) expect(value).not.toMatch(/^0(\.0+)?$/);
  });

  test('eligd polls an empty success again until the results exist', async () => {
    const { machine, service, clinic } = await sent('NULLS');
    const [entry] = await service.ledgerWithSteps();
    const ended = entry?.steps.find(({ status }) => status === 'SUCCESS')?.at ?? '';
    await service.advanceTo(new Date(Date.parse(ended) + 30_000).toISOString());
    await clinic.once();
    expect(await statuses(service)).toEqual(['SUCCESS']);
    expect(clinic.written()).toEqual([]);
    machine.pass({ minutes: 20 });
    await clinic.once();
    const [line] = clinic.written();
    expect([line?.status, line?.revision, line?.is_active]).toEqual(['SUCCESS', '1', 'yes']);
    expect(clinic.written()).toHaveLength(1);
  });

  test('eligd writes back a revised answer as a new revision before the visit', async () => {
    const { machine, service, clinic } = await sent('REVISE');
    const [entry] = await service.ledgerWithSteps();
    const ended = entry?.steps.find(({ status }) => status === 'SUCCESS')?.at ?? '';
    await service.advanceTo(new Date(Date.parse(ended) + 60_000).toISOString());
    await clinic.once();
    expect(lines(clinic).map(([, revision]) => revision)).toEqual(['1']);
    // `eligd run` polls once more on the day before the visit, which is on the 16th at 10.
    machine.pass({ days: 8, hours: 3 });
    const daemon = await clinic.daemon();
    const stop = new AbortController();
    const running = daemon.run(stop.signal);
    await expect.poll(() => clinic.written().length, { timeout: 5000 }).toBe(2);
    stop.abort();
    await running;
    await daemon.close();
    expect(lines(clinic).map(([, revision]) => revision)).toEqual(['1', '2']);
    expect(await service.ledger()).toHaveLength(1);
    expect(clinic.written()[1]?.record).not.toEqual(clinic.written()[0]?.record);
  });

  test('an answer with unknown content is written, and "unparsed" keeps the rest', async () => {
    const { service, clinic } = await sent('WEIRD');
    await service.advance({ days: 9 });
    await clinic.once();
    const [line] = clinic.written();
    expect(line?.status).toBe('SUCCESS');
    const unparsed = line?.record.unparsed as { path: unknown; value: unknown }[];
    expect(unparsed.length).toBeGreaterThan(0);
    expect(reasons(clinic)).toEqual([]);
  });

  test('answers of every kind in one export go to their own appointments', async () => {
    const prefixes = [
      'ACTIVE',
      'INACTIVE',
      'NOTCOVERED',
      'UNSUCC',
      'CANCEL',
      'SILENT',
      'SLOW',
      'WEIRD',
      'NULLS',
      'REOPEN',
    ];
    const machine = setMachineClock();
    const service = await startService();
    const clinic = makeClinic({ base_url: service.url, config: { policy: { attempts: 1 } } });
    clinic.drop(
      'export.csv',
      exportOf(
        visits(prefixes.length, (index) => ({
          member_id: `${prefixes[index]}-1`,
          appointment_at: '2030-01-16T10:00',
        })),
      ),
    );
    await clinic.once();
    await service.advance({ days: 14 });
    await clinic.once();
    machine.pass({ hours: 3 });
    await clinic.once();
    const by_member = new Map(clinic.written().map((line) => [line.member_id, line.status]));
    expect(by_member).toEqual(
      new Map(
        prefixes.map((prefix) => [
          `${prefix}-1`,
          { UNSUCC: 'UNSUCCESSFUL', CANCEL: 'CANCELLED' }[prefix] ?? 'SUCCESS',
        ]),
      ),
    );
  });
});
