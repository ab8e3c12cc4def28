/** Fields that the account requires although the specification does not. */
import { expect, test } from 'vitest';
import { writeLearned } from '../../../src/store/bookkeeping/learned-settings.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, send } from '../installation.ts';

/** The service refuses every inquiry that lacks this field. Returns the requests. */
function requireField({ client }: Installation, field: 'npi' | 'insurance') {
  const { create } = client;
  const requests: Record<string, unknown>[] = [];
  client.create = async (specialty, request, how) => {
    requests.push(request);
    if (request[field] !== undefined) return await create(specialty, request, how);
    const errors = [{ loc: ['body', field], msg: 'field required', type: 'missing' }];
    return { ok: false, failure: { class: 'refused', status: 422, errors } };
  };
  return requests;
}

const settle = async (clinic: Installation) => {
  for (let step = 0; step < 5; step += 1) await clinic.submitNow();
};

test('a service that wants an NPI gets the clinic’s, and later requests have it', async () => {
  const clinic = await install();
  const requests = requireField(clinic, 'npi');
  await send(clinic, clinic.visit('A-1'));
  await settle(clinic);
  expect(requests.map(({ npi }) => npi)).toEqual([undefined, '1234567893']);
  expect(await clinic.attention()).toEqual([]);
  expect(await clinic.service.ledger()).toHaveLength(1);
});

test('without any NPI, a service that wants one refuses the inquiry once', async () => {
  const clinic = await install({
    policy: { required_fields: { dental: [], medical: [], mental_health: [] } },
  });
  const { facts } = clinic.plan;
  clinic.plan.facts = (...given) => {
    const known = facts(...given);
    return { ...known, clinic: { ...known.clinic, billing_npi: '' } };
  };
  const requests = requireField(clinic, 'npi');
  await send(clinic, clinic.visit('A-1'));
  await settle(clinic);
  expect(requests).toHaveLength(1);
  expect(await clinic.attention()).toEqual(['refused']);
});

test('an office that sends no NPI adds an insurance if the service wants one', async () => {
  const clinic = await install({ settings: { send_npi: 'never' } });
  const { facts } = clinic.plan;
  clinic.plan.facts = (...given) => ({ ...facts(...given), payers: { find: () => null } });
  const requests = requireField(clinic, 'insurance');
  const coverages = [aCoverage({ carrier: '', payor_id: '62308' })];
  await send(clinic, clinic.visit('A-1', { specialty: 'medical', coverages }));
  await settle(clinic);
  expect(requests.map(({ insurance }) => insurance)).toEqual([undefined, 'UNKNOWN']);
  expect(await clinic.attention()).toEqual([]);
});

test('the NPI that the service wanted is not sent once the office says never', async () => {
  const clinic = await install({ settings: { send_npi: 'never' } });
  await clinic.store.write((tx) => writeLearned(tx, 'account_needs:npi', '1', clinic.now()));
  await send(clinic, clinic.visit('A-1'));
  expect((await clinic.service.ledger())[0]?.request).not.toHaveProperty('npi');
});

test('an office that sends no NPI is refused once by a service that wants one', async () => {
  const clinic = await install({ settings: { send_npi: 'never' } });
  const requests = requireField(clinic, 'npi');
  await send(clinic, clinic.visit('A-1'));
  await settle(clinic);
  expect(requests).toHaveLength(1);
  expect(await clinic.attention()).toEqual(['refused']);
});
