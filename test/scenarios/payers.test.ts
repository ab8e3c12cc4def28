/** eligd makes a call only if it knows whom the service can phone. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { type Service, startService } from '../support/service.ts';
import { exportOf, type Visit, visits } from '../support/visits.ts';

type Request = {
  insurance?: string;
  insurance_payor_id?: string;
  additional_info?: string;
  insurance_in_network?: boolean;
};

const requests = async (service: Service) =>
  (await service.ledger()).map(({ external_id, request }) => ({
    external_id,
    ...(request as Request),
  }));

async function clinicWith(
  change: (index: number) => Partial<Visit>,
  { count = 1, config = {} }: { count?: number; config?: Record<string, unknown> } = {},
): Promise<{ clinic: Clinic; service: Service }> {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config });
  clinic.drop('visits.csv', exportOf(visits(count, change)));
  return { clinic, service };
}

const MEDICAL = { clinic: { specialty: 'medical' } };

describe('a visit whose payer cannot be phoned', () => {
  test.each([
    [
      'dental, a name that is not mapped and no payer ID',
      { carrier: 'Ameritas', payor_id: '' },
      {},
    ],
    ['dental, nothing but a member ID', { carrier: '', payor_id: '' }, {}],
    ['medical, no payer at all', { carrier: '', payor_id: '' }, MEDICAL],
  ])(
    'a visit whose payer cannot be phoned is listed and gets no call: %s',
    async (_, change, config) => {
      const { clinic, service } = await clinicWith(() => change, { config });
      await clinic.once();
      expect(await service.ledger()).toEqual([]);
      const [line] = clinic.attention().filter(({ appointment_id }) => appointment_id === '9001');
      expect(line?.what_happened).toMatch(/^eligd made no call: .+\.$/);
      expect(line?.what_to_do).toMatch(/payer ID|insurance company/);
    },
  );

  test('eligd calls by name outside dental, and by payer ID in every specialty', async () => {
    const medical = await clinicWith(() => ({ carrier: 'Ameritas', payor_id: '' }), {
      config: MEDICAL,
    });
    await medical.clinic.once();
    expect(await requests(medical.service)).toMatchObject([{ insurance: 'Ameritas' }]);
    const dental = await clinicWith(() => ({ carrier: 'Ameritas', payor_id: '47009' }));
    await dental.clinic.once();
    expect(await requests(dental.service)).toMatchObject([
      {
        insurance: 'UNKNOWN',
        insurance_payor_id: '47009',
        additional_info: 'Insurance company: Ameritas.',
      },
    ]);
  });

  test('the office calls an unsupported payer, and the list has the phone number', async () => {
    const { clinic, service } = await clinicWith(() => ({ carrier: 'Union Fund', payor_id: '' }));
    writeFileSync(
      join(clinic.folder, 'payers.csv'),
      'pms_name,action,phone_number\nUnion Fund,unsupported,312-555-0100\n',
    );
    await clinic.once();
    expect(await service.ledger()).toEqual([]);
    expect(clinic.attention().map(({ what_to_do }) => what_to_do)).toEqual([
      expect.stringContaining('312-555-0100'),
    ]);
  });
});

describe('payers that are missing from the map', () => {
  const THREE = ['Ameritas', 'Local 134 Fund', 'Gaurdian Life'];
  const unmapped = (index: number) => ({ carrier: THREE[index % 3]!, payor_id: '' });

  test('all missing payers share one line of the attention list', async () => {
    const { clinic } = await clinicWith(unmapped, { count: 6 });
    await clinic.once();
    const shared = clinic.attention().filter(({ reason }) => reason === 'payer_unmapped');
    expect(shared).toHaveLength(1);
    for (const name of THREE) expect(shared[0]?.what_happened).toContain(name);
    expect(shared[0]?.what_to_do).toContain('eligd payers');
  });

  test('eligd lists missing payers with their count and the closest known names', async () => {
    const { clinic } = await clinicWith(unmapped, { count: 5 });
    await clinic.once();
    const { stdout } = await clinic.run('payers', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      schema: 'eligd.payers/1',
      unmapped: [
        { name: 'Ameritas', payer_id: null, count: 2, is_called: false },
        { name: 'Local 134 Fund', count: 2 },
        {
          name: 'Gaurdian Life',
          count: 1,
          nearest: expect.arrayContaining([
            { name: 'Guardian Life', carrier: 'GUARDIAN', payor_id: '64246' },
          ]),
        },
      ],
    });
  });

  test('a command maps a payer, and eligd calls for its visits at once', async () => {
    const { clinic, service } = await clinicWith(unmapped, { count: 3 });
    await clinic.once();
    expect(await service.ledger()).toEqual([]);
    const { stdout } = await clinic.run('payers', 'map', 'ameritas', 'AMERITAS');
    expect(stdout).toContain('AMERITAS');
    await clinic.run('payers', 'map', 'Local 134 Fund', '13400');
    await clinic.once();
    expect(await requests(service)).toMatchObject([
      { external_id: '9001', insurance: 'AMERITAS' },
      { external_id: '9002', insurance: 'UNKNOWN', insurance_payor_id: '13400' },
    ]);
    expect(
      clinic.attention().map(({ appointment_id, reason }) => [appointment_id, reason]),
    ).toEqual([
      ['9003', 'payer_not_callable'],
      ['', 'payer_unmapped'],
    ]);
    // Mapping a payer again replaces its line and keeps the others.
    await clinic.run('payers', 'map', 'AMERITAS', 'AMERITAS_GROUP');
    expect(readFileSync(join(clinic.folder, 'payers.csv'), 'utf8').trim().split('\n')).toEqual([
      expect.stringContaining('pms_name'),
      expect.stringMatching(/^ameritas,.*AMERITAS_GROUP/),
      expect.stringMatching(/^Local 134 Fund,.*13400/),
    ]);
  });

  test('only the last mapping of a payer counts', async () => {
    const { clinic, service } = await clinicWith(unmapped, { count: 1 });
    // A wrong payer ID, and no calls: both are corrected before anybody is called.
    await clinic.run('payers', 'map', 'Ameritas', '74009');
    await clinic.run('payers', 'map', 'Ameritas', 'unsupported');
    await clinic.run('payers', 'map', 'Ameritas', 'AMERITAS');
    await clinic.once();
    const [request] = await requests(service);
    expect(request).toMatchObject({ insurance: 'AMERITAS' });
    expect(request?.insurance_payor_id ?? '').toBe('');
  });

  test.each(['unsupported', 'Unsupported', 'attention'])(
    'the office calls a payer that is mapped as %s',
    async (id) => {
      const { clinic, service } = await clinicWith(unmapped, { count: 1 });
      const mapped = await clinic.run('payers', 'map', 'Ameritas', id, '--phone', '800-555-0147');
      expect(mapped).toMatchObject({ code: 0, stderr: '' });
      await clinic.once();
      expect(await service.ledger()).toEqual([]);
      expect(clinic.attention()).toMatchObject([
        { appointment_id: '9001', what_to_do: expect.stringContaining('800-555-0147') },
      ]);
    },
  );

  test('a command maps payers while the daemon runs', async () => {
    const { clinic, service } = await clinicWith(unmapped, { count: 1 });
    const daemon = await clinic.daemon({}, { idle_ms: 50 });
    const ending = new AbortController();
    const running = daemon.run(ending.signal);
    try {
      await expect.poll(() => clinic.attention().length, { timeout: 60_000 }).toBeGreaterThan(0);
      await clinic.run('payers', 'map', 'Ameritas', 'AMERITAS');
      await expect
        .poll(async () => (await requests(service)).map(({ insurance }) => insurance), {
          timeout: 60_000,
        })
        .toEqual(['AMERITAS']);
      await expect.poll(() => clinic.attention(), { timeout: 60_000 }).toEqual([]);
    } finally {
      ending.abort();
      await running;
      await daemon.close();
    }
  });
});

test('eligd learns from five calls how long a payer takes, and shows it', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const same = { carrier: 'Delta Dental of Illinois', payor_id: '05030' };
  const covered = (index: number) => ({ ...same, member_id: `ACTIVE${index}` });
  clinic.drop('visits.csv', exportOf(visits(5, covered)));
  await clinic.once();
  expect((await clinic.run('payers')).stdout).toContain(
    'does not know yet how long calls take (it needs 5 calls)',
  );
  machine.pass({ days: 5 });
  await clinic.once();
  expect((await clinic.run('payers')).stdout).toMatch(
    /^Delta Dental of Illinois +dental benefits +[\d.]+ +[\d.]+ +5$/m,
  );
});

test('the example payer map has the payers of the example exports', async () => {
  const { clinic, service } = await clinicWith(() => ({
    carrier: 'UHC Dental',
    payor_id: '52133',
  }));
  await clinic.once();
  expect(await requests(service)).toMatchObject([{ insurance: 'UNITED_HEALTHCARE' }]);
  expect(clinic.attention()).toEqual([]);
});

describe('whether the provider is in network', () => {
  const COLUMNS = ['appointment_id', 'appointment_at', 'patient_id', 'patient_name', 'dob'];
  const TWO = [
    [...COLUMNS, 'carrier', 'payor_id', 'member_id', 'carrier_2', 'payor_id_2', 'member_id_2'],
    ['9001', '2030-01-11T09:00', 'P1', 'Testpatient A', '1960-03-01'],
  ];
  const both = `${[...(TWO[0] ?? []), 'in_network']}\n${[
    ...(TWO[1] ?? []),
    'Aetna,60054,ACTIVE1,Cigna,62308,ACTIVE2,yes',
  ]}\n`;

  async function networks(map: string): Promise<unknown> {
    setMachineClock();
    const service = await startService();
    const clinic = makeClinic({ base_url: service.url });
    writeFileSync(join(clinic.folder, 'payers.csv'), map);
    clinic.drop('visits.csv', both);
    await clinic.once();
    return Object.fromEntries(
      (await requests(service)).map(({ insurance, insurance_in_network }) => [
        insurance,
        insurance_in_network ?? null,
      ]),
    );
  }

  test('the network status of a visit is about its first coverage', async () => {
    expect(await networks('pms_name\nNobody\n')).toEqual({ AETNA: true, CIGNA: null });
  });

  test('the payer map sets the network status by payer and tax ID', async () => {
    const map =
      'pms_name,carrier,in_network\nAetna,AETNA,999999999=yes; 123456789=no\nCigna,CIGNA,yes\n';
    expect(await networks(map)).toEqual({ AETNA: false, CIGNA: true });
  });
});
