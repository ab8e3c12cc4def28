import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Explanation, explain, type Moment } from '../../src/domain/explanation.ts';
import { INFORMATIONAL_REASONS } from '../../src/domain/situation.ts';
import { readBudget } from '../../src/store/calls/budget.ts';
import { halt } from '../../src/store/calls/halts.ts';
import { updateInquiry } from '../../src/store/calls/inquiries.ts';
import { closeAppointment } from '../../src/store/calls/links.ts';
import { readDatabase } from '../../src/store/engine/read-only.ts';
import { listAppointments } from '../../src/store/views/listed-appointments.ts';
import { countSituations, readStatus } from '../../src/store/views/overview.ts';
import { withProgress } from '../../src/store/views/progress.ts';
import { findSubject } from '../../src/store/views/subject.ts';
import { NO_BUDGET } from '../domain/examples.ts';
import { Clinic, NOW, VISIT } from './clinic.ts';

let folder: string;
let clinic: Clinic;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eligd-overview-'));
  clinic = await Clinic.open(folder);
});
afterEach(async () => {
  await clinic.store.close();
  rmSync(folder, { recursive: true });
});

const MOMENT: Moment = { now: NOW, budget: null };

async function explained(id: number, moment = MOMENT): Promise<Explanation> {
  const { appointments } = await listAppointments(clinic.db, { ids: [id] }, 1, moment.now);
  const [only] = await withProgress(clinic.db, appointments);
  return explain(only!, only!.progress, moment);
}

const situationOf = async (id: number) => (await explained(id)).situation;

