/**
 * Claims: eligd reads an export of claims, asks the payers until they settle each claim, and writes
 * the answers back.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { claim as suiteClaim } from '../../connectors/conformance/examples.ts';
import { adt, dft, payment } from '../connectors/hl7/messages.ts';
import { type Clinic, makeClinic, type Overrides } from '../support/clinic.ts';
import { csvText } from '../support/csv-text.ts';
import { faultsOf } from '../support/fhir/definitions.ts';
import { claimResourcesOf } from '../support/fhir/records.ts';
import { startPeer } from '../support/fhir/start.ts';
import { type MachineClock, setMachineClock } from '../support/machine-clock.ts';
import { type Service, startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

/** A claim as a practice management system exports it. */
type Claim = Record<
  | 'claim_id'
  | 'claim_number'
  | 'date_of_service'
  | 'billed_amount'
  | 'procedure_codes'
  | 'claim_status'
  | 'patient_id'
  | 'patient_name'
  | 'dob'
  | 'carrier'
  | 'payor_id'
  | 'member_id'
  | 'specialty',
  string
>;

function claimOf(number: string, over: Partial<Claim> = {}): Claim {
  return {
    claim_id: `C${number}`,
    claim_number: number,
    date_of_service: '2029-12-10',
    billed_amount: '180.00',
    procedure_codes: '99213;87880',
    claim_status: 'sent',
    patient_id: `P-${number}`,
    patient_name: 'Testpatient Q',
    dob: '1980-03-04',
    carrier: 'Aetna',
    payor_id: '60054',
    member_id: `ACTIVE-${number}`,
    specialty: 'medical',
    ...over,
  };
}

function claimsOf(...claims: Claim[]): string {
  const header = Object.keys(claimOf('1')) as (keyof Claim)[];
  return csvText(
    header,
    claims.map((claim) => header.map((name) => claim[name])),
  );
}

type Scene = { machine: MachineClock; service: Service; clinic: Clinic };

async function open(config: Overrides = {}): Promise<Scene> {
  const machine = setMachineClock();
  const service = await startService();
  return { machine, service, clinic: makeClinic({ base_url: service.url, config }) };
}

/**
 * Drops the claims, sends the inquiries, and reads the answers five days later; revisions exist by
 * then.
 */
async function asked(claims: readonly Claim[], config: Overrides = {}): Promise<Scene> {
  const scene = await open(config);
  await scene.service.behave({
    revise_after_hours: claims.some(({ member_id }) => member_id.startsWith('REVISE')) ? 72 : 0,
  });
  scene.clinic.drop('claims-morning.csv', claimsOf(...claims));
  await scene.clinic.once();
  await nextDays(scene, 5);
  return scene;
}

async function nextDays({ machine, clinic }: Scene, days: number): Promise<void> {
  machine.pass({ days });
  await clinic.once();
}

type Request = Record<string, unknown>;
const requests = async (service: Service) =>
  (await service.ledger()).map(({ request }) => request as unknown as Request);
const lines = (clinic: Clinic) =>
  clinic
    .writtenClaims()
    .map(({ claim_id, claim_status, said_status, status }) => [
      claim_id,
      claim_status,
      said_status,
      status,
    ]);
const situation = async (clinic: Clinic, id: string) => (await clinic.run('explain', id)).stdout;

