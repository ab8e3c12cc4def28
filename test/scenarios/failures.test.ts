/**
 * Failures between eligd and the service. Each ends as docs/design.md says, with one call per need.
 */
import { describe, expect, test } from 'vitest';
import { type Clinic, makeClinic, type Overrides } from '../support/clinic.ts';
import { type MachineClock, setMachineClock } from '../support/machine-clock.ts';
import {
  expectOneCallEach,
  expectOwnAnswers,
  needsOf,
  placesOf,
  questionsOf,
  writtenFor,
} from '../support/needs.ts';
import { type FaultOrder, type Service, startService } from '../support/service.ts';
import { exportOf, type Visit, visits } from '../support/visits.ts';

const ALL = visits(8);

type Scene = { machine: MachineClock; service: Service; clinic: Clinic };

async function scene(config: Overrides = {}, secrets?: Record<string, string>): Promise<Scene> {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config,
    ...(secrets === undefined ? {} : { secrets }),
  });
  clinic.drop('export.csv', exportOf(ALL));
  return { machine, service, clinic };
}

/** Runs a round every 15 minutes, then waits the days until the answers exist. */
async function untilDone({ machine, service, clinic }: Scene): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    machine.pass({ minutes: 16 });
    await clinic.once();
  }
  await service.advance({ days: 6 });
  await clinic.once();
}

async function expectDone(
  { service, clinic }: Scene,
  except: readonly Visit[] = [],
): Promise<void> {
  const wanted = questionsOf(ALL.filter((visit) => !except.includes(visit)));
  const ledger = await service.ledger();
  expectOneCallEach(ledger, needsOf(wanted));
  expect(writtenFor(clinic)).toEqual(placesOf(wanted));
  expectOwnAnswers(clinic, ledger);
}

const explained = async (clinic: Clinic, id = '9001') => (await clinic.run('explain', id)).stdout;

describe('an unavailable service', () => {
  test('eligd keeps everything that is due while nothing listens, and sends it later', async () => {
    const machine = setMachineClock();
    const first = await startService();
    const port = Number(new URL(first.url).port);
    const clinic = makeClinic({ base_url: first.url });
    await first.close();
    clinic.drop('export.csv', exportOf(ALL));
    await clinic.once(75);
    expect(clinic.inbox()).toEqual([]);
    expect(await explained(clinic)).toMatch(/a call was planned/);
    const service = await startService({ port });
    await untilDone({ machine, service, clinic });
    await expectDone({ machine, service, clinic });
  });

  test('eligd sends everything after a time in which every connection broke', async () => {
    const made = await scene();
    await made.service.fault({ times: 1000, when: 'before', action: 'reset' });
    await made.clinic.once(75);
    await made.service.clearFaults();
    await untilDone(made);
    await expectDone(made);
  });

  test('after a wrong password, eligd sends nothing and says what to check', async () => {
    const made = await scene(
      {},
      { ELIGD_SERVICE_USERNAME: 'clinic', ELIGD_SERVICE_PASSWORD: 'wrong' },
    );
    const { code, stderr } = await made.clinic.run('once');
    expect(code).toBe(75);
    expect(stderr).toMatch(/Run "eligd check"/);
    expect(await made.service.ledger()).toEqual([]);
  });
});

