/**
 * Purged data is gone from the bytes of the database, its WAL, and its free pages, and causes no
 * second call.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

/** The texts that are anywhere in the state's files, in the encodings that SQLite writes. */
function found(clinic: Clinic, texts: readonly string[]): string[] {
  const bytes = Buffer.concat(
    readdirSync(clinic.state)
      .filter((name) => name.startsWith('eligd.db'))
      .map((name) => readFileSync(join(clinic.state, name))),
  );
  return texts.filter(
    (text) => bytes.includes(text) || bytes.includes(Buffer.from(text, 'utf16le')),
  );
}

/** With rows of these lengths, SQLite moves some of them when it stores others. */
test.each([0, 130, 333])(
  'purge leaves no byte of old data, and causes no call (names longer by %i)',
  async (longer) => {
    const machine = setMachineClock();
    const service = await startService();
    const clinic = makeClinic({
      base_url: service.url,
      config: { retention: { processed_days: 90, rejected_days: 90, outbox_days: 90 } },
    });
    const secret = (index: number) => [
      `Xanthippe Quillfeather${index}`,
      `ACTIVE77000${index}`,
      `OLDMEMBER${index}`,
    ];
    const old = visits(40, (index) => ({
      patient_name: `${secret(index)[0]}${' Y'.repeat(longer / 2)}`,
      member_id: secret(index)[2]!,
      group_id: 'GRP-OLD',
    }));
    const secrets = old.flatMap((_, index) => secret(index));
    clinic.drop('first.csv', exportOf(old));
    // A change replaces content, and the old bytes must go, too.
    clinic.drop(
      'second.csv',
      exportOf(old.map((visit, index) => ({ ...visit, member_id: secret(index)[1]! }))),
    );
    await clinic.once();
    await service.advance({ days: 8 });
    await clinic.once();
    expect(clinic.written().length).toBeGreaterThan(0);
    expect(found(clinic, secrets).length).toBeGreaterThan(40);

    machine.pass({ days: 100 });
    await service.advance({ days: 92 });
    const young = visits(3, (index) => ({
      appointment_id: `Y${index}`,
      patient_id: `Y${index}`,
      patient_name: `Youngest Patient${index}`,
      member_id: `ACTIVEYOUNG${index}`,
      appointment_at: new Date(machine.now() + 5 * 86_400_000).toISOString().slice(0, 16),
    }));
    clinic.drop('young.csv', exportOf(young));
    await clinic.once();
    const calls = (await service.ledger()).length;
    const { code, stdout } = await clinic.run('purge', '--older-than', '60');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        'Deleted: 40 appointments, 40 inquiries and 0 old database copies.\nAlso: 65 files in ' +
        'drop folders.\n',
    });
    expect(found(clinic, secrets)).toEqual([]);
    expect(found(clinic, ['Youngest Patient1', 'ACTIVEYOUNG2'])).toHaveLength(2);

    // The service's list still has the old inquiries. eligd treats them neither as new nor as
    // another program's, and does not restore their names.
    machine.pass({ hours: 25 });
    await clinic.once();
    expect(await service.ledger()).toHaveLength(calls);
    expect(found(clinic, secrets)).toEqual([]);
    expect(JSON.parse((await clinic.run('status', '--json')).stdout).halts).toEqual([]);
  },
);

test('purge deletes calls that no visit needs since its member ID changed', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const booked = visits(3, (index) => ({
    patient_name: `Xanthippe Quillfeather${index}`,
    member_id: `ACTIVEFORMER${index}`,
  }));
  clinic.drop('first.csv', exportOf(booked));
  await clinic.once();
  const corrected = booked.map((visit, index) => ({ ...visit, member_id: `ACTIVENEW${index}` }));
  clinic.drop('second.csv', exportOf(corrected));
  await clinic.once();
  expect(await service.ledger()).toHaveLength(6);
  await service.advance({ days: 8 });
  machine.pass({ days: 8 });
  await clinic.once();
  const personal = ['Quillfeather', 'ACTIVEFORMER', 'ACTIVENEW'];
  expect(found(clinic, personal)).toEqual(personal);
  machine.pass({ days: 100 });
  const { stdout } = await clinic.run('purge', '--older-than', '60');
  expect(stdout).toContain('Deleted: 3 appointments, 6 inquiries');
  expect(found(clinic, personal)).toEqual([]);
});

test('purge deletes old copies from upgrades and restores, but no nightly backups', async () => {
  const machine = setMachineClock(Date.now());
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  clinic.drop('export.csv', exportOf(visits(2)));
  await clinic.once();
  expect((await clinic.run('backup', '--before-upgrade', '0.0.1')).code).toBe(0);
  expect((await clinic.run('backup')).code).toBe(0);
  const folder = join(clinic.state, 'backups');
  const [upgrade, nightly] = readdirSync(folder).sort();
  expect((await clinic.run('restore', join(folder, nightly!))).code).toBe(0);
  writeFileSync(join(folder, 'notes.txt'), 'mine');
  const replaced = () => readdirSync(clinic.state).filter((name) => name.includes('.replaced-'));
  expect(replaced().length).toBeGreaterThan(0);

  machine.pass({ days: 50 });
  expect((await clinic.run('purge', '--older-than', '60')).stdout).toContain(
    '0 old database copies',
  );
  machine.pass({ days: 11 });
  expect((await clinic.run('purge', '--older-than', '60')).stdout).toContain(
    '2 old database copies',
  );
  expect(upgrade).toMatch(/^before-upgrade-from-0\.0\.1-/);
  expect(readdirSync(folder).sort()).toEqual([nightly, 'notes.txt']);
  expect(replaced()).toEqual([]);
});
