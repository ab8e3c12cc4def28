/** The service's refusals, in words that the front office understands. */
import { describe, expect, test } from 'vitest';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { type Service, startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

const requests = async (service: Service) =>
  (await service.ledger()).map(({ request }) => request as unknown as Record<string, unknown>);

async function clinicOf(
  rows: Parameters<typeof exportOf>[0],
  config = {},
): Promise<{ clinic: Clinic; service: Service }> {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config });
  clinic.drop('visits.csv', exportOf(rows));
  return { clinic, service };
}

describe('procedure codes that only the clinic uses', () => {
  test('eligd leaves out and notes a code that the service would refuse, and calls', async () => {
    const { clinic, service } = await clinicOf(
      visits(1, () => ({ procedure_codes: 'D0120;XRAY4' })),
    );
    await clinic.once();
    expect(await requests(service)).toMatchObject([{ benefits_codes: ['D0120'] }]);
    expect(clinic.attention()).toEqual([]);
    await service.advance({ days: 7 });
    await clinic.once();
    expect(clinic.written()[0]?.notes).toMatch(/Not asked about: XRAY4\./);
  });

  test.each(['XRAY4', ''])(
    'a visit with the codes "%s" causes a call without codes',
    async (codes) => {
      const { clinic, service } = await clinicOf(visits(1, () => ({ procedure_codes: codes })));
      await clinic.once();
      const [request] = await requests(service);
      expect(request).not.toHaveProperty('benefits_codes');
      expect(String(request?.benefits_query)).not.toContain('CODE_LOOKUP');
    },
  );
});

describe('an inquiry that the service refuses in a batch', () => {
  // The first batch of an installation has one item.
  const refused = () =>
    clinicOf(
      visits(19, (index) => (index === 12 ? { member_id: 'REJECT-1' } : {})),
      {
        service: { settle_seconds: 300, submission: { mode: 'bulk', batch_size: 25 } },
      },
    );

  test('the list has the service’s reason and the field’s name, without our index', async () => {
    const { clinic } = await refused();
    await clinic.once();
    const [line] = clinic.attention().filter(({ reason }) => reason === 'refused');
    expect(line?.what_happened).toBe(
      'The service rejected the inquiry (422). It said: member ID: The carrier knows no member ' +
        'ids of this form.',
    );
  });

  test('the entry names the code that the service rejected', async () => {
    const { clinic, service } = await clinicOf(
      visits(3, () => ({ procedure_codes: 'D0120;D9999' })),
      { service: { submission: { mode: 'bulk', batch_size: 25 } } },
    );
    const detail = [
      { loc: ['body', 1, 'benefits_codes', 1], msg: 'Not a known code', type: 'value_error' },
    ];
    const refusal = { action: 'status', status: 422, body: { detail } } as const;
    // The first bulk of an installation carries one item.
    await service.fault({ method: 'POST', path: 'batch', skip: 1, when: 'before', ...refusal });
    await clinic.once();
    const [line] = clinic.attention().filter(({ reason }) => reason === 'refused');
    expect(line?.what_happened).toBe(
      'The service rejected the inquiry (422). It said: procedure code D9999: Not a known code.',
    );
  });

  test('the other inquiries of the batch wait and give the refusal as the reason', async () => {
    const { clinic } = await refused();
    await clinic.once();
    const { stdout } = await clinic.run('explain', '9002');
    expect(stdout).toMatch(/rejected another inquiry of the same batch/);
    expect(stdout).not.toMatch(/reply to the request was lost/i);
  });
});

describe('an account that requires npi and insurance', () => {
  const row = { carrier: '', payor_id: '60099' };
  const medical = { clinic: { specialty: 'medical' } };

  test('eligd sends npi and insurance once the service requires them', async () => {
    const { clinic, service } = await clinicOf(
      visits(3, () => row),
      medical,
    );
    await service.behave({ account_requires: 'npi_and_insurance' });
    await clinic.once();
    expect(await requests(service)).toMatchObject(
      Array.from({ length: 3 }, () => ({ npi: '1245319599', insurance: 'UNKNOWN' })),
    );
    expect(clinic.attention()).toEqual([]);
  });

  test('eligd sends no npi if the configuration says never', async () => {
    const never = { ...medical, service: { send_npi: 'never' } };
    const { clinic, service } = await clinicOf(
      visits(1, () => row),
      never,
    );
    await service.behave({ account_requires: 'npi_and_insurance' });
    await clinic.once();
    expect(await service.ledger()).toEqual([]);
    expect(clinic.attention().map(({ reason }) => reason)).toEqual(['refused']);
  });

  test('eligd sends the npi in the first request if the configuration says always', async () => {
    const always = { service: { send_npi: 'always' } };
    const { clinic, service } = await clinicOf(visits(1), always);
    await clinic.once();
    expect(await requests(service)).toMatchObject([{ npi: '1245319599' }]);
  });
});
