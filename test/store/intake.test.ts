import { beforeEach, describe, expect, test } from 'vitest';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { planAppointment } from '../../src/domain/planning.ts';
import { openAttention } from '../../src/store/bookkeeping/attention.ts';
import { appointmentSubject, auditOf } from '../../src/store/bookkeeping/audit.ts';
import { CHANGED } from '../../src/store/calls/due-at-once.ts';
import { addPlanned } from '../../src/store/calls/inquiries.ts';
import { closeAppointment, link } from '../../src/store/calls/links.ts';
import { dueForPlanning, setPlanDue } from '../../src/store/calls/plan-due.ts';
import type { Store } from '../../src/store/engine/store.ts';
import {
  acceptBatch,
  cursorOf,
  type IntakeBatch,
  isLatestSource,
} from '../../src/store/intake/intake.ts';
import { aCoverage, anAppointment, FRIDAY_MS, facts } from '../domain/examples.ts';
import { temporaryStore } from './temporary.ts';

const DESK = 'front-desk';
const LATER_MS = FRIDAY_MS + 1000;

let store: Store;
beforeEach(async () => {
  store = await temporaryStore();
});

type Parts = Partial<Omit<IntakeBatch, 'source'>> & { source?: Partial<IntakeBatch['source']> };

function batch({ source, ...over }: Parts = {}): IntakeBatch {
  return {
    appointments: [],
    rejected: [],
    cursor: null,
    ...over,
    source: {
      key: 'sha256:1',
      name: 'export.csv',
      is_last: true,
      completeness: 'changes',
      ...source,
    },
  };
}

function accept(parts: Parts, now = FRIDAY_MS, connector = DESK) {
  return store.write((tx) => acceptBatch(tx, connector, batch(parts), now));
}

/** A visit on this day of December 2026; the number is also its source ID. */
function on(day: number, over: Partial<AppointmentInput> = {}): AppointmentInput {
  const starts_at = new Date(Date.UTC(2026, 11, day, 15)).toISOString();
  return anAppointment({ source_id: `A-${day}`, starts_at, ...over });
}

const rows = () => store.db.selectFrom('appointments').selectAll().orderBy('id').execute();

async function row(source_id: string) {
  const found = (await rows()).filter(
    (each) => each.source_id === source_id && each.superseded_at === null,
  );
  expect(found).toHaveLength(1);
  return found[0]!;
}

async function trail(id: number): Promise<string[]> {
  return (await auditOf(store.db, [appointmentSubject(id)])).map(({ to_state }) => to_state);
}

