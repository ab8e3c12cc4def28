import { beforeEach, describe, expect, test } from 'vitest';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { planAppointment } from '../../src/domain/planning.ts';
import { openAttention } from '../../src/store/bookkeeping/attention.ts';
import { appointmentSubject, auditOf } from '../../src/store/bookkeeping/audit.ts';
import { addPlanned } from '../../src/store/calls/inquiries.ts';
import { closeAppointment, link } from '../../src/store/calls/links.ts';
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

/** A visit on the day with this number in December 2026; the number is its source id too. */
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
  test(
    'with an unreadable start or no id loses neither that appointment nor its ' + 'neighbors',
    async () => {
      const counts = await accept({
        appointments: [on(1), on(2, { starts_at: 'tomorrow' }), on(3, { source_id: '' })],
      });
      expect(counts).toMatchObject({ new: 1, rejected: 2 });
      expect((await openAttention(store.db)).map(({ what }) => what)).toEqual([
        'Appointment 2: starts_at is not a date and time.',
        'Appointment 3: source_id is empty.',
      ]);
    },
  );

  test('lists a visit with a field of a million characters, and takes the others', async () => {
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
      'Appointment 2: patient.last_name is too long.',
      'Appointment 3: coverages.0.member_id is too long.',
    ]);
    const [, ...others] = await rows();
    expect(others).toEqual([]);
  });

  test('is stored, due for planning at once, and told of in the audit trail', async () => {
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
      plan_due_at: FRIDAY_MS,
      closed_reason: null,
    });
    expect(await trail(stored.id)).toEqual(['accepted']);
  });

  test('that comes twice changes nothing', async () => {
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

  test('may be larger than one statement', async () => {
    const many = Array.from({ length: 1203 }, (_, index) => on(1, { source_id: `B-${index}` }));
    expect(await accept({ appointments: many })).toMatchObject({ new: 1203 });
    expect(await accept({ appointments: many })).toMatchObject({ unchanged: 1203 });
  });

  test('counts the last mention of an appointment that it names twice', async () => {
    expect(await accept({ appointments: [on(1), on(1, { location: 'North' })] })).toMatchObject({
      new: 1,
    });
    expect(JSON.parse((await row('A-1')).content)).toMatchObject({ location: 'North' });
  });

  test('of one connector says nothing about those of another', async () => {
    await accept({ appointments: [on(1)] });
    expect(await accept({ appointments: [on(1)] }, FRIDAY_MS, 'ehr')).toMatchObject({ new: 1 });
    expect(await rows()).toHaveLength(2);
  });
});

describe('an appointment that comes back', () => {
  beforeEach(() => accept({ appointments: [on(1)] }));

  test.each([
    ['time', { starts_at: '2026-12-01T20:00:00.000Z' }],
    ['status', { status: 'cancelled' }],
    ['coverage', { coverages: [aCoverage({ group_id: 'G2' })] }],
    ['patient', { patient: { ...anAppointment().patient, first_name: 'Adah' } }],
    ['procedures', { procedure_codes: ['D1110'] }],
    ['provider or place', { location: 'North' }],
  ] as [string, Partial<AppointmentInput>][])(
    'with another %s is the same one, and planned again',
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
        plan_due_at: LATER_MS,
      });
      expect(JSON.parse(after.content)).toEqual(on(1, change));
      const audit = await auditOf(store.db, [appointmentSubject(after.id)]);
      expect(audit.at(-1)).toMatchObject({
        to_state: 'changed',
        reason: `Changed in the practice management system: ${what}.`,
      });
    },
  );

  test('unchanged stays closed, and changed is open again', async () => {
    const { id } = await row('A-1');
    await store.write((tx) => closeAppointment(tx, id, 'cancelled', FRIDAY_MS));
    await accept({ appointments: [on(1)] }, LATER_MS);
    expect(await row('A-1')).toMatchObject({ closed_reason: 'cancelled', plan_due_at: null });
    await accept({ appointments: [on(1, { location: 'North' })] }, LATER_MS);
    expect(await row('A-1')).toMatchObject({
      closed_reason: null,
      closed_at: null,
      plan_due_at: LATER_MS,
    });
  });

  test('with another birth date and member id is a new one, and the old one closes', async () => {
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
      plan_due_at: LATER_MS,
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
  ])('with another %s alone is the same one', async (_, change) => {
    const { id } = await row('A-1');
    expect(await accept({ appointments: [on(1, change)] })).toMatchObject({ new: 0, changed: 1 });
    expect((await row('A-1')).id).toBe(id);
  });
});