describe('a claim that is old enough', () => {
  test('the inquiry about a claim has everything that the claim says', async () => {
    const { service } = await asked([claimOf('PAID-1')]);
    expect(await requests(service)).toEqual([
      {
        type: 'CLAIMS_STATUS',
        desired_completion_date: expect.stringMatching(/^01-\d\d-2030$/),
        patient_name: 'Testpatient Q',
        dob: '03-04-1980',
        member_id: 'ACTIVE-PAID-1',
        tax_id: '123456789',
        external_id: 'CPAID-1',
        is_specialist: false,
        claims_date_of_service: '12-10-2029',
        billed_amount: 180,
        billing_npi: '1234567893',
        insurance: 'AETNA',
        insurance_payor_id: '60054',
        claim_number: 'PAID-1',
        beneficiary: 'PRIMARY',
        benefits_codes: ['99213', '87880'],
      },
    ]);
    expect((await service.ledger())[0]?.specialty).toBe('medical');
  });

  test.each([
    ['PAID-1', 'paid', 'APPROVED', /plan|written/],
    ['APPROVED-1', 'approved', 'APPROVED', /did not settle the claim, so eligd asks again/],
    ['PENDING-1', 'pending', 'PENDING', /so eligd asks again/],
    ['PROCESSED-2', 'paid', 'PROCESSED', /plan|written/],
    ['ODDSTATUS-1', 'unknown', 'AWAITING_COB', /so eligd asks again/],
  ])('a claim that the payer calls %s is written back as %s', async (number, status, said, why) => {
    const { clinic } = await asked([claimOf(number)]);
    expect(lines(clinic)).toEqual([[`C${number}`, status, said, 'SUCCESS']]);
    expect(await situation(clinic, `C${number}`)).toMatch(why);
    expect(clinic.attention().filter(({ claim_id }) => claim_id !== '')).toEqual([]);
  });

  test('a call leaves out the beneficiary if the configuration says none', async () => {
    const { service } = await asked([claimOf('PAID-1')], {
      policy: { claims: { beneficiary: 'none' } },
    });
    const [request] = await requests(service);
    expect(request).toMatchObject({ claim_number: 'PAID-1' });
    expect(request).not.toHaveProperty('beneficiary');
  });

  test('a claim costs one inquiry, however many codes it has', async () => {
    const prices = { per_inquiry: 12.5, per_code: 0.25 };
    const { clinic } = await asked([claimOf('PAID-1', { procedure_codes: '99213;87880' })], {
      prices,
    });
    expect((await clinic.run('cost')).stdout).toContain('Total:       1 call, $12.50.\n');
  });

  test('claim_words translate the payer’s own word for a status', async () => {
    const { clinic } = await asked([claimOf('ODDSTATUS-1')], {
      claim_words: { 'Awaiting COB': 'pending' },
    });
    expect(lines(clinic)).toEqual([['CODDSTATUS-1', 'pending', 'AWAITING_COB', 'SUCCESS']]);
  });

  test.each([
    ['DENIED-1', 'denied', 'DENIED', 'claim_denied', /denied.*“DENIED”.*Appeal: \w+/],
    ['TIMELY-1', 'denied', 'DENIED - TIMELY FILING', 'claim_denied', /TIMELY FILING/],
    ['DUPLICATE-1', 'denied', 'Denied (duplicate)', 'claim_denied', /Denied \(duplicate\)/],
    ['PARTLY-1', 'partly_paid', 'PARTIALLY PAID', 'claim_partly_paid', /in part.*PARTIALLY PAID/],
    ['NOTONFILE-1', 'not_on_file', 'NOT_ON_FILE', 'claim_not_on_file', /does not have the claim/],
    ['FINALIZED-1', 'unknown', 'FINALIZED', 'claim_unclear', /did not say what it decided/],
  ])('a claim is listed and not asked about again until the PMS changes it: %s', async (...row) => {
    const [number, status, said, reason, what] = row;
    const scene = await asked([claimOf(number)]);
    const { clinic, service } = scene;
    expect(lines(clinic)).toEqual([[`C${number}`, status, said, 'SUCCESS']]);
    const listed = () => clinic.attention().filter(({ claim_id }) => claim_id === `C${number}`);
    expect(listed()).toMatchObject([{ reason, what_happened: expect.stringMatching(what) }]);
    expect(await situation(clinic, `C${number}`)).not.toMatch(/You have nothing to do/);
    await nextDays(scene, 30);
    expect(await service.ledger()).toHaveLength(1);
    expect(listed()).toHaveLength(1);
    // After a corrected claim, eligd asks again.
    clinic.drop('claims-corrected.csv', claimsOf({ ...claimOf('PAID-2'), claim_id: `C${number}` }));
    await nextDays(scene, 1);
    expect(await service.ledger()).toHaveLength(2);
  });

  test('the record of a claim has amounts, denial reasons, and appeal instructions', async () => {
    const { clinic } = await asked([claimOf('DENIED-1')]);
    const [line] = clinic.writtenClaims();
    expect(line?.record).toMatchObject({
      schema: 'eligd.claim/1',
      unparsed: [],
      completeness: 'complete',
      asked: {
        claim_number: 'DENIED-1',
        date_of_service: '2029-12-10',
        billed_amount: { amount: '180.00', currency: 'USD' },
      },
      claim: {
        codes: [
          { code: '99213', paid: { amount: '0.00' }, denial_reason: expect.any(String) },
          { code: '87880' },
        ],
      },
    });
    expect(line?.procedure_codes).toMatch(/^99213: paid 0\.00; .*denied ".*appeal "/);
  });

  test('dental and mental health claims leave out the other specialties’ fields', async () => {
    const claims = [
      claimOf('PAID-1', { specialty: 'dental', procedure_codes: 'D1110' }),
      claimOf('PAID-2', { specialty: 'mental_health', procedure_codes: '90834' }),
    ];
    const { service, clinic } = await asked(claims);
    const [dental, mental] = await requests(service);
    expect([
      dental?.billed_amount,
      dental?.beneficiary,
      mental?.billed_amount,
      mental?.beneficiary,
    ]).toEqual([undefined, undefined, 180, undefined]);
    expect(new Set(lines(clinic).map(([, status]) => status))).toEqual(new Set(['paid']));
  });
});

