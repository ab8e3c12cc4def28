/** Holds, orders, and lost calls when two records of a patient are merged. */
import { expect, test } from 'vitest';
import { hold, release } from '../../../src/store/bookkeeping/operator.ts';
import { type Installation, install, send } from '../installation.ts';
import { labelsOf, lookUp, loseCreates } from './lost-calls.ts';
import {
  ADA,
  ends,
  finish,
  goOn,
  merge,
  OTHER_ADA,
  order,
  pass,
  vanish,
  visit,
  written,
} from './merges.ts';

const WAYS = [
  ['moved', { from: [OTHER_ADA], into: ADA }],
  ['surviving', { from: [ADA], into: OTHER_ADA }],
] as const;
type Records = { from?: { id: string }[]; into?: typeof ADA };

const idOf = async (clinic: Installation, id: string) =>
  (
    await clinic.store.db
      .selectFrom('appointments')
      .select('id')
      .where('source_id', '=', id)
      .executeTakeFirstOrThrow()
  ).id;
const holdVisit = async (clinic: Installation, label: string) => {
  const id = await idOf(clinic, label);
  await clinic.store.write((tx) => hold(tx, { kind: 'appointment', id }, clinic.now()));
};
const releaseVisit = async (clinic: Installation, label: string) => {
  const id = await idOf(clinic, label);
  return await clinic.store.write((tx) => release(tx, { kind: 'appointment', id }, clinic.now()));
};
const merged = (clinic: Installation, records: unknown) => merge(clinic, records as Records);

test.each(WAYS)(
  'of two lost calls that are absent, one is made again: B is %s',
  async (_, records) => {
    const clinic = await install();
    await clinic.planNow();
    await loseCreates(clinic, 1, 'before');
    await send(clinic, visit(clinic, 'A-1'));
    await loseCreates(clinic, 1, 'before');
    await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
    await merged(clinic, records);
    await lookUp(clinic);
    await goOn(clinic);
    expect(await labelsOf(clinic)).toHaveLength(1);
  },
);

test.each(WAYS)(
  'a held call stays on hold beside a withdrawn one after an old answer: B is %s',
  async (_, records) => {
    const clinic = await install({ policy: { reverify_after_days: 2 } });
    await clinic.planNow();
    await send(clinic, visit(clinic, 'A-1'));
    await finish(clinic);
    await pass(clinic, 3);
    await clinic.read(visit(clinic, 'A-2'));
    await clinic.planNow();
    await clinic.read({ ...visit(clinic, 'A-2'), status: 'cancelled' });
    await clinic.planNow();
    await clinic.read(visit(clinic, 'B-1', OTHER_ADA));
    await clinic.planNow();
    await holdVisit(clinic, 'B-1');
    await merged(clinic, records);
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual(['A-1']);
    await releaseVisit(clinic, 'B-1');
    await goOn(clinic);
    expect(await labelsOf(clinic)).toHaveLength(2);
  },
);

test.each(WAYS)(
  'a call refused during the merge stays on hold when corrected: B is %s',
  async (_, records) => {
    const clinic = await install();
    await clinic.planNow();
    await clinic.read({ ...visit(clinic, 'A-1'), procedure_codes: ['D2740'] });
    await clinic.planNow();
    await holdVisit(clinic, 'A-1');
    const { create } = clinic.client;
    clinic.client.create = async () => {
      clinic.client.create = create;
      await merged(clinic, records);
      return { ok: false, failure: { class: 'refused', status: 422, errors: [] } };
    };
    await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
    await clinic.read({
      ...visit(clinic, 'A-1', records.into),
      procedure_codes: ['D2740', 'D0274'],
    });
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual([]);
  },
);