describe('a batch', () => {
  test('an unreadable start or a missing ID loses no appointment', async () => {
    const counts = await accept({
      appointments: [on(1), on(2, { starts_at: 'tomorrow' }), on(3, { source_id: '' })],
    });
    expect(counts).toMatchObject({ new: 1, rejected: 2 });
    expect((await openAttention(store.db)).map(({ what }) => what)).toEqual([
      'Appointment 2, starts_at: not a date and time.',
      'Appointment 3, source_id: empty.',
    ]);
  });

  test('a visit with a field of a million characters is listed, and others are taken', async () => {
    const long = 'x'.repeat(1_000_000);
    const { patient } = on(2);
    const counts = await accept({
      appointments: [
        on(1),
        on(2, { patient: { ...patient, last_name: long } }),
        on(3, { coverages: [aCoverage({ member_id: long })] }),
      ],
    });
    expect(counts).toMatchObject({ new: 1, rejected: 2 });
    expect((await openAttention(store.db)).map(({ what }) => what)).toEqual([
      'Appointment 2, patient.last_name: too long.',
      'Appointment 3, coverages.0.member_id: too long.',
    ]);
    const [, ...others] = await rows();
    expect(others).toEqual([]);
  });

  test('texts beside the visits that are too long are listed and not kept', async () => {
    const long = 'x'.repeat(1_000_000);
    await accept({ appointments: [on(1)] });
    await accept({
      source: { name: long, completeness: 'changes' },
      appointments: [],
      cancelled_ids: [long, 'A-1'],
      rejected: [
        { position: 'row 3', source_id: long, field: long, value_class: long, remedy: long },
      ],
    });
    const entries = await openAttention(store.db);
    expect(entries.map(({ what }) => what.replaceAll(/x{9,}/g, 'x'))).toEqual([
      'Row 3, x…: x….',
      'Source, name: too long.',
      'Cancellation 1, appointment ID: too long.',
    ]);
    expect(JSON.parse((await row('A-1')).content).status).toBe('cancelled');
    for (const table of ['attention', 'sources', 'audit'] as const)
      for (const each of await store.db.selectFrom(table).selectAll().execute())
        expect(JSON.stringify(each).length, table).toBeLessThan(6_000);
  });

  test('a batch is stored, due for planning at once, and in the audit trail', async () => {
    expect(await accept({ appointments: [on(1), on(2)] })).toEqual({
      new: 2,
      changed: 0,
      unchanged: 0,
      rejected: 0,
      vanished: 0,
    });
    const stored = await row('A-1');
    expect(JSON.parse(stored.content)).toEqual(on(1));
    expect(stored).toMatchObject({
      connector: DESK,
      starts_at: Date.parse(on(1).starts_at),
      patient_key: 'front-desk|P-1|1980-01-02',
      plan_due_at: CHANGED,
      closed_reason: null,
    });
    expect(await trail(stored.id)).toEqual(['accepted']);
  });

  test('a batch that arrives twice changes nothing', async () => {
    const parts = {
      appointments: [on(1), on(2)],
      cursor: 'c1',
      source: { completeness: 'full' },
    } as const;
    await accept(parts);
    await store.write((tx) => tx.updateTable('appointments').set({ plan_due_at: null }).execute());
    const before = [await rows(), await store.db.selectFrom('audit').selectAll().execute()];
    expect(await accept(parts, LATER_MS)).toEqual({
      new: 0,
      changed: 0,
      unchanged: 2,
      rejected: 0,
      vanished: 0,
    });
    expect([await rows(), await store.db.selectFrom('audit').selectAll().execute()]).toEqual(
      before,
    );
    expect(await store.db.selectFrom('sources').selectAll().execute()).toHaveLength(1);
    expect(await openAttention(store.db)).toEqual([]);
  });

  test('a batch may be larger than one statement', async () => {
    const many = Array.from({ length: 1203 }, (_, index) => on(1, { source_id: `B-${index}` }));
    expect(await accept({ appointments: many })).toMatchObject({ new: 1203 });
    expect(await accept({ appointments: many })).toMatchObject({ unchanged: 1203 });
  });

  test('the last mention counts when a batch names an appointment twice', async () => {
    expect(await accept({ appointments: [on(1), on(1, { location: 'North' })] })).toMatchObject({
      new: 1,
    });
    expect(JSON.parse((await row('A-1')).content)).toMatchObject({ location: 'North' });
  });

  test('a batch of one connector leaves the appointments of another alone', async () => {
    await accept({ appointments: [on(1)] });
    expect(await accept({ appointments: [on(1)] }, FRIDAY_MS, 'ehr')).toMatchObject({ new: 1 });
    expect(await rows()).toHaveLength(2);
  });
});

