/** One inquiry has two requests about different codes; the replies to both were lost. */
import { expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/domain/time.ts';
import { connector, type Installation, install, reconcile, send } from '../installation.ts';
import { hideCalls, lookUp, loseCreates, refuseCreates } from './lost-calls.ts';
import { finish, visit } from './merges.ts';

const withCodes = (clinic: Installation, ...procedure_codes: string[]) => ({
  ...visit(clinic, 'A-1'),
  procedure_codes,
});

/** The second request is about one more code; the list has shown neither call yet. */
async function installTwo() {
  const clinic = await install({ policy: { new_codes: 'call' } });
  await clinic.planNow();
  const hidden = hideCalls(clinic);
  await loseCreates(clinic, 1);
  await send(clinic, withCodes(clinic, 'D1110'));
  await clinic.service.advance({ seconds: 60 });
  const { create } = clinic.client;
  refuseCreates(clinic, 1);
  await lookUp(clinic);
  clinic.client.create = create;
  await clinic.read(withCodes(clinic, 'D1110', 'D2740'));
  await clinic.planNow();
  await loseCreates(clinic, 1);
  clinic.pass(MINUTE_MS);
  await clinic.service.advance({ seconds: 60 });
  await clinic.submitNow();
  return { clinic, hidden };
}

/** The service numbers its calls in their order. `timeOf` says when it accepted each. */
async function numberCalls(
  { client, service }: Installation,
  timeOf: (index: number) => number | null,
): Promise<void> {
  const ids = (await service.ledger()).map(({ id }) => id);
  const { list, read } = client;
  client.list = async (...given) => {
    const result = await list(...given);
    if (!result.ok) return result;
    const inquiries = result.value.inquiries.map((each) => {
      const index = ids.indexOf(each.id);
      const at = timeOf(index);
      const creation_ts = at === null ? null : new Date(at).toISOString();
      return { ...each, id: `N-${index + 1}` as typeof each.id, creation_ts };
    });
    return { ok: true, value: { ...result.value, inquiries } };
  };
  client.read = (specialty, id, ...how) =>
    read(specialty, (ids[Number(id.slice(2)) - 1] ?? id) as typeof id, ...how);
}

/** The list shows these calls. Returns what the records say, and the IDs of the requests. */
async function show(
  shown: readonly number[],
  timeOf: (index: number, sent: readonly number[]) => number | null,
) {
  const { clinic, hidden } = await installTwo();
  const calls = clinic.store.db.selectFrom('calls').orderBy('id');
  const made = await calls.select('sent_service_at').execute();
  const sent = made.map(({ sent_service_at }) => sent_service_at ?? 0);
  for (const index of shown) await hidden.show(index);
  await numberCalls(clinic, (index) => timeOf(index, sent));
  await lookUp(clinic);
  await reconcile(clinic);
  await finish(clinic);
  await clinic.planNow();
  const asked: unknown[] = [];
  await clinic.deliverNow(connector(({ record }) => asked.push(record.asked.benefits_codes)));
  const ids = (await calls.select('service_id').execute()).map(({ service_id }) => service_id);
  await clinic.submitNow();
  return { asked, ids, made: (await clinic.service.ledger()).length };
}

test.each([
  ['without times', () => null],
  [
    'accepted after both requests',
    (index: number, sent: readonly number[]) => (sent[1] ?? 0) + (index + 1) * 1000,
  ],
])('two calls %s are those of the requests in their order (G8)', async (_, timeOf) => {
  const { asked, ids } = await show([0, 1], timeOf);
  expect(ids).toEqual(['N-1', 'N-2']);
  expect(asked).toEqual([['D1110']]);
});

test('a clock that a slow reply told is not exact to the second (G1)', async () => {
  const { asked, ids, made } = await show([1], (index, sent) => (sent[index] ?? 0) - 3000);
  expect(ids).toEqual([null, 'N-2']);
  expect(asked).toEqual([['D1110', 'D2740']]);
  expect(made).toBe(2);
});
