/** The lists and pages while the stored text of a visit on them is damaged. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/engine/store.ts';
import { acceptBatch } from '../../src/store/intake/intake.ts';
import { anAppointment } from '../domain/examples.ts';
import type { Clinic } from '../support/clinic.ts';
import { startOffice } from '../support/office.ts';

async function fill(clinic: Clinic): Promise<void> {
  await clinic.once();
  const store = await openStore(join(clinic.state, 'eligd.db'));
  const starts_at = new Date(Date.now() + 4 * 86_400_000).toISOString();
  const of_v1 = anAppointment({ source_id: 'V-1', starts_at });
  const patient = { ...of_v1.patient, id: 'P-2', first_name: 'Wilma', last_name: 'Stone' };
  const source = { key: 'K', name: 'before', is_last: true, completeness: 'changes' as const };
  const appointments = [of_v1, { ...of_v1, source_id: 'V-2', patient }];
  await store.write(async (tx) => {
    const batch = { source, appointments, rejected: [], cursor: null };
    await acceptBatch(tx, 'front-desk', batch, Date.now());
    const damaged = { content: '{"damaged' };
    await tx.updateTable('appointments').set(damaged).where('source_id', '=', 'V-1').execute();
  });
  await store.close();
}

test('every attention list shows its entry, with the visit’s row and time (G2, G7)', async () => {
  const { clinic, login } = await startOffice({ fill });
  const maria = await login('operator');
  const page = async () => (await maria.get('/attention')).text.replaceAll(/\s+/g, ' ');
  await expect.poll(page, { timeout: 10_000 }).toContain('eligd could not decide what this');
  expect(await page()).toMatch(/<h2><a href="\/visit\/1">Visit [A-Z]/);
  for (const options of [[], ['--patients']]) {
    const { stdout } = await clinic.run('list', '--attention', ...options);
    expect(stdout).toMatch(/^appointment appointment:1, visit 20.* \(planning_failed, since/m);
  }
  const { stdout } = await clinic.run('list', '--attention', '--json');
  const { entries } = JSON.parse(stdout) as { entries: object[] };
  expect(entries[0]).toMatchObject({ reason: 'planning_failed', appointment: 'appointment:1' });
  const listed = () => clinic.attention()[0];
  await expect.poll(listed).toMatchObject({ reason: 'planning_failed' });
});

test('commands about one visit or all show it, and hide its ID without --patients', async () => {
  const { clinic } = await startOffice({ fill });
  const plain = await clinic.run('list');
  expect(plain.stdout).toMatch(/^appointment:1 /m);
  expect(plain.stdout).toMatch(/^V-2 /m);
  const named = await clinic.run('list', '--patients');
  expect(named.stdout).toMatch(/^V-1 .*\(stored data damaged\)$/m);
  expect(named.stdout).toMatch(/^V-2 .*Wilma Stone$/m);
  const json = await clinic.run('list', '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({
    total: 2,
    appointments: [{ id: 'appointment:1' }, { id: 'V-2' }],
  });
  const payer = await clinic.run('list', '--payer', 'delta');
  expect(payer.stdout).toMatch(/^V-2 /m);
  expect(payer.stdout).not.toContain('V-1');
  for (const command of ['show', 'explain']) {
    const { stdout, code } = await clinic.run(command, 'V-1', '--patients');
    expect([command, code, stdout]).toMatchObject([command, 0, expect.stringContaining('V-1')]);
  }
});

test('the page of the day shows it beside the other visits, and its own page opens', async () => {
  const { login } = await startOffice({ fill });
  const maria = await login('operator');
  const page = async (path: string) => {
    const { status, text } = await maria.get(path);
    return `${status} ${text.replaceAll(/\s+/g, ' ')}`;
  };
  const day = new Date(Date.now() + 4 * 86_400_000).toISOString().slice(0, 10);
  await expect
    .poll(() => page(`/?day=${day}`), { timeout: 10_000 })
    .toContain('(stored data damaged)');
  expect(await page(`/?day=${day}`)).toContain('Wilma Stone');
  expect(await page('/visit/1')).toMatch(/^200 .*\(stored data damaged\)/);
  expect(await page('/visit/2')).toMatch(/^200 .*Wilma Stone/);
});