describe('an appointment that arrives again', () => {
  beforeEach(() => accept({ appointments: [on(1)] }));

  test.each([
    ['time', { starts_at: '2026-12-01T20:00:00.000Z' }],
    ['status', { status: 'cancelled' }],
    ['coverage', { coverages: [aCoverage({ group_id: 'G2' })] }],
    ['patient', { patient: { ...anAppointment().patient, first_name: 'Adah' } }],
    ['procedures', { procedure_codes: ['D1110'] }],
    ['provider or place', { location: 'North' }],
  ] as [string, Partial<AppointmentInput>][])(
    'an appointment with another %s is the same one, and is planned again',
    async (what, change) => {
      await store.write((tx) =>
        tx.updateTable('appointments').set({ plan_due_at: null }).execute(),
      );
      const before = await row('A-1');
      expect(await accept({ appointments: [on(1, change)] }, LATER_MS)).toMatchObject({
        new: 0,
        changed: 1,
      });
      const after = await row('A-1');
      expect(after).toMatchObject({
        id: before.id,
        created_at: before.created_at,
        updated_at: LATER_MS,
        plan_due_at: CHANGED,
      });
      expect(JSON.parse(after.content)).toEqual(on(1, change));
      const audit = await auditOf(store.db, [appointmentSubject(after.id)]);
      expect(audit.at(-1)).toMatchObject({
        to_state: 'changed',
        reason: `Changed in the practice management system: ${what}.`,
      });
    },
  );

  test('an unchanged appointment stays closed, and a changed one reopens', async () => {
    const { id } = await row('A-1');
    await store.write((tx) => setPlanDue(tx, id, null, null));
    await store.write((tx) => closeAppointment(tx, id, 'cancelled', FRIDAY_MS));
    await accept({ appointments: [on(1)] }, LATER_MS);
    expect(await row('A-1')).toMatchObject({ closed_reason: 'cancelled', plan_due_at: null });
    await accept({ appointments: [on(1, { location: 'North' })] }, LATER_MS);
    expect(await row('A-1')).toMatchObject({
      closed_reason: null,
      closed_at: null,
      plan_due_at: CHANGED,
    });
  });

  test('another birth date and member ID make a new appointment', async () => {
    const { id } = await row('A-1');
    const other = on(1, {
      patient: { id: 'P-9', first_name: 'Eve', last_name: 'Other', birth_date: '1999-09-09' },
      coverages: [aCoverage({ member_id: 'Z999' })],
    });
    expect(await accept({ appointments: [other] }, LATER_MS)).toMatchObject({ new: 1, changed: 0 });
    const [old, current] = await rows();
    expect(old).toMatchObject({
      id,
      superseded_at: LATER_MS,
      closed_reason: 'replaced',
      plan_due_at: CHANGED,
    });
    expect(JSON.parse(old!.content)).toEqual(on(1));
    expect(current).toMatchObject({
      superseded_at: null,
      patient_key: 'front-desk|P-9|1999-09-09',
    });
    expect(await trail(id)).toEqual(['accepted', 'closed']);
    expect(await accept({ appointments: [other] }, LATER_MS)).toMatchObject({ unchanged: 1 });
  });

  test.each([
    ['birth date', { patient: { ...anAppointment().patient, birth_date: '1999-09-09' } }],
    ['member id', { coverages: [aCoverage({ member_id: 'Z999' })] }],
    ['patient id (a merged patient)', { patient: { ...anAppointment().patient, id: 'P-2' } }],
  ])('another %s alone keeps the appointment', async (_, change) => {
    const { id } = await row('A-1');
    expect(await accept({ appointments: [on(1, change)] })).toMatchObject({ new: 0, changed: 1 });
    expect((await row('A-1')).id).toBe(id);
  });
});

describe('cursor and source', () => {
  test('a batch stores its cursor and source', async () => {
    expect(await cursorOf(store.db, DESK)).toBeNull();
    await accept({ cursor: 'c1', source: { is_last: false } });
    expect(await cursorOf(store.db, DESK)).toBe('c1');
    expect(await isLatestSource(store.db, DESK, 'sha256:1')).toBe(false);
    await accept({ cursor: null });
    expect(await cursorOf(store.db, DESK)).toBe('c1');
    expect(await isLatestSource(store.db, DESK, 'sha256:1')).toBe(true);
    expect(await isLatestSource(store.db, 'ehr', 'sha256:1')).toBe(false);
  });

  test('a failed batch stores neither cursor nor source (G3)', async () => {
    await accept({ cursor: 'c1' });
    const before = await rows();
    const crash = store.write(async (tx) => {
      await acceptBatch(
        tx,
        DESK,
        batch({ appointments: [on(1)], cursor: 'c2', source: { key: 'sha256:2' } }),
        FRIDAY_MS,
      );
      throw new Error('crash');
    });
    await expect(crash).rejects.toThrow('crash');
    const impossible = {
      appointments: [on(2), on(1, { source_id: null as never })],
      cursor: 'c3',
      source: { key: 'sha256:2' },
    };
    await expect(accept(impossible)).rejects.toThrow();
    expect(await cursorOf(store.db, DESK)).toBe('c1');
    expect(await isLatestSource(store.db, DESK, 'sha256:2')).toBe(false);
    expect(await rows()).toEqual(before);
  });
});