describe('an appointment', () => {
  test('an appointment that was just read waits for planning', async () => {
    expect(await explained(await clinic.appointment('1'))).toEqual({
      situation: 'waiting',
      why: 'It is new or has changed; eligd plans it in the next pass.',
      until: null,
      next: null,
    });
  });

  test('an appointment outside the window waits until it opens', async () => {
    const id = await clinic.appointment('1', { plan: { due_at: NOW + 5, wait: 'outside_window' } });
    expect(await explained(id)).toMatchObject({
      situation: 'waiting',
      until: NOW + 5,
      why: expect.stringContaining('look-ahead'),
    });
  });

  test('an appointment is planned until its inquiry is sent, with what holds it', async () => {
    const { appointment, inquiry } = await clinic.planned('1');
    expect(await explained(appointment)).toMatchObject({
      situation: 'planned',
      why: expect.stringContaining('goes out'),
    });
    const budget = { period: 'day', unit: 'calls', limit: 5, from: NOW, until: NOW + 9 } as const;
    expect(await explained(appointment, { now: NOW, budget })).toMatchObject({
      situation: 'planned',
      why: 'The 5 calls that policy.calls_per_day allows are used up for today.',
      until: NOW + 9,
    });
    await clinic.store.write((tx) => updateInquiry(tx, inquiry, { due_at: NOW + 7 }, NOW));
    expect(await explained(appointment)).toMatchObject({ situation: 'planned', until: NOW + 7 });
    await clinic.store.write((tx) =>
      halt(
        tx,
        { reason: 'account', detail: 'The service answered 403.', next_try_at: NOW + 8 },
        { what: '', next: '' },
        NOW,
      ),
    );
    expect(await explained(appointment)).toMatchObject({
      until: NOW + 8,
      why: expect.stringContaining('answered 403'),
    });
    await clinic.store.write((tx) => updateInquiry(tx, inquiry, { hold_reason: 'vanished' }, NOW));
    expect((await explained(appointment)).why).toContain('missing from two exports');
  });

  test('a change makes an appointment wait before its inquiry is sent, not after', async () => {
    const before = await clinic.planned('1');
    const after = await clinic.planned('2');
    await clinic.open(after.inquiry);
    for (const source_id of ['1', '2'])
      await clinic.appointment(source_id, { procedure_codes: ['D0120'] });
    expect([await situationOf(before.appointment), await situationOf(after.appointment)]).toEqual([
      'waiting',
      'asking',
    ]);
  });

  test.each([
    ['sending', ['planned', 'sending'], {}, null],
    ['uncertain', ['planned', 'sending', 'uncertain'], { lookup_at: NOW + 300_000 }, NOW + 300_000],
    ['open', ['planned', 'sending', 'open'], { poll_at: NOW + 3_600_000 }, NOW + 3_600_000],
  ] as const)(
    'an appointment is being asked about while its inquiry is %s',
    async (_, path, changes, until) => {
      const { appointment, inquiry } = await clinic.planned('1');
      await clinic.move(inquiry, path, changes);
      expect(await explained(appointment)).toMatchObject({ situation: 'asking', until });
    },
  );

  test('an appointment is answered until the newest answer is written', async () => {
    const { appointment, inquiry } = await clinic.planned('1');
    await clinic.open(inquiry);
    await clinic.answer(inquiry, { deliver_to: [appointment] });
    expect(await explained(appointment)).toMatchObject({ situation: 'answered', until: null });
    await clinic.deliver('failed');
    expect(await explained(appointment)).toMatchObject({
      situation: 'answered',
      until: NOW + 60_000,
    });
    await clinic.store.write(
      async (tx) => void (await tx.updateTable('deliveries').set({ due_at: NOW }).execute()),
    );
    await clinic.deliver('delivered');
    expect(await situationOf(appointment)).toBe('delivered');
    await clinic.move(inquiry, ['answered', 'open']);
    await clinic.answer(inquiry, { deliver_to: [appointment] });
    expect(await situationOf(appointment)).toBe('answered');
  });

  test('an appointment with a parked delivery needs you', async () => {
    const { appointment, inquiry } = await clinic.planned('1');
    await clinic.open(inquiry);
    await clinic.answer(inquiry, { deliver_to: [appointment] });
    await clinic.deliver('parked');
    expect(await explained(appointment)).toMatchObject({
      situation: 'attention',
      next: expect.stringContaining('by hand'),
    });
  });

  test.each([
    ['rejected', ['planned', 'sending', 'rejected']],
    ['undecidable', ['planned', 'sending', 'uncertain', 'undecidable']],
  ] as const)(
    'an appointment whose inquiry is %s needs you, with or without an entry',
    async (state, path) => {
      const { appointment, inquiry } = await clinic.planned('1');
      await clinic.move(inquiry, path);
      expect(await explained(appointment)).toMatchObject({
        situation: 'attention',
        why: expect.stringContaining(`Reason of ${state}.`),
      });
    },
  );

  test('an appointment with an open entry, or one about its inquiry, needs you', async () => {
    const first = await clinic.planned('1');
    const second = await clinic.planned('2');
    await clinic.attention({ appointment: first.appointment }, 'vanished');
    await clinic.attention({ inquiry: second.inquiry }, 'lost_at_service');
    expect(await explained(first.appointment)).toMatchObject({
      situation: 'attention',
      next: 'Next of vanished.',
    });
    expect(await explained(second.appointment)).toMatchObject({
      situation: 'attention',
      next: 'Next of lost_at_service.',
    });
  });

  test.each(INFORMATIONAL_REASONS)(
    'an appointment is not stopped by the entry %s',
    async (reason) => {
      const { appointment } = await clinic.planned('1');
      await clinic.attention({ appointment }, reason);
      expect(await situationOf(appointment)).toBe('planned');
    },
  );

  test('an appointment that left an inquiry is not held by the entry about it', async () => {
    const { appointment, inquiry } = await clinic.planned('1');
    await clinic.move(inquiry, ['planned', 'sending', 'rejected']);
    await clinic.attention({ appointment, inquiry }, 'refused');
    await clinic.store.write(
      async (tx) => void (await tx.deleteFrom('inquiry_appointments').execute()),
    );
    await clinic.inquiry(appointment);
    expect(await situationOf(appointment)).toBe('planned');
  });

  test('an appointment without a known reason to wait needs you (G2)', async () => {
    const id = await clinic.appointment('1', { plan: { due_at: null } });
    expect(await explained(id)).toMatchObject({
      situation: 'attention',
      why: expect.stringContaining('bug in eligd'),
    });
  });

  test('a closed appointment counts as closed, whatever else it has', async () => {
    const { appointment, inquiry } = await clinic.planned('1');
    await clinic.open(inquiry);
    await clinic.store.write((tx) => closeAppointment(tx, appointment, 'cancelled', NOW));
    await clinic.attention({ inquiry }, 'no_answer');
    expect(await explained(appointment)).toMatchObject({
      situation: 'closed',
      why: expect.stringContaining('canceled'),
    });
  });

  test('with two coverages, the less advanced one counts', async () => {
    const { appointment, inquiry } = await clinic.planned('1');
    const second = await clinic.inquiry(appointment, { rank: 2 });
    await clinic.open(inquiry);
    await clinic.answer(inquiry, { deliver_to: [appointment] });
    await clinic.deliver('delivered');
    expect(await situationOf(appointment)).toBe('planned');
    await clinic.open(second);
    expect(await situationOf(appointment)).toBe('asking');
    await clinic.answer(second, { deliver_to: [appointment], rank: 2 });
    expect(await situationOf(appointment)).toBe('answered');
    await clinic.deliver('delivered');
    expect(await situationOf(appointment)).toBe('delivered');
  });

  test('an appointment waits while a coverage must let another inquiry go first', async () => {
    const { appointment, inquiry } = await clinic.planned('1', {
      plan: { due_at: NOW + 60_000, wait: 'other_inquiry_first' },
    });
    await clinic.open(inquiry);
    expect(await explained(appointment)).toMatchObject({
      situation: 'waiting',
      until: NOW + 60_000,
    });
  });

  test('the newest attempt counts, and a withdrawn inquiry does not', async () => {
    const { appointment, inquiry } = await clinic.planned('1');
    await clinic.open(inquiry);
    await clinic.answer(inquiry, { service_status: 'UNSUCCESSFUL' });
    expect((await explained(appointment)).why).toContain('was unsuccessful');
    const retry = await clinic.inquiry(appointment);
    expect(await situationOf(appointment)).toBe('planned');
    await clinic.move(retry, ['planned', 'withdrawn']);
    expect(await situationOf(appointment)).toBe('answered');
  });
});

