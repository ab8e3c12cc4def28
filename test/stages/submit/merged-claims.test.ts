/**
 * Claims of two patient records that are merged, and claims that move from one record to another,
 * while calls about them are under way (G1, G2).
 */
import { expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { DAY_MS } from '../../../src/domain/time.ts';
import { facts } from '../../domain/examples.ts';
import { type Installation, install } from '../installation.ts';
import { acceptUnlisted, callsEnd, forgetCall, labelsOf } from './lost-calls.ts';

const ADA = { id: 'P-1', first_name: 'Ada', last_name: 'Example', birth_date: '1980-01-02' };
const OTHER_ADA = { ...ADA, id: 'P-2' };

/** Both ways to merge the two records. */
const WAYS = [
  ['moves', OTHER_ADA, ADA],
  ['stays', ADA, OTHER_ADA],
] as const;

/** Sends the claim, which has this number, for this record of the patient. */
async function send(
  clinic: Installation,
  patient: typeof ADA,
  claim_number = 'PAID-1',
): Promise<void> {
  const { coverage, ...rest } = claim(1);
  const date_of_service = '2037-12-10';
  const about = { coverage: { ...coverage, member_id: 'ACTIVE0' }, patient, claim_number };
  await clinic.readClaims({ ...rest, date_of_service, ...about });
  await clinic.planNow();
  await clinic.submitNow();
}

const sendUndecidable = (clinic: Installation, patient: typeof ADA, claim_number = 'PAID-1') =>
  acceptUnlisted(clinic, () => send(clinic, patient, claim_number));

/** Days in which eligd does all that is due. */
async function goOn(clinic: Installation, days: number): Promise<void> {
  for (let step = 0; step < days * 2; step += 1) {
    await clinic.planNow();
    await clinic.submitNow();
    await clinic.collectAll();
    clinic.pass(DAY_MS / 2);
    await clinic.service.advance({ seconds: (DAY_MS / 2) * 0.001 });
  }
  await clinic.planNow();
}

/** The inquiries whose records are written to the claim, in order. */
async function delivered(clinic: Installation): Promise<number[]> {
  const claims = await clinic.store.db
    .selectFrom('appointments')
    .select('id')
    .where('kind', '=', 'claim')
    .execute();
  const ids = new Set(claims.map(({ id }) => id));
  const deliveries = await clinic.deliveries();
  return deliveries.filter(({ appointment }) => ids.has(appointment)).map(({ inquiry }) => inquiry);
}

const callsAbout = async (clinic: Installation) =>
  (await labelsOf(clinic)).filter((label) => label === 'C-1').length;

test.each(
  WAYS.flatMap(([way, ...records]) =>
    (['before', 'after'] as const).map((when) => [when, way, ...records] as const),
  ),
)(
  'a merge %s the service forgets a call whose record %s leaves no entry (G2)',
  async (when, _way, from, into) => {
    const clinic = await install();
    await send(clinic, OTHER_ADA);
    await send(clinic, ADA);
    if (when === 'before') await clinic.merge(into, from);
    await forgetCall(clinic, 'C-1');
    if (when === 'after') await clinic.merge(into, from);
    await goOn(clinic, 6);
    expect((await clinic.inquiries()).map(({ state }) => state)).toEqual([
      'undecidable',
      'answered',
    ]);
    expect(await delivered(clinic)).toEqual([2]);
    expect(await clinic.attention()).toEqual([]);
  },
);

test('an entry about a lost call ends once the claim has another call (G2)', async () => {
  const clinic = await install();
  await sendUndecidable(clinic, OTHER_ADA);
  expect(await clinic.attention()).toEqual(['undecidable']);
  await send(clinic, ADA);
  expect(await clinic.attention()).toEqual([]);
  await goOn(clinic, 6);
  expect(await delivered(clinic)).toEqual([2]);
  expect(await clinic.attention()).toEqual([]);
});

test('if both calls get lost, one entry says so (G2)', async () => {
  const clinic = await install();
  await sendUndecidable(clinic, OTHER_ADA);
  await sendUndecidable(clinic, ADA);
  await clinic.merge(ADA, OTHER_ADA);
  await goOn(clinic, 2);
  expect(await clinic.attention()).toEqual(['undecidable']);
});

test.each(WAYS)(
  'a call about a claim that follows a pending answer serves if its record %s (G1)',
  async (_way, into, from) => {
    const clinic = await install();
    await send(clinic, OTHER_ADA, 'PENDING1-1');
    await goOn(clinic, 6);
    await send(clinic, ADA, 'PENDING1-1');
    await clinic.merge(into, from);
    await goOn(clinic, 30);
    expect(await callsAbout(clinic)).toBe(2);
    expect(await delivered(clinic)).toEqual([1, 2]);
    expect(await clinic.attention()).toEqual([]);
  },
);

test.each(WAYS)(
  'no call follows a lost one that was made after an answer if its record %s (G1)',
  async (_way, into, from) => {
    const clinic = await install();
    await send(clinic, OTHER_ADA, 'PENDING1-1');
    await goOn(clinic, 6);
    await sendUndecidable(clinic, ADA, 'PENDING1-1');
    await clinic.merge(into, from);
    await goOn(clinic, 30);
    expect(await callsAbout(clinic)).toBe(1);
    expect(await clinic.attention()).toEqual(['undecidable']);
  },
);

test('no call about a claim is made while one for the other record waits (G1)', async () => {
  const clinic = await install();
  await send(clinic, OTHER_ADA, 'PENDING-1');
  await send(clinic, ADA, 'PENDING-1');
  await clinic.merge(ADA, OTHER_ADA);
  const { read } = clinic.client;
  const [first] = await clinic.service.ledger();
  clinic.client.read = async (...given) => {
    const result = await read(...given);
    return result.ok && result.value !== null && given[1] === first?.id
      ? { ok: true, value: { ...result.value, status: 'IN_PROGRESS' } }
      : result;
  };
  await goOn(clinic, 21);
  expect(await callsAbout(clinic)).toBe(2);
  clinic.client.read = read;
  await goOn(clinic, 6);
  expect(await delivered(clinic)).toEqual([2, 1]);
  expect(await callsAbout(clinic)).toBe(2);
  await goOn(clinic, 15);
  expect(await callsAbout(clinic)).toBe(3);
});

test('a corrected claim is asked about once although the clock was ahead (G1)', async () => {
  const clinic = await install();
  await send(clinic, ADA, 'DENIED-1');
  clinic.pass(10 * DAY_MS);
  await clinic.service.advance({ days: 6 });
  clinic.collect.clockSkew = () => 4 * DAY_MS;
  await clinic.collectAll();
  await clinic.planNow();
  clinic.pass(-4 * DAY_MS);
  clinic.collect.clockSkew = () => 0;
  await send(clinic, ADA, 'DENIED-2');
  for (let step = 0; step < 4; step += 1) {
    clinic.pass(DAY_MS / 2);
    await clinic.service.advance({ seconds: (DAY_MS / 2) * 0.001 });
    await clinic.collectAll();
    await clinic.planNow();
    await clinic.submitNow();
  }
  await goOn(clinic, 6);
  expect(await callsAbout(clinic)).toBe(2);
  expect(await clinic.attention()).toEqual(['claim_denied']);
});

test('the later of two answers counts although the clock was behind (G1)', async () => {
  const clinic = await install();
  await send(clinic, ADA, 'PENDING1-1');
  await send(clinic, OTHER_ADA, 'PENDING1-1');
  const { read } = clinic.client;
  const [, second] = await clinic.service.ledger();
  clinic.client.read = async (...given) => {
    const result = await read(...given);
    return result.ok && result.value !== null && given[1] === second?.id
      ? { ok: true, value: { ...result.value, status: 'IN_PROGRESS' } }
      : result;
  };
  await goOn(clinic, 6);
  clinic.client.read = read;
  clinic.pass(-4 * DAY_MS);
  clinic.collect.clockSkew = () => -4 * DAY_MS;
  await clinic.collectAll();
  clinic.pass(4 * DAY_MS);
  clinic.collect.clockSkew = () => 0;
  await clinic.merge(ADA, OTHER_ADA);
  await goOn(clinic, 30);
  expect(await callsAbout(clinic)).toBe(2);
});

test('the first answer about a claim is no newer one when the service revises it', async () => {
  const clinic = await install();
  await send(clinic, ADA, 'PENDING1-1');
  await goOn(clinic, 26);
  expect(await callsAbout(clinic)).toBe(2);
  const { read } = clinic.client;
  const [first] = await clinic.service.ledger();
  clinic.client.read = async (...given) => {
    const result = await read(...given);
    return result.ok && result.value !== null && given[1] === first?.id
      ? { ok: true, value: { ...result.value, summary: 'Other words.' } }
      : result;
  };
  await clinic.store.db
    .updateTable('inquiries')
    .set({ poll_at: clinic.now() })
    .where('id', '=', 1)
    .execute();
  await clinic.collectNow();
  await goOn(clinic, 30);
  expect(await callsAbout(clinic)).toBe(2);
});

test('a failed call hides no later answer about a decided claim', async () => {
  const clinic = await install();
  await send(clinic, ADA, 'DENIED-1');
  await goOn(clinic, 6);
  await send(clinic, OTHER_ADA, 'DENIED-1');
  await send(clinic, { ...ADA, id: 'P-3' }, 'DENIED-1');
  await say(clinic, 'SUCCESS', 'UNSUCCESSFUL', 'SUCCESS');
  await clinic.merge(ADA, OTHER_ADA, { ...ADA, id: 'P-3' });
  await goOn(clinic, 6);
  const rows = (await clinic.inquiries()).toSorted((a, b) => a.attempt - b.attempt);
  expect(rows.at(-1)?.id).toBe(3);
});

/** The statuses of the calls, in their order; the last one is that of all later calls, too. */
async function say(clinic: Installation, ...statuses: string[]): Promise<void> {
  const ids = (await clinic.service.ledger()).map(({ id }) => id);
  callsEnd(clinic, ({ id }) => statuses[ids.indexOf(id)] ?? statuses.at(-1) ?? 'SUCCESS');
}

const PENDING = 'PENDING9-1';
const THIRD_ADA = { ...ADA, id: 'P-3' };

test('a call that was canceled hides no later answer of another record (G1)', async () => {
  const clinic = await install();
  await send(clinic, ADA, PENDING);
  await say(clinic, 'SUCCESS');
  await goOn(clinic, 9);
  await send(clinic, OTHER_ADA, PENDING);
  await send(clinic, THIRD_ADA, PENDING);
  await say(clinic, 'SUCCESS', 'IN_PROGRESS', 'CANCELLED');
  await goOn(clinic, 5);
  await clinic.merge(ADA, THIRD_ADA, OTHER_ADA);
  await say(clinic, 'SUCCESS', 'SUCCESS', 'CANCELLED');
  await goOn(clinic, 10);
  expect(await callsAbout(clinic)).toBe(3);
});

test('calls for a merged record that failed put off the next one', async () => {
  const clinic = await install();
  await send(clinic, ADA, PENDING);
  await say(clinic, 'SUCCESS');
  await goOn(clinic, 9);
  await send(clinic, OTHER_ADA, PENDING);
  await say(clinic, 'SUCCESS', 'UNSUCCESSFUL');
  await goOn(clinic, 15);
  expect(await callsAbout(clinic)).toBe(3);
  await clinic.merge(ADA, OTHER_ADA);
  await goOn(clinic, 0.5);
  expect(await callsAbout(clinic)).toBe(3);
});

/** Asks about a claim until this many calls are made. */
async function callsMade(
  statuses: readonly string[],
  count: number,
  ask_again_days = 14,
): Promise<Installation> {
  const { claims } = facts().policy;
  const clinic = await install({ policy: { claims: { ...claims, ask_again_days } } });
  await send(clinic, ADA, PENDING);
  await say(clinic, ...statuses);
  for (let step = 0; step < 70 && (await callsAbout(clinic)) < count; step += 1) {
    await goOn(clinic, 0.5);
    await say(clinic, ...statuses);
  }
  return clinic;
}

test('a revised word about the last attempt takes none from the next series (G2)', async () => {
  const clinic = await callsMade(['UNSUCCESSFUL', 'UNSUCCESSFUL', 'IN_PROGRESS'], 3);
  const { read } = clinic.client;
  clinic.client.read = async (...given) => {
    const result = await read(...given);
    if (!result.ok || result.value === null) return result;
    return { ok: true, value: { ...result.value, summary: 'Other words.' } };
  };
  await clinic.store.db.updateTable('inquiries').set({ poll_at: 0 }).where('id', '=', 2).execute();
  await clinic.collectNow();
  await say(clinic, 'UNSUCCESSFUL');
  await goOn(clinic, 3);
  expect(await callsAbout(clinic)).toBe(4);
});

/** The service takes the answer of the first call back. */
async function takeBackFirst(clinic: Installation, ...others: string[]): Promise<void> {
  await say(clinic, 'IN_PROGRESS', ...others);
  await clinic.store.db.updateTable('inquiries').set({ poll_at: 0 }).where('id', '=', 1).execute();
  await clinic.collectNow();
}

test.each([3, 14])(
  'an earlier answer that stays taken back does not end the questions (%s days, G2)',
  async (ask_again_days) => {
    const clinic = await callsMade(['SUCCESS'], 2, ask_again_days);
    await goOn(clinic, ask_again_days === 3 ? 1 : 10);
    await takeBackFirst(clinic, 'SUCCESS');
    await goOn(clinic, 60);
    expect(await callsAbout(clinic)).toBeGreaterThan(2);
  },
);

test('nor does it after a call that failed', async () => {
  const clinic = await callsMade(['SUCCESS', 'IN_PROGRESS'], 2, 3);
  await goOn(clinic, 1);
  await takeBackFirst(clinic, 'IN_PROGRESS');
  await say(clinic, 'IN_PROGRESS', 'UNSUCCESSFUL', 'SUCCESS');
  await goOn(clinic, 55);
  expect(await callsAbout(clinic)).toBeGreaterThan(2);
});

test.each(['PAID-1', 'DENIED-1'])(
  'a decided claim gets no call after an open one for a merged record failed (%s)',
  async (number) => {
    const clinic = await install();
    await send(clinic, ADA, number);
    await goOn(clinic, 6);
    await send(clinic, OTHER_ADA, number);
    await say(clinic, 'SUCCESS', 'IN_PROGRESS');
    await clinic.merge(ADA, OTHER_ADA);
    await goOn(clinic, 1);
    await say(clinic, 'SUCCESS', 'UNSUCCESSFUL');
    await goOn(clinic, 30);
    expect(await callsAbout(clinic)).toBe(2);
    const notes = (await clinic.deliveries()).flatMap((each) => JSON.parse(each.notes) as string[]);
    expect(notes.join(' ')).not.toContain('follows');
  },
);

test.each(['DENIED', 'PAID'])(
  'calls for a merged record that failed put off the next one about a changed claim (%s)',
  async (word) => {
    const clinic = await install();
    await send(clinic, ADA, `${word}-1`);
    await goOn(clinic, 6);
    await send(clinic, OTHER_ADA, `${word}-2`);
    await say(clinic, 'SUCCESS', 'UNSUCCESSFUL');
    await goOn(clinic, 4);
    expect(await callsAbout(clinic)).toBe(3);
    await clinic.merge(ADA, OTHER_ADA);
    await goOn(clinic, 2);
    expect(await callsAbout(clinic)).toBe(3);
  },
);

test('a lost call for a merged record does not end the questions after a failed one', async () => {
  const clinic = await install();
  await sendUndecidable(clinic, OTHER_ADA, PENDING);
  await send(clinic, ADA, PENDING);
  await clinic.merge(ADA, OTHER_ADA);
  callsEnd(clinic, () => 'UNSUCCESSFUL');
  await goOn(clinic, 40);
  expect(await callsAbout(clinic)).toBe(2);
  await goOn(clinic, 20);
  expect(await callsAbout(clinic)).toBe(3);
});