test.each(WAYS)(
  'an order is made although it passed to a lost call: B is %s',
  async (_, records) => {
    const clinic = await install();
    await clinic.planNow();
    await loseCreates(clinic, 1, 'before');
    await send(clinic, visit(clinic, 'A-1'));
    await clinic.store.db
      .updateTable('inquiries')
      .set({ lookup_at: clinic.now() + 1e9 })
      .execute();
    await send(clinic, visit(clinic, 'B-1', OTHER_ADA));
    await finish(clinic);
    expect(await order(clinic, await idOf(clinic, 'B-1'))).toBe(true);
    await merged(clinic, records);
    await clinic.store.db
      .updateTable('inquiries')
      .set({ lookup_at: clinic.now() })
      .where('state', '=', 'uncertain')
      .execute();
    await lookUp(clinic);
    await goOn(clinic);
    expect(await labelsOf(clinic)).toHaveLength(2);
  },
);

const OTHERS = ['SUCCESS', 'UNSUCCESSFUL', 'CANCELLED'].flatMap((status) =>
  WAYS.map(([way, records]) => [status, way, records] as const),
);
test.each(OTHERS)(
  'an order is made although the other call ended as %s; B is %s',
  async (status, _way, records) => {
    const clinic = await install({ collecting: { attempts: 1 } });
    await clinic.planNow();
    await send(clinic, visit(clinic, 'A-1'), visit(clinic, 'B-1', OTHER_ADA));
    await ends(clinic, { 'A-1': status });
    await finish(clinic);
    expect(await order(clinic, await idOf(clinic, 'B-1'))).toBe(true);
    await merged(clinic, records);
    await goOn(clinic);
    expect(await labelsOf(clinic)).toHaveLength(3);
  },
);

test.each(OTHERS.slice(2))(
  'no failure (%s) replaces an answer because a further call is held; B is %s',
  async (status, _way, records) => {
    const clinic = await install({ collecting: { attempts: 1 }, policy: { new_codes: 'call' } });
    await clinic.planNow();
    await send(clinic, visit(clinic, 'A-1'), visit(clinic, 'B-1', OTHER_ADA));
    await ends(clinic, { 'A-1': status });
    await finish(clinic);
    await clinic.read({ ...visit(clinic, 'B-2', OTHER_ADA), procedure_codes: ['D2740'] });
    await clinic.planNow();
    await holdVisit(clinic, 'B-2');
    await merged(clinic, records);
    await goOn(clinic);
    const answers = await written(clinic);
    expect(answers['A-1']?.at(-1)).toBe('B-1');
    expect(answers['B-1']?.at(-1)).toBe('B-1');
  },
);

test.each([false, true])(
  'a visit gets the fresh answer although a call for others is held: %s',
  async (is_held) => {
    const clinic = await install({ policy: { new_codes: 'call' } });
    await clinic.planNow();
    await send(clinic, visit(clinic, 'A-1'));
    await finish(clinic);
    await clinic.read({ ...visit(clinic, 'A-2'), procedure_codes: ['D2740'] });
    await clinic.planNow();
    if (is_held) await holdVisit(clinic, 'A-2');
    await clinic.read(visit(clinic, 'A-3'));
    await clinic.planNow();
    expect((await written(clinic))['A-3']).toEqual(['A-1']);
  },
);

test.each(['merge', 'corrected member ID'])(
  'a held call stays on hold although its need changes: %s',
  async (how) => {
    const clinic = await install();
    const other = { ...OTHER_ADA, birth_date: '1980-02-01' };
    await clinic.planNow();
    await clinic.read(visit(clinic, 'B-1', other));
    await clinic.planNow();
    await holdVisit(clinic, 'B-1');
    if (how === 'merge') await merge(clinic);
    else {
      const given = visit(clinic, 'B-1', other);
      await clinic.read({
        ...given,
        coverages: [{ ...given.coverages[0]!, member_id: 'ACTIVE5' }],
      });
    }
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual([]);
  },
);

test('a lost call of a visit that has vanished is not made again', async () => {
  const clinic = await install();
  await clinic.planNow();
  await loseCreates(clinic, 1, 'before');
  await send(clinic, visit(clinic, 'A-1'));
  await vanish(clinic, 'A-1');
  await lookUp(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
});
