/** A lost database, a second daemon, and another program on the account. */
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import {
  expectOneCallEach,
  expectOwnAnswers,
  needsOf,
  placesOf,
  questionsOf,
  writtenFor,
} from '../support/needs.ts';
import { judge, makeExport, readExport } from '../support/pms-export.ts';
import { startService } from '../support/service.ts';
import { exportOf, type Visit, visits } from '../support/visits.ts';

const FOREIGN = {
  type: 'BENEFITS',
  desired_completion_date: '01-10-2030',
  patient_name: 'Somebody Else',
  dob: '02-03-1950',
  member_id: 'ACTIVE555555',
  tax_id: '987654321',
  benefits_query: ['STANDARD'],
  external_id: 'other-1',
};

/** The operator confirms that the lost database is gone for good. */
async function confirm(clinic: Clinic): Promise<void> {
  expect((await clinic.run('release', 'submission')).code).toBe(0);
}

test.each([
  { name: 'while everything was open', advance_first: false },
  { name: 'after everything was answered', advance_first: true },
])(
  'a database lost $name causes no second call, and eligd writes the answers again',
  async ({ advance_first }) => {
    const machine = setMachineClock();
    const service = await startService();
    const clinic = makeClinic({ base_url: service.url });
    const bytes = makeExport({ shape: 'tab', count: 60, from: '2030-01-09' });
    const { questions } = judge(readExport('tab', bytes), '2030-01-07');
    const finish = async () => {
      await service.advance({ days: 12 });
      for (let round = 0; round < 3; round += 1) {
        await clinic.once();
        machine.pass({ hours: 7 });
        await service.advance({ hours: 2 });
      }
      await clinic.once();
    };
    clinic.drop('Export.csv', bytes);
    await clinic.once();
    if (advance_first) await finish();
    const before = await service.ledger();
    const written_before = clinic.written().length;
    expect(before.length).toBeGreaterThanOrEqual(needsOf(questions).length);
    expect(written_before > 0).toBe(advance_first);

    rmSync(clinic.state, { recursive: true });
    clinic.drop('Export again.csv', Buffer.concat([bytes, Buffer.from('\n', 'utf16le')]));
    await clinic.once();
    await confirm(clinic);
    await clinic.once();
    if (advance_first)
      expect((await service.ledger()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    await finish();
    const after = await service.ledger();
    // Only the second attempts that were still to come.
    const needs = needsOf(questions).length;
    const unsuccessful = after.filter(
      ({ status, attempt }) => status === 'UNSUCCESSFUL' && attempt === 1,
    ).length;
    expect(after.length).toBeLessThanOrEqual(needs + unsuccessful);
    if (advance_first) expect(after).toHaveLength(before.length);
    const lines = clinic.written();
    expect(lines.length).toBeGreaterThan(written_before);
    const again = lines.slice(written_before);
    expect(new Set(again.map((line) => `${line.appointment_id}/${line.coverage}`))).toEqual(
      placesOf(questions),
    );
    // Old lines still point to their own records: a new record has not replaced another patient's.
    expectOwnAnswers(clinic, after);
  },
);

test('after a lost database, new records do not replace other patients’ old ones', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const all = visits(5);
  for (const exported of [all, [...all].reverse()]) {
    clinic.drop('export.csv', exportOf(exported));
    await clinic.once();
    await confirm(clinic);
    await clinic.once();
    await service.advance({ days: 6 });
    await clinic.once();
    rmSync(clinic.state, { recursive: true });
    machine.pass({ minutes: 1 });
  }
  expect(await service.ledger()).toHaveLength(5);
  expect(clinic.written()).toHaveLength(10);
  expectOwnAnswers(clinic, await service.ledger());
});

test('after a lost database, recent answers serve appointments with other IDs', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  clinic.drop('one.csv', exportOf(visits(4)));
  await clinic.once();
  rmSync(clinic.state, { recursive: true });
  clinic.drop('two.csv', exportOf(visits(4, (index) => ({ appointment_id: `new-${index}` }))));
  await clinic.once();
  await confirm(clinic);
  await clinic.once();
  await service.advance({ days: 6 });
  await clinic.once();
  expect(await service.ledger()).toHaveLength(4);
  expect(writtenFor(clinic)).toEqual(new Set([0, 1, 2, 3].map((index) => `new-${index}/1`)));
  expectOwnAnswers(clinic, await service.ledger());
});