describe('when eligd asks about a claim', () => {
  test('eligd waits until a claim is ask_after_days old', async () => {
    const scene = await asked([claimOf('PAID-1', { date_of_service: '2030-01-04' })]);
    expect(await scene.service.ledger()).toEqual([]);
    expect(await situation(scene.clinic, 'CPAID-1')).toMatch(/policy\.claims\.ask_after_days/);
    await nextDays(scene, 5);
    expect(await scene.service.ledger()).toEqual([]);
    await nextDays(scene, 2);
    expect(await scene.service.ledger()).toHaveLength(1);
  });

  test('eligd asks about a claim every ask_again_days until the payer settles it', async () => {
    const scene = await asked([claimOf('PENDING1-2')]);
    expect(lines(scene.clinic).map(([, status]) => status)).toEqual(['pending']);
    await nextDays(scene, 12);
    expect(await scene.service.ledger()).toHaveLength(1);
    await nextDays(scene, 3);
    expect(await scene.service.ledger()).toHaveLength(2);
    await nextDays(scene, 5);
    expect(lines(scene.clinic).map(([, status]) => status)).toEqual(['pending', 'paid']);
    await nextDays(scene, 60);
    expect(await scene.service.ledger()).toHaveLength(2);
    expect((await scene.service.ledger()).map(({ external_id }) => external_id)).toEqual([
      'CPENDING1-2',
      'CPENDING1-2',
    ]);
  });

  test('a claim that no call settles goes on the attention list after max_calls', async () => {
    const scene = await asked([claimOf('PENDING-1')], {
      policy: { claims: { max_calls: 2, ask_again_days: 3 } },
    });
    for (let round = 0; round < 5; round += 1) await nextDays(scene, 8);
    expect(await scene.service.ledger()).toHaveLength(2);
    expect(
      scene.clinic
        .attention()
        .map(({ claim_id, appointment_id, reason }) => [claim_id, appointment_id, reason]),
    ).toEqual([['CPENDING-1', '', 'claim_unsettled']]);
  });

  test('a revised answer that settles a claim takes it off the attention list', async () => {
    const claims = [claimOf('CLEARED-1', { member_id: 'REVISE-1' })];
    const scene = await asked(claims, { policy: { claims: { max_calls: 1 } } });
    expect(scene.clinic.attention().map(({ reason }) => reason)).toEqual(['claim_unsettled']);
    await nextDays(scene, 6);
    expect(lines(scene.clinic).map(([, status]) => status)).toEqual(['pending', 'paid']);
    expect(scene.clinic.attention()).toEqual([]);
    expect(await scene.service.ledger()).toHaveLength(1);
  });

  test('eligd asks about a denied claim under review until the payer pays', async () => {
    const scene = await asked([claimOf('OVERTURNED-1', { member_id: 'REVISE-1' })]);
    expect(lines(scene.clinic).map(([, status]) => status)).toEqual(['denied']);
    await nextDays(scene, 6);
    expect(lines(scene.clinic).map(([, status]) => status)).toEqual(['denied', 'pending']);
    expect(scene.clinic.writtenClaims()[1]?.notes).toMatch(/status changed from denied to pending/);
    await nextDays(scene, 15);
    await nextDays(scene, 5);
    expect(lines(scene.clinic).map(([, status]) => status)).toEqual(['denied', 'pending', 'paid']);
    await nextDays(scene, 60);
    expect(await scene.service.ledger()).toHaveLength(2);
  });

  test('eligd makes at most max_calls unsuccessful calls about a claim', async () => {
    const claims = [claimOf('PAID-1', { member_id: 'UNSUCC-1' })];
    const scene = await asked(claims, { policy: { claims: { max_calls: 1 } } });
    for (let round = 0; round < 4; round += 1) await nextDays(scene, 8);
    expect(await scene.service.ledger()).toHaveLength(1);
    expect(new Set(scene.clinic.attention().map(({ reason }) => reason))).toEqual(
      new Set(['unsuccessful', 'claim_unsettled']),
    );
  });

  test('eligd makes no further call once the PMS says that a claim is settled', async () => {
    const scene = await asked([
      claimOf('PENDING-1'),
      claimOf('PENDING-2', { claim_status: 'paid' }),
    ]);
    expect(await scene.service.ledger()).toHaveLength(1);
    scene.clinic.drop(
      'claims-later.csv',
      claimsOf(claimOf('PENDING-1', { claim_status: 'closed' })),
    );
    await nextDays(scene, 20);
    expect(await scene.service.ledger()).toHaveLength(1);
    expect(await situation(scene.clinic, 'CPENDING-1')).toMatch(/claim is settled/);
  });

  test('a claim that a full export leaves out is settled until it returns', async () => {
    const connectors = [
      {
        id: 'front-desk',
        type: 'csv',
        folder: './dropbox',
        stable_seconds: 0,
        claims_export: 'full',
      },
    ];
    const scene = await asked([claimOf('PENDING-1'), claimOf('PENDING-2')], { connectors });
    expect(await scene.service.ledger()).toHaveLength(2);
    scene.clinic.drop('claims-later.csv', claimsOf(claimOf('PENDING-2')));
    await nextDays(scene, 20);
    expect((await scene.service.ledger()).map(({ external_id }) => external_id)).toEqual([
      'CPENDING-1',
      'CPENDING-2',
      'CPENDING-2',
    ]);
    scene.clinic.drop('claims-last.csv', claimsOf(claimOf('PENDING-1'), claimOf('PENDING-2')));
    await nextDays(scene, 1);
    expect(
      (await scene.service.ledger()).filter(({ external_id }) => external_id === 'CPENDING-1'),
    ).toHaveLength(2);
  });

  test('a claim that lacks a required field waits for the office, then causes a call', async () => {
    const scene = await asked([claimOf('PAID-1', { date_of_service: '', dob: '' })]);
    expect(await scene.service.ledger()).toEqual([]);
    const [entry] = scene.clinic.attention().filter(({ claim_id }) => claim_id === 'CPAID-1');
    expect([entry?.reason, entry?.what_happened]).toEqual([
      'field_missing',
      expect.stringMatching(/birth date.*date of service/),
    ]);
    scene.clinic.drop('claims-fixed.csv', claimsOf(claimOf('PAID-1')));
    await nextDays(scene, 1);
    expect(await scene.service.ledger()).toHaveLength(1);
    expect(scene.clinic.attention().filter(({ claim_id }) => claim_id !== '')).toEqual([]);
  });

  test('eligd closes a claim whose service is more than a year old', async () => {
    const { service, clinic } = await asked([claimOf('PAID-1', { date_of_service: '2028-11-01' })]);
    expect(await service.ledger()).toEqual([]);
    expect(await situation(clinic, 'CPAID-1')).toMatch(/too long ago/);
  });
});