/** A planned inquiry for any visit. */
function anInquiry() {
  const decision = planAppointment('P', anAppointment(), facts());
  if (decision.kind !== 'ask') throw new Error('It is to be asked about.');
  const { draft } = decision.coverages[0]!;
  return {
    connector: DESK,
    need_base: 'need',
    benefit_year: 2026,
    attempt: 1,
    retry: 0,
    patient_key: 'P',
    specialty: 'dental' as const,
    external_id: 'A-3',
    match_key: 'key',
    due_at: FRIDAY_MS,
    visit_at: FRIDAY_MS,
    draft,
  };
}

const by = (rendering_npi: string) => ({
  provider: { ...anAppointment().provider, rendering_npi },
});

describe('the exports of two offices', () => {
  test.each([
    [3, 8, { location: 'North' }, { location: 'South' }],
    [8, 3, { location: 'North' }, { location: 'South' }],
    [3, 8, by('1245319599'), by('1043218118')],
    // No row names its office: each office's next export names its own visits again.
    [3, 8, {}, {}],
  ])(
    'two offices’ visits do not vanish from each other: %i and %i of %o and %o',
    async (north, south, of_north, of_south) => {
      const office = (name: string, count: number, of: object) =>
        Array.from({ length: count }, (_, index) =>
          on(1 + (index % 5), { source_id: `${name}-${index}`, ...of }),
        );
      const [ours, theirs] = [office('N', north, of_north), office('S', south, of_south)];
      for (let day = 1; day <= 3; day += 1) {
        for (const [name, rows] of [
          ['north', ours],
          ['south', theirs],
        ] as const) {
          const source = { key: `${name} ${day}`, completeness: 'unknown' } as const;
          const at = FRIDAY_MS + day * 1_000;
          expect(await accept({ appointments: rows, source }, at)).toMatchObject({ vanished: 0 });
        }
      }
      expect(await openAttention(store.db)).toEqual([]);
    },
  );
});