describe('cursor and source', () => {
  test('are remembered with the batch', async () => {
    expect(await cursorOf(store.db, DESK)).toBeNull();
    await accept({ cursor: 'c1', source: { is_last: false } });
    expect(await cursorOf(store.db, DESK)).toBe('c1');
    expect(await isLatestSource(store.db, DESK, 'sha256:1')).toBe(false);
    await accept({ cursor: null });
    expect(await cursorOf(store.db, DESK)).toBe('c1');
    expect(await isLatestSource(store.db, DESK, 'sha256:1')).toBe(true);
    expect(await isLatestSource(store.db, 'ehr', 'sha256:1')).toBe(false);
  });

  test('are not, when the batch fails (G3)', async () => {
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

/** A planned inquiry of no matter whom. */
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
    // Nothing says whose they are: each office's next export names its own again.
    [3, 8, {}, {}],
  ])(
    'are not taken for vanished from each other: %i and %i of %o and %o',
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

describe('an appointment that is missing', () => {
  const days = [1, 2, 3, 4, 5].map((day) => on(day));
  const next = (
    appointments: AppointmentInput[],
    completeness: 'full' | 'changes' | 'unknown',
    key = 'sha256:2',
  ) => accept({ appointments, source: { key, completeness } }, LATER_MS);
  const missing = async () =>
    (await rows()).filter((each) => each.missing_since !== null).map(({ source_id }) => source_id);

  beforeEach(() => accept({ appointments: days }));

  test('from two full exports in a row has vanished: it is listed and planned', async () => {
    const without = [on(1), on(2), on(4), on(5)];
    expect(await next(without, 'full')).toMatchObject({ unchanged: 4, vanished: 0 });
    expect(await next(without, 'full', 'sha256:3')).toMatchObject({ unchanged: 4, vanished: 1 });
    expect(await row('A-3')).toMatchObject({
      missing_since: LATER_MS,
      plan_due_at: LATER_MS,
      closed_reason: null,
    });
    expect(await openAttention(store.db)).toMatchObject([
      { reason: 'vanished', source_id: 'A-3', since: LATER_MS },
    ]);
  });

  test('from one export, and named by the next, has not', async () => {
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
    ['answered', 'The payer has already answered'],
  ] as const)('says what has happened: its call is %s', async (state, words) => {
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
  });

  test('from full exports of other days has not', async () => {
    await next([on(2), on(3)], 'full');
    expect(await next([on(2), on(3)], 'full', 'sha256:3')).toMatchObject({ vanished: 0 });
    await next([on(2), on(4)], 'full', 'sha256:4');
    expect(await next([on(2), on(4)], 'full', 'sha256:5')).toMatchObject({ vanished: 1 });
    expect(await missing()).toEqual(['A-3']);
  });

  test('from one that only brings changes has not', async () => {
    await next([on(1), on(5)], 'changes');
    expect(await next([on(1), on(5)], 'changes', 'sha256:3')).toMatchObject({ vanished: 0 });
    expect(await missing()).toEqual([]);
  });

  test('in silent exports counts as vanished when most of its days are there', async () => {
    await next([on(1), on(5)], 'unknown');
    expect(await next([on(1), on(5)], 'unknown', 'sha256:3')).toMatchObject({ vanished: 0 });
    await next([on(1), on(2), on(5)], 'unknown', 'sha256:4');
    expect(await next([on(1), on(2), on(5)], 'unknown', 'sha256:5')).toMatchObject({ vanished: 2 });
    expect(await missing()).toEqual(['A-3', 'A-4']);
  });

  test('is not concluded from one row that does not say', async () => {
    const twin = on(1, { source_id: 'A-1b' });
    await accept({ appointments: [twin] });
    await next([on(1)], 'unknown');
    expect(await next([on(1)], 'unknown', 'sha256:3')).toMatchObject({ vanished: 0 });
  });

  test('is looked for after the last batch of a source only', async () => {
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

  test('is told of once', async () => {
    await next([on(1), on(5)], 'full');
    expect(await next([on(1), on(5)], 'full', 'sha256:3')).toMatchObject({ vanished: 3 });
    expect(await next([on(1), on(5)], 'full', 'sha256:4')).toMatchObject({ vanished: 0 });
    expect(await openAttention(store.db)).toHaveLength(3);
  });

  test('is not concluded from an empty export, nor from one of the past', async () => {
    expect(await next([], 'full')).toMatchObject({ vanished: 0 });
    const past = [10, 19].map((day) =>
      on(1, { source_id: `P-${day}`, starts_at: `2026-11-${day}T15:00:00.000Z` }),
    );
    expect(await next(past, 'full', 'sha256:3')).toMatchObject({ new: 2, vanished: 0 });
  });

  test('has not vanished when the export says that it is cancelled, and nothing else', async () => {
    const appointments = [on(1), on(2), on(4), on(5)];
    const counts = await accept(
      { appointments, cancelled_ids: ['A-3'], source: { key: 'sha256:2', completeness: 'full' } },
      LATER_MS,
    );
    expect(counts).toMatchObject({ unchanged: 4, changed: 1, vanished: 0 });
    expect(await openAttention(store.db)).toEqual([]);
  });

  test('or unreadable before leaves the attention list when it is cancelled', async () => {
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

  test('has not vanished when it is closed', async () => {
    const { id } = await row('A-3');
    await store.write((tx) => closeAppointment(tx, id, 'cancelled', FRIDAY_MS));
    expect(await next([on(1), on(2), on(4), on(5)], 'full')).toMatchObject({ vanished: 0 });
  });

  test('of another connector has not', async () => {
    const parts = {
      appointments: [on(1), on(5)],
      source: { key: 'sha256:2', completeness: 'full' },
    } as const;
    expect(await accept(parts, LATER_MS, 'ehr')).toMatchObject({ new: 2, vanished: 0 });
  });

  test('is back when it is named again, even unchanged, and the entry goes', async () => {
    await next([on(1), on(2), on(4), on(5)], 'full');
    await next([on(1), on(2), on(4), on(5)], 'full', 'sha256:2b');
    expect(await next([on(3)], 'changes', 'sha256:3')).toMatchObject({ changed: 1, unchanged: 0 });
    expect(await missing()).toEqual([]);
    expect(await row('A-3')).toMatchObject({ plan_due_at: LATER_MS });
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

  test('is on the attention list, and its neighbors are stored (G7)', async () => {
    expect(await accept({ appointments: [on(1)], rejected: [item] })).toMatchObject({
      new: 1,
      rejected: 1,
    });
    expect(await openAttention(store.db)).toMatchObject([
      {
        connector: DESK,
        reason: 'row_unreadable',
        what: 'Row 17: DOB is impossible date.',
        words: 'It is in export.csv.',
        next: 'Fix the date.',
      },
    ]);
  });

  test('that comes again is there once, and since the first time', async () => {
    await accept({ rejected: [item] });
    await accept({ rejected: [item] }, LATER_MS);
    expect(await openAttention(store.db)).toMatchObject([{ since: FRIDAY_MS }]);
  });

  test('with two faults is listed with both', async () => {
    await accept({ rejected: [item, { ...item, field: 'Time', value_class: 'empty' }] });
    const said = (await openAttention(store.db)).map(({ what }) => what).join(' ');
    expect(said).toContain('DOB is impossible date');
    expect(said).toContain('Time is empty');
  });
});