describe('a call about a claim', () => {
  test('eligd repeats an unsuccessful call about a claim, and asks again later', async () => {
    const scene = await asked([claimOf('PAID-1', { member_id: 'UNSUCC-1' })]);
    await nextDays(scene, 1);
    await nextDays(scene, 4);
    expect((await scene.service.ledger()).map(({ status }) => status)).toEqual([
      'UNSUCCESSFUL',
      'UNSUCCESSFUL',
    ]);
    expect(lines(scene.clinic).map(([, status, , ended]) => [status, ended])).toEqual([
      ['unknown', 'UNSUCCESSFUL'],
      ['unknown', 'UNSUCCESSFUL'],
    ]);
    expect(scene.clinic.attention().map(({ reason }) => reason)).toEqual(['unsuccessful']);
    await nextDays(scene, 15);
    expect(await scene.service.ledger()).toHaveLength(3);
  });

  test('a call without a result leaves the attention list once the claim is settled', async () => {
    const claims = [
      claimOf('PAID-1', { member_id: 'CANCEL-1' }),
      claimOf('PAID-2', { member_id: 'CANCEL-2' }),
    ];
    const scene = await asked(claims);
    expect(scene.clinic.attention()).toHaveLength(2);
    const { stdout } = await scene.clinic.run('withdraw', 'CPAID-2');
    expect(stdout).toMatch(/If the practice management system changes it, eligd plans it again/);
    scene.clinic.drop(
      'claims-later.csv',
      claimsOf(claimOf('PAID-1', { claim_status: 'written off' })),
    );
    await scene.clinic.once();
    expect(scene.clinic.attention()).toEqual([]);
  });

  test('eligd lists a canceled call about a claim and does not repeat it', async () => {
    const scene = await asked([claimOf('PAID-1', { member_id: 'CANCEL-1' })]);
    await nextDays(scene, 30);
    expect((await scene.service.ledger()).map(({ status }) => status)).toEqual(['CANCELLED']);
    expect(scene.clinic.attention().map(({ reason, claim_id }) => [reason, claim_id])).toEqual([
      ['cancelled_by_service', 'CPAID-1'],
    ]);
  });

  test('after a lost reply, eligd looks the claim’s call up and makes it once (G1)', async () => {
    const scene = await open();
    await scene.service.fault({ method: 'POST', path: 'medical/', when: 'after', action: 'reset' });
    scene.clinic.drop('claims-a.csv', claimsOf(claimOf('PAID-1')));
    for (let round = 0; round < 4; round += 1) {
      await scene.clinic.once();
      scene.machine.pass({ minutes: 5 });
    }
    await nextDays(scene, 5);
    expect(await scene.service.ledger()).toHaveLength(1);
    expect(lines(scene.clinic).map(([, status]) => status)).toEqual(['paid']);
  });

  test('a lost database causes no second call about a claim (G1)', async () => {
    const scene = await asked([claimOf('PENDING-1')]);
    const again = makeClinic({ base_url: scene.service.url });
    again.drop('claims-a.csv', claimsOf(claimOf('PENDING-1')));
    await again.once();
    // eligd uses nothing from the list silently: the operator confirms that the database is new.
    expect(lines(again)).toEqual([]);
    expect((await again.run('release', 'submission')).code).toBe(0);
    await again.once();
    await again.once();
    expect(await scene.service.ledger()).toHaveLength(1);
    expect(lines(again).map(([, status]) => status)).toEqual(['pending']);
  });

  test('calls about claims and visits share one budget', async () => {
    const scene = await open({ policy: { calls_per_day: 2 } });
    scene.clinic.drop('export.csv', exportOf(visits(1)));
    scene.clinic.drop('claims-a.csv', claimsOf(claimOf('PAID-1'), claimOf('PAID-2')));
    await scene.clinic.once();
    expect(await scene.service.ledger()).toHaveLength(2);
    await nextDays(scene, 1);
    expect(await scene.service.ledger()).toHaveLength(3);
  });
});