describe('a missing appointment', () => {
  const days = [1, 2, 3, 4, 5].map((day) => on(day));
  const next = (
    appointments: AppointmentInput[],
    completeness: 'full' | 'changes' | 'unknown',
    key = 'sha256:2',
  ) => accept({ appointments, source: { key, completeness } }, LATER_MS);
  const missing = async () =>
    (await rows()).filter((each) => each.missing_since !== null).map(({ source_id }) => source_id);

  beforeEach(() => accept({ appointments: days }));

  test('after two full exports without it, an appointment has vanished', async () => {
    const without = [on(1), on(2), on(4), on(5)];
    expect(await next(without, 'full')).toMatchObject({ unchanged: 4, vanished: 0 });
    expect(await next(without, 'full', 'sha256:3')).toMatchObject({ unchanged: 4, vanished: 1 });
    expect(await row('A-3')).toMatchObject({
      missing_since: LATER_MS,
      closed_reason: null,
    });
    const due = await dueForPlanning(store.db, LATER_MS, 9);
    expect(due.map(({ id }) => id)).toContain((await row('A-3')).id);
    expect(await openAttention(store.db)).toMatchObject([
      { reason: 'vanished', source_id: 'A-3', since: LATER_MS },
    ]);
  });

  test('after one export without it and one with it, it has not vanished', async () => {
    await next([on(1), on(2), on(4), on(5)], 'full');
    await next(days, 'full', 'sha256:3');
    expect(await next([on(1), on(2), on(4), on(5)], 'full', 'sha256:4')).toMatchObject({
      vanished: 0,
    });
    expect(await missing()).toEqual([]);
  });

  test.each([
    ['planned', 'eligd makes no call for it.'],
    ['open', 'The call is already made'],
    ['answered', 'The insurance company has already answered'],
  ] as const)(
    'the entry of a vanished appointment says that its call is %s',
    async (state, words) => {
      const { id } = await row('A-3');
      await store.write(async (tx) => {
        const added = await addPlanned(tx, anInquiry(), 'A test needs it.', FRIDAY_MS);
        const draft = anInquiry().draft;
        await link(tx, { inquiry: added!.id, appointment: id, coverage_rank: 1, draft }, FRIDAY_MS);
        await tx.updateTable('inquiries').set({ state }).execute();
      });
      await next([on(1), on(2), on(4), on(5)], 'full');
      await next([on(1), on(2), on(4), on(5)], 'full', 'sha256:3');
      expect((await openAttention(store.db)).map(({ what }) => what)).toEqual([
        expect.stringContaining(words),
      ]);
    },
  );

  test('full exports of other days do not count', async () => {
    await next([on(2), on(3)], 'full');
    expect(await next([on(2), on(3)], 'full', 'sha256:3')).toMatchObject({ vanished: 0 });
    await next([on(2), on(4)], 'full', 'sha256:4');
    expect(await next([on(2), on(4)], 'full', 'sha256:5')).toMatchObject({ vanished: 1 });
    expect(await missing()).toEqual(['A-3']);
  });

  test('exports that only bring changes do not count', async () => {
    await next([on(1), on(5)], 'changes');
    expect(await next([on(1), on(5)], 'changes', 'sha256:3')).toMatchObject({ vanished: 0 });
    expect(await missing()).toEqual([]);
  });

  test('exports of unknown kind count if they have most of its day', async () => {
    await next([on(1), on(5)], 'unknown');
    expect(await next([on(1), on(5)], 'unknown', 'sha256:3')).toMatchObject({ vanished: 0 });
    await next([on(1), on(2), on(5)], 'unknown', 'sha256:4');
    expect(await next([on(1), on(2), on(5)], 'unknown', 'sha256:5')).toMatchObject({ vanished: 2 });
    expect(await missing()).toEqual(['A-3', 'A-4']);
  });

  test('one row of an export of unknown kind proves nothing', async () => {
    const twin = on(1, { source_id: 'A-1b' });
    await accept({ appointments: [twin] });
    await next([on(1)], 'unknown');
    expect(await next([on(1)], 'unknown', 'sha256:3')).toMatchObject({ vanished: 0 });
  });

  test('eligd looks for missing appointments after a source’s last batch only', async () => {
    await next([on(1), on(2), on(3), on(5)], 'full', 'sha256:1b');
    const first = {
      appointments: [on(1), on(2), on(5)],
      source: { key: 'sha256:2', completeness: 'full', is_last: false },
    } as const;
    expect(await accept(first, LATER_MS)).toMatchObject({ vanished: 0 });
    const last = {
      appointments: [on(3)],
      source: { key: 'sha256:2', completeness: 'full' },
    } as const;
    expect(await accept(last, LATER_MS)).toMatchObject({ vanished: 1 });
    expect(await missing()).toEqual(['A-4']);
  });

  test('a vanished appointment is logged once', async () => {
    await next([on(1), on(5)], 'full');
    expect(await next([on(1), on(5)], 'full', 'sha256:3')).toMatchObject({ vanished: 3 });
    expect(await next([on(1), on(5)], 'full', 'sha256:4')).toMatchObject({ vanished: 0 });
    expect(await openAttention(store.db)).toHaveLength(3);
  });

  test('an empty export and an export of past days prove nothing', async () => {
    expect(await next([], 'full')).toMatchObject({ vanished: 0 });
    const past = [10, 19].map((day) =>
      on(1, { source_id: `P-${day}`, starts_at: `2026-11-${day}T15:00:00.000Z` }),
    );
    expect(await next(past, 'full', 'sha256:3')).toMatchObject({ new: 2, vanished: 0 });
  });

  test('an export that says canceled cancels the appointment and lists nothing', async () => {
    const appointments = [on(1), on(2), on(4), on(5)];
    const counts = await accept(
      { appointments, cancelled_ids: ['A-3'], source: { key: 'sha256:2', completeness: 'full' } },
      LATER_MS,
    );
    expect(counts).toMatchObject({ unchanged: 4, changed: 1, vanished: 0 });
    expect(await openAttention(store.db)).toEqual([]);
  });

  test('a vanished or unreadable appointment leaves the list when it is canceled', async () => {
    const unreadable = {
      position: 'A-9',
      source_id: 'A-9',
      field: 'start',
      value_class: 'empty',
      remedy: 'Enter it.',
    };
    await accept({ rejected: [unreadable] });
    expect(await openAttention(store.db)).toHaveLength(1);
    await accept({ cancelled_ids: ['A-9'], source: { key: 'sha256:2' } }, LATER_MS);
    expect(await openAttention(store.db)).toEqual([]);
  });

  test('a closed appointment does not vanish', async () => {
    const { id } = await row('A-3');
    await store.write((tx) => closeAppointment(tx, id, 'cancelled', FRIDAY_MS));
    expect(await next([on(1), on(2), on(4), on(5)], 'full')).toMatchObject({ vanished: 0 });
  });

  test('an appointment of another connector does not vanish', async () => {
    const parts = {
      appointments: [on(1), on(5)],
      source: { key: 'sha256:2', completeness: 'full' },
    } as const;
    expect(await accept(parts, LATER_MS, 'ehr')).toMatchObject({ new: 2, vanished: 0 });
  });

  test('an appointment that is named again, even unchanged, leaves the list', async () => {
    await next([on(1), on(2), on(4), on(5)], 'full');
    await next([on(1), on(2), on(4), on(5)], 'full', 'sha256:2b');
    expect(await next([on(3)], 'changes', 'sha256:3')).toMatchObject({ changed: 1, unchanged: 0 });
    expect(await missing()).toEqual([]);
    expect(await row('A-3')).toMatchObject({ plan_due_at: CHANGED });
    expect(await openAttention(store.db)).toEqual([]);
    const audit = await auditOf(store.db, [appointmentSubject((await row('A-3')).id)]);
    expect(audit.at(-1)).toMatchObject({ reason: 'It is in the export again.' });
  });
});

describe('a rejected item', () => {
  const item = {
    position: 'row 17',
    field: 'DOB',
    value_class: 'impossible date',
    remedy: 'Fix the date.',
  };

  test('a rejected item is listed, and the others are stored (G7)', async () => {
    expect(await accept({ appointments: [on(1)], rejected: [item] })).toMatchObject({
      new: 1,
      rejected: 1,
    });
    expect(await openAttention(store.db)).toMatchObject([
      {
        connector: DESK,
        reason: 'row_unreadable',
        what: 'Row 17, DOB: impossible date.',
        words: 'It is in export.csv.',
        next: 'Fix the date.',
      },
    ]);
  });

  test('a repeated rejection is one entry, with its first time', async () => {
    await accept({ rejected: [item] });
    await accept({ rejected: [item] }, LATER_MS);
    expect(await openAttention(store.db)).toMatchObject([{ since: FRIDAY_MS }]);
  });

  test('an item with two faults is listed with both', async () => {
    await accept({ rejected: [item, { ...item, field: 'Time', value_class: 'empty' }] });
    const said = (await openAttention(store.db)).map(({ what }) => what).join(' ');
    expect(said).toContain('DOB: impossible date');
    expect(said).toContain('Time: empty');
  });
});