test('after a lost database, a twin with the same member ID gets their own call', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const [first] = visits(1);
  const twin = {
    ...first,
    appointment_id: 'twin',
    patient_id: 'P-twin',
    patient_name: 'Zelda Other',
  } as Visit;
  clinic.drop('one.csv', exportOf([first as Visit]));
  await clinic.once();
  rmSync(clinic.state, { recursive: true });
  clinic.drop('two.csv', exportOf([twin]));
  await clinic.once();
  await confirm(clinic);
  await clinic.once();
  expect((await service.ledger()).map(({ external_id }) => external_id)).toEqual([
    first?.appointment_id,
    'twin',
  ]);
});

test('eligd refuses a second daemon on the database, and the first one continues', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  clinic.drop('export.csv', exportOf(visits(2)));
  const first = await clinic.daemon();
  try {
    const { code, stderr } = await clinic.run('once');
    expect(code).toBe(75);
    expect(stderr).toMatch(/Another eligd is running on this database/);
    expect(await service.ledger()).toEqual([]);
    await first.once(new AbortController().signal);
  } finally {
    await first.close();
  }
  expectOneCallEach(await service.ledger(), needsOf(questionsOf(visits(2))));
  await clinic.once();
});

test.each([
  { shared_account: false, sent: 2, stopped: ['submission_stopped'] },
  { shared_account: true, sent: 4, stopped: [] },
])(
  'another program on the account, shared_account $shared_account',
  async ({ shared_account, sent, stopped }) => {
    const machine = setMachineClock();
    const service = await startService();
    // Inquiries from before the first reconciliation may be our own from a lost database, so they
    // stop nothing.
    await service.createBeside({ ...FOREIGN, external_id: 'other-0', member_id: 'ACTIVE444444' });
    const clinic = makeClinic({ base_url: service.url, config: { service: { shared_account } } });
    const round = new AbortController().signal;
    const daemon = await clinic.daemon();
    try {
      const all = visits(4);
      clinic.drop('one.csv', exportOf(all.slice(0, 2)));
      await daemon.once(round);
      // A call of the first minutes may have been on its way from a lost database.
      machine.pass({ minutes: 30 });
      await service.createBeside(FOREIGN);
      // The reconciliation is daily.
      machine.pass({ hours: 25 });
      clinic.drop('two.csv', exportOf(all));
      await daemon.once(round);
      machine.pass({ hours: 1 });
      await daemon.once(round);
      const ours = (await service.ledger()).filter(
        ({ external_id }) => !external_id?.startsWith('other'),
      );
      expect(ours.map(({ external_id }) => external_id)).toEqual(
        all.slice(0, sent).map(({ appointment_id }) => appointment_id),
      );
      expect(
        clinic
          .attention()
          .flatMap(({ reason }) => (reason === 'submission_stopped' ? [reason] : [])),
      ).toEqual(stopped);
    } finally {
      await daemon.close();
    }
    const { stdout } = await clinic.run('explain', '9003');
    if (shared_account) expect(stdout).toMatch(/Call in progress: the service phones/);
    else expect(stdout).toMatch(/another|second|not sent by this installation/i);
    // eligd still polls and writes back the inquiries that it sent before.
    await service.advance({ days: 8 });
    await clinic.once();
    expect(writtenFor(clinic)).toEqual(placesOf(questionsOf(visits(sent) as Visit[])));
  },
);
