/** The operator's commands, with the real sandbox. */
import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';
import { differences, pathsOf } from './json-page.ts';

async function clinicWith(
  count: number,
  change: Parameters<typeof visits>[1] = () => ({}),
  policy: Record<string, unknown> = {},
) {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: { policy: { calls_per_day: 1, ...policy } },
  });
  clinic.drop('export.csv', exportOf(visits(count, change)));
  await clinic.once();
  const ids = async () => (await service.ledger()).map(({ external_id }) => external_id).toSorted();
  return { machine, service, clinic, ids };
}

test('an inquiry on hold is not sent until it is released, whatever the PMS exports', async () => {
  const { machine, clinic, ids } = await clinicWith(3);
  expect(await ids()).toEqual(['9001']);
  expect((await clinic.run('hold', '9002')).stdout).toMatch(/on hold/);
  machine.pass({ hours: 24 });
  clinic.drop('again.csv', exportOf(visits(3, () => ({ group_id: 'G1' }))));
  await clinic.once();
  expect(await ids()).toEqual(['9001', '9003']);
  expect((await clinic.run('explain', '9002')).stdout).toMatch(/On hold \(eligd hold\)/);
  expect((await clinic.run('release', '9002')).code).toBe(0);
  expect((await clinic.run('release', '9002')).code).toBe(1);
  machine.pass({ hours: 24 });
  await clinic.once();
  expect(await ids()).toEqual(['9001', '9002', '9003']);
});

test('withdraw closes what is unsent, and keeps a call that may have begun', async () => {
  const { machine, clinic, ids } = await clinicWith(2);
  const { stdout } = await clinic.run('withdraw', '9002', '--json');
  const value = JSON.parse(stdout) as { schema: string };
  expect(differences(value.schema, new Set(pathsOf(value)))).toEqual({
    undocumented: [],
    unseen: [],
  });
  const sent = await clinic.run('withdraw', '9001');
  expect(sent.code).toBe(1);
  expect(sent.stdout).toMatch(/cannot be canceled/);
  machine.pass({ hours: 24 });
  await clinic.once();
  expect(await ids()).toEqual(['9001']);
  expect((await clinic.run('explain', '9002')).stdout).toMatch(/You withdrew it/);
});

test('retry resends a refused inquiry and appears in the history', async () => {
  const { service, clinic, ids, machine } = await clinicWith(0, undefined, { calls_per_day: null });
  await service.fault({
    method: 'POST',
    path: 'batch',
    when: 'before',
    action: 'status',
    status: 422,
    body: { detail: [{ loc: ['body', 0, 'member_id'], msg: 'unknown', type: 'value_error' }] },
  });
  clinic.drop('one.csv', exportOf(visits(1)));
  await clinic.once();
  expect(await ids()).toEqual([]);
  expect(clinic.attention().map(({ reason }) => reason)).toContain('refused');
  expect((await clinic.run('retry', '9001')).stdout).toMatch(/sent again unchanged/);
  machine.pass({ minutes: 1 });
  await clinic.once();
  expect(await ids()).toEqual(['9001']);
  expect(clinic.attention().map(({ reason }) => reason)).not.toContain('refused');
  expect((await clinic.run('explain', '9001')).stdout).toContain(
    `Requested by ${userInfo().username}.`,
  );
});

test('retry looks an uncertain inquiry up first and causes no second call', async () => {
  const { service, clinic, ids, machine } = await clinicWith(0, undefined, { calls_per_day: null });
  await service.fault({
    method: 'POST',
    path: 'inquiries',
    when: 'after',
    action: 'reset',
    times: 1,
  });
  clinic.drop('one.csv', exportOf(visits(1)));
  await service.fault({
    method: 'GET',
    path: 'dental/inquiries',
    skip: 1,
    times: 6,
    when: 'before',
    action: 'status',
    status: 500,
  });
  await clinic.once();
  await service.clearFaults();
  expect((await clinic.run('show', '9001')).stdout).toMatch(/uncertain/);
  expect((await clinic.run('retry', '9001')).stdout).toMatch(
    /looks up inquiry \d+ at the service now/,
  );
  machine.pass({ seconds: 1 });
  await clinic.once();
  expect(await ids()).toEqual(['9001']);
  expect((await clinic.run('show', '9001')).stdout).not.toMatch(/uncertain/);
});