test('an installation with only claims reports about claims', async () => {
  const { clinic } = await asked([
    claimOf('PAID-1'),
    claimOf('PAID-2', { dob: '' }),
    claimOf('PAID-3', { claim_status: 'paid' }),
  ]);
  const { stdout } = await clinic.run('once');
  expect(stdout).toBe('Claims: 1 delivered, 1 needs attention, closed: 1 settled.\n');
  expect(JSON.parse((await clinic.run('once', '--json')).stdout)).toMatchObject({
    total: 0,
    claims: { total: 3, delivered: 1 },
  });
  expect((await clinic.run('status')).stdout).not.toMatch(/Nothing has been read yet/);
  expect(await situation(clinic, 'CPAID-1')).toMatch(/In the log: claim CPAID-1 is/);
});

test('a claim and a visit with the same ID are told apart in every output', async () => {
  const scene = await open();
  scene.clinic.drop(
    'export.csv',
    exportOf(visits(1, () => ({ appointment_id: '9001', member_id: 'ACTIVE-1' }))),
  );
  scene.clinic.drop(
    'claims-a.csv',
    claimsOf(claimOf('PAID-1', { claim_id: '9001', member_id: 'ACTIVE-1' })),
  );
  await scene.clinic.once();
  await nextDays(scene, 5);
  const ledger = await requests(scene.service);
  expect(new Set(ledger.map(({ type }) => type))).toEqual(new Set(['BENEFITS', 'CLAIMS_STATUS']));
  expect(scene.clinic.written().map(({ appointment_id }) => appointment_id)).toEqual(['9001']);
  expect(scene.clinic.writtenClaims().map(({ claim_id }) => claim_id)).toEqual(['9001']);
  expect(await situation(scene.clinic, '9001')).toMatch(/^Appointment 9001/);
  expect(await situation(scene.clinic, 'claim:9001')).toMatch(
    /^Claim 9001 of front-desk, service 2029-12-10/,
  );
  const status = JSON.parse((await scene.clinic.run('status', '--json')).stdout);
  expect([status.appointments.total, status.claims.total, status.claims.delivered]).toEqual([
    1, 1, 1,
  ]);
  expect((await scene.clinic.run('status')).stdout).toMatch(/claims +1 +1 delivered/);
  expect((await scene.clinic.run('list')).stdout).toMatch(/service 2029-12-10/);
  expect((await scene.clinic.run('show', 'claim:9001', '--patients')).stdout).toMatch(
    /claim status: +paid/,
  );
});