describe('the counts', () => {
  test('the counts have each appointment exactly once, and agree with the lists', async () => {
    await clinic.appointment('w1');
    await clinic.appointment('w2', { plan: { due_at: NOW + 5, wait: 'outside_window' } });
    await clinic.planned('p');
    await clinic.open((await clinic.planned('a')).inquiry);
    const delivered = await clinic.planned('d');
    await clinic.open(delivered.inquiry);
    await clinic.answer(delivered.inquiry, { deliver_to: [delivered.appointment] });
    await clinic.deliver('delivered');
    const answered = await clinic.planned('an');
    await clinic.open(answered.inquiry);
    await clinic.answer(answered.inquiry, { deliver_to: [answered.appointment] });
    await clinic.attention({ appointment: await clinic.appointment('at') }, 'field_missing');
    const closed = await clinic.appointment('c');
    await clinic.store.write((tx) => closeAppointment(tx, closed, 'no_coverage', NOW));
    // The ID is used again for another patient: two appointments, one of them replaced.
    const other = { id: 'P-other', first_name: 'John', last_name: 'Doe', birth_date: '1999-09-09' };
    const coverages = [
      { carrier: 'Aetna', payor_id: '60054', member_id: 'A7', group_id: '', subscriber: null },
    ];
    await clinic.appointment('w1', { patient: other, coverages });

    const { claims, ...counts } = await countSituations(clinic.db, NOW);
    expect(claims.total).toBe(0);
    expect(counts).toEqual({
      total: 9,
      waiting: 2,
      planned: 1,
      asking: 1,
      answered: 1,
      delivered: 1,
      attention: 1,
      closed: { no_coverage: 1, replaced: 1 },
    });
    for (const situation of [
      'waiting',
      'planned',
      'asking',
      'answered',
      'delivered',
      'attention',
    ] as const) {
      expect((await listAppointments(clinic.db, { situation }, 10, NOW)).total).toBe(
        counts[situation],
      );
    }
    expect((await listAppointments(clinic.db, { situation: 'closed' }, 1, NOW)).total).toBe(2);
    expect((await listAppointments(clinic.db, {}, 1, NOW)).total).toBe(7);
    expect((await listAppointments(clinic.db, { connector: 'other' }, 1, NOW)).total).toBe(0);
  });

  test('the counts are all zero in an empty database', async () => {
    expect(await countSituations(clinic.db, NOW)).toMatchObject({
      total: 0,
      waiting: 0,
      closed: {},
    });
    const status = await readStatus(clinic.db, NOW);
    expect(status).toMatchObject({
      attention: [],
      halts: [],
      last_reads: [],
      deliveries: { oldest_at: null },
    });
  });
});