describe.each(['single', 'bulk'])('submission.mode %s', (mode) => {
  const path = mode === 'single' ? 'dental/inquiries' : 'dental/batch_inquiries';
  const submission = { mode, max_per_minute: 0 };
  const post = (fault: Omit<FaultOrder, 'method' | 'path'>): FaultOrder => ({
    method: 'POST',
    path,
    ...fault,
  });

  test.each([401, 402, 403, 407])(
    'a %d stops submission with a message, and eligd resumes automatically',
    async (status) => {
      const made = await scene({ service: { submission } });
      // eligd repeats a request once with a new token after a 401, and after a 403 for a token that
      // has worked.
      await made.service.fault(
        post({
          times: status === 401 || status === 403 ? 8 : 4,
          when: 'before',
          action: 'status',
          status,
        }),
      );
      await made.clinic.once();
      expect(await made.service.ledger()).toEqual([]);
      const told = made.clinic.attention().filter(({ reason }) => reason === 'submission_stopped');
      expect(told.map(({ what_happened }) => what_happened)).toEqual([
        expect.stringContaining(`the service answered ${status}`),
      ]);
      expect(await explained(made.clinic)).toMatch(
        new RegExp(`The service answered ${status}|the service answered ${status}`),
      );
      // eligd does not try before the slow schedule allows it.
      const before = await made.service.traffic();
      made.machine.pass({ minutes: 5 });
      await made.clinic.once();
      expect((await made.service.traffic()).by_route[`POST /api/v0/${path}`]).toBe(
        before.by_route[`POST /api/v0/${path}`],
      );
      await made.service.clearFaults();
      await untilDone(made);
      await expectDone(made);
      expect(made.clinic.attention().map(({ reason }) => reason)).not.toContain(
        'submission_stopped',
      );
    },
  );

  const lost = [
    { when: 'after', action: 'truncate' },
    { when: 'after', action: 'reset' },
    { when: 'after', action: 'status', status: 500 },
    { when: 'after', action: 'status', status: 409 },
    { when: 'after', action: 'html', status: 502 },
    { when: 'after', action: 'html', status: 200 },
    { when: 'before', action: 'truncate' },
    { when: 'before', action: 'reset' },
    { when: 'before', action: 'status', status: 500 },
    { when: 'before', action: 'status', status: 408 },
    { when: 'before', action: 'html', status: 504 },
  ] as const;
  test.each(
    lost.flatMap((fault) =>
      [0, 1].map((skip) => ({
        name: Object.values(fault).join(' '),
        which: ['first', 'second'][skip],
        fault: { ...fault, skip },
      })),
    ),
  )('a lost reply to the $which request, $name, causes no second call', async ({ fault }) => {
    const made = await scene({ service: { submission } });
    await made.service.fault(post(fault));
    await made.clinic.once();
    await untilDone(made);
    expect(await made.service.pendingFaults()).toEqual([]);
    await expectDone(made);
  });

  test('eligd waits after a lost reply, looks twice if it is absent, and explains it', async () => {
    const made = await scene({ service: { submission, settle_seconds: 300 } });
    await made.service.fault(post({ when: 'before', action: 'reset' }));
    await made.clinic.once();
    const sent_at_first = await made.service.ledger();
    expect(sent_at_first.map(({ external_id }) => external_id)).not.toContain('9001');
    expect(await explained(made.clinic)).toMatch(
      /the reply was lost, so eligd looks it up and does not send it again/,
    );
    // Within the settle time, eligd neither looks the inquiry up nor sends it.
    made.machine.pass({ minutes: 4 });
    await made.clinic.once();
    expect((await made.service.ledger()).map(({ external_id }) => external_id)).not.toContain(
      '9001',
    );
    await untilDone(made);
    await expectDone(made);
    expect(await explained(made.clinic)).toMatch(
      /planned again, because the service does not have it/,
    );
  });

  test('eligd finds an inquiry whose reply was lost after it was created', async () => {
    const made = await scene({ service: { submission, settle_seconds: 300 } });
    await made.service.fault(post({ when: 'after', action: 'reset' }));
    await made.clinic.once();
    await untilDone(made);
    await expectDone(made);
    expect(await explained(made.clinic)).toMatch(/only its reply was lost/);
  });
});

describe('a batch with one bad item', () => {
  const rejected = { ...(ALL[5] as Visit), member_id: 'REJECT55' };
  const exported = ALL.map((visit) =>
    visit.appointment_id === rejected.appointment_id ? rejected : visit,
  );

  test.each(
    (['all_or_nothing', 'some', 'some_422'] as const).flatMap((bulk_partial) =>
      (
        [
          'creation_responses',
          'wrapped_creations',
          'mixed',
          'inquiry_ids',
          'read_forms',
          'success_only',
          'shuffled_ids',
        ] as const
      ).map((bulk_response) => ({ bulk_partial, bulk_response })),
    ),
  )(
    'with $bulk_partial and $bulk_response, eligd calls for the others and lists one',
    async (behaviors) => {
      const machine = setMachineClock();
      const service = await startService();
      await service.behave(behaviors);
      const clinic = makeClinic({ base_url: service.url });
      clinic.drop('export.csv', exportOf(exported));
      await clinic.once();
      await untilDone({ machine, service, clinic });
      await expectDone({ machine, service, clinic }, [ALL[5] as Visit]);
      const told = clinic
        .attention()
        .filter(({ appointment_id }) => appointment_id === rejected.appointment_id);
      expect(told).toHaveLength(1);
      expect(['refused', 'undecidable']).toContain(told[0]?.reason);
    },
  );
});