describe('claims from HL7 messages', () => {
  const given = { ...suiteClaim(1), claim_number: 'PAID-1', date_of_service: '2029-12-10' };
  const connectors = [{ id: 'interface', type: 'hl7', folder: './hl7', stable_seconds: 0 }];

  async function sent(
    ...messages: string[]
  ): Promise<Scene & { send: (...messages: string[]) => void }> {
    const scene = await open({ connectors });
    let count = 0;
    const send = (...more: string[]) => {
      count += 1;
      const inbox = join(scene.clinic.folder, 'hl7/inbox');
      mkdirSync(inbox, { recursive: true });
      writeFileSync(join(inbox, `${count}.hl7`), `${more.join('\r')}\r`);
    };
    send(...messages);
    await scene.clinic.once();
    return { ...scene, send };
  }

  const outgoing = ({ clinic }: Scene) => {
    const outbox = join(clinic.folder, 'hl7/outbox');
    return existsSync(outbox)
      ? readdirSync(outbox).map((name) => readFileSync(join(outbox, name), 'utf8'))
      : [];
  };

  test('eligd asks about HL7 claims and writes the answers back as messages', async () => {
    const scene = await sent(dft(given));
    expect(
      (await requests(scene.service)).map(({ type, claim_number }) => [type, claim_number]),
    ).toEqual([['CLAIMS_STATUS', 'PAID-1']]);
    await nextDays(scene, 5);
    expect(outgoing(scene)).toEqual([
      expect.stringMatching(
        /PIN\^I07[\s\S]*\|C-1\|CLAIM_ID\^[\s\S]*\|paid\|CLAIM_STATUS\^[\s\S]*ZCM\|1\|C-1\|/,
      ),
    ]);
  });

  test('a claim without insurance waits for the patient’s insurance', async () => {
    const scene = await sent(dft(given, { with_insurance: false }));
    expect(await scene.service.ledger()).toEqual([]);
    const { stdout } = await scene.clinic.run('list', '--attention', '--json');
    expect(JSON.parse(stdout).entries).toMatchObject([
      { claim: 'C-1', reason: 'insurance_awaited' },
    ]);
    scene.send(adt('A08', { patient: given.patient, coverages: [given.coverage] }));
    await scene.clinic.once();
    expect((await requests(scene.service)).map(({ member_id }) => member_id)).toEqual([
      given.coverage.member_id,
    ]);
    expect(
      JSON.parse((await scene.clinic.run('list', '--attention', '--json')).stdout).entries,
    ).toEqual([]);
  });

  test('a posted payment ends the questions about a claim', async () => {
    const scene = await sent(dft({ ...given, claim_number: 'PENDING-1' }));
    scene.send(payment(given));
    await nextDays(scene, 30);
    expect(await scene.service.ledger()).toHaveLength(1);
    expect(await situation(scene.clinic, 'C-1')).toMatch(/claim is settled/);
  });
});

test('eligd asks about a FHIR claim and answers with a ClaimResponse', async () => {
  const peer = await startPeer();
  const connectors = [
    { id: 'ehr', type: 'fhir', base_url: peer.url, auth: 'none', poll_minutes: 0, claims_days: 60 },
  ];
  const scene = await open({ connectors });
  await peer.put(
    ...claimResourcesOf({
      ...suiteClaim(1),
      date_of_service: '2029-12-10',
      billed_amount: '180.00',
    }),
  );
  await scene.clinic.once();
  const [request] = await requests(scene.service);
  expect(request).toMatchObject({
    type: 'CLAIMS_STATUS',
    external_id: 'C-1',
    claims_date_of_service: '12-10-2029',
  });
  await nextDays(scene, 5);
  await scene.clinic.once();
  const responses = await peer.all('ClaimResponse');
  expect(responses).toMatchObject([
    { request: { reference: 'Claim/C-1' }, patient: { reference: 'Patient/P-1' } },
  ]);
  expect(responses.flatMap(faultsOf)).toEqual([]);
});