test('the budget is used up until the clinic’s next day or month', async () => {
  const { inquiry } = await clinic.planned('1');
  await clinic.open(inquiry);
  const { limits, prices } = NO_BUDGET;
  const budget = async (more: Partial<typeof limits>) =>
    (await readBudget(clinic.db, { prices, limits: { ...limits, ...more } }, NOW)).used_up?.until ??
    null;
  expect(await budget({})).toBeNull();
  expect(await budget({ calls_per_day: 2 })).toBeNull();
  expect(await budget({ calls_per_day: 1 })).toBe(Date.parse('2026-11-21T06:00:00Z'));
  expect(await budget({ calls_per_day: 1, calls_per_month: 1 })).toBe(
    Date.parse('2026-12-01T06:00:00Z'),
  );
});

describe('an ID', () => {
  test('any form of an ID finds its subject', async () => {
    const { appointment, inquiry } = await clinic.planned('12045');
    await clinic.open(inquiry);
    const is_appointment = { kind: 'appointment', id: appointment };
    const is_inquiry = { kind: 'inquiry', id: inquiry };
    expect(await findSubject(clinic.db, '12045')).toEqual(is_appointment);
    expect(await findSubject(clinic.db, 'front-desk:12045')).toEqual(is_appointment);
    expect(await findSubject(clinic.db, `appointment:${appointment}`)).toEqual(is_appointment);
    expect(await findSubject(clinic.db, `inquiry:${inquiry}`)).toEqual(is_inquiry);
    expect(await findSubject(clinic.db, `service-${inquiry}`)).toEqual(is_inquiry);
    expect(await findSubject(clinic.db, 'inquiry:99')).toEqual({ kind: 'none' });
  });

  test('an ID that two connectors have is not guessed', async () => {
    await clinic.appointment('7');
    const other = await clinic.appointment('7', { connector: 'ehr' });
    expect(await findSubject(clinic.db, '7')).toEqual({
      kind: 'ambiguous',
      connectors: ['ehr', 'front-desk'],
    });
    expect(await findSubject(clinic.db, 'ehr:7')).toEqual({ kind: 'appointment', id: other });
  });
});

describe('reading', () => {
  test('a reader sees the daemon’s commits, without its lock, and cannot write', async () => {
    await clinic.appointment('1');
    expect((await readDatabase(clinic.path, (db) => countSituations(db, NOW))).total).toBe(1);
    const write = readDatabase(
      clinic.path,
      async (db) => await db.deleteFrom('attention').execute(),
    );
    await expect(write).rejects.toMatchObject({ name: 'EligdError', kind: 'configuration' });
  });

  test('a reader keeps one view while the daemon continues', async () => {
    await clinic.appointment('1');
    await readDatabase(clinic.path, async (db) => {
      const before = await countSituations(db, NOW);
      await clinic.appointment('2', { starts_at: new Date(VISIT + 1).toISOString() });
      expect(await countSituations(db, NOW)).toEqual(before);
    });
  });

  test('a reader creates no database', async () => {
    const path = join(folder, 'none', 'eligd.db');
    await expect(readDatabase(path, async () => 1)).rejects.toMatchObject({
      kind: 'configuration',
      what: `There is no database at ${path} yet.`,
    });
    expect(existsSync(join(folder, 'none'))).toBe(false);
  });

  test('a reader says if a file is empty or not a database', async () => {
    const path = join(folder, 'other.db');
    writeFileSync(path, '');
    const count = readDatabase(path, (db) => countSituations(db, NOW));
    await expect(count).rejects.toMatchObject({
      kind: 'configuration',
      what: expect.stringContaining('does not have the format'),
    });
    writeFileSync(path, 'appointment_id,patient_name\n'.repeat(100));
    const read = readDatabase(path, (db) => countSituations(db, NOW));
    await expect(read).rejects.toMatchObject({
      kind: 'configuration',
      why: 'The system reports SQLITE_NOTADB.',
    });
  });
});
