/**
 * The interpretations of the specification that `docs/service.md` lists. With each of them, eligd
 * does the whole job and makes every call once.
 */
import { describe, expect, test } from 'vitest';
import { ANSWER_REASONS } from '../../src/domain/attention.ts';
import type { Behaviors } from '../../src/sandbox/server.ts';
import { BASIC_SECRETS, type Clinic, makeClinic, type Overrides } from '../support/clinic.ts';
import { type MachineClock, setMachineClock } from '../support/machine-clock.ts';
import {
  expectOneCallEach,
  expectOwnAnswers,
  needsOf,
  placesOf,
  questionsOf,
  writtenFor,
} from '../support/needs.ts';
import { type Service, startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

type Behavior = Partial<Record<keyof Behaviors, string | number>>;

const VISITS = 8;
/** Enough that eligd takes the answers from the list instead of reading each. */
const MANY = 12;

/** A morning, the days until the answers exist, and as many rounds as a slow lookup may need. */
async function wholeJob(
  machine: MachineClock,
  service: Service,
  clinic: Clinic,
  count = VISITS,
): Promise<void> {
  clinic.drop('export.csv', exportOf(visits(count)));
  for (let round = 0; round < 3; round += 1) {
    await clinic.once();
    machine.pass({ minutes: 16 });
  }
  await service.advance({ days: 6 });
  await clinic.once();
  machine.pass({ hours: 3 });
  await clinic.once();
}

type Case = { config?: Overrides; secrets?: Record<string, string>; count?: number };

async function expectDone(
  behaviors: Behavior,
  { count = VISITS, ...options }: Case = {},
): Promise<void> {
  const machine = setMachineClock();
  const service = await startService();
  await service.behave(behaviors);
  const clinic = makeClinic({ base_url: service.url, ...options });
  await wholeJob(machine, service, clinic, count);
  const questions = questionsOf(visits(count));
  const ledger = await service.ledger();
  expectOneCallEach(ledger, needsOf(questions));
  expect(writtenFor(clinic)).toEqual(placesOf(questions));
  expectOwnAnswers(clinic, ledger);
  expect(clinic.written().map(({ record }) => record.outcome)).toEqual(
    questions.map(() => 'successful'),
  );
  const reasons = clinic.attention().map(({ reason }) => reason);
  for (const reason of ANSWER_REASONS) expect(reasons).not.toContain(reason);
}

const named = (cases: Behavior[]) =>
  cases.map((behaviors) => ({ name: JSON.stringify(behaviors), behaviors }));
const each = (behavior: keyof Behaviors, ...values: (string | number)[]): Behavior[] =>
  values.map((value) => ({ [behavior]: value }));

describe('behaviors of batches', () => {
  test.each(
    named([
      ...each(
        'bulk_response',
        'creation_responses',
        'inquiry_ids',
        'wrapped_creations',
        'read_forms',
        'mixed',
        'success_only',
        'shuffled_ids',
      ),
      ...each('bulk_absent', '404', '405', '501'),
      { bulk_max: 3, bulk_max_status: '413' },
      { bulk_max: 3, bulk_max_status: '422' },
      { bulk_max: 1, bulk_max_status: '422' },
      { bulk_request_shape: 'object' },
      { bulk_request_shape: 'object', bulk_response: 'wrapped_creations', bulk_max: 2 },
      { bulk_response: 'success_only', list_filter: 'ignored' },
      { bulk_response: 'shuffled_ids', list_paging: 'page', list_page_size: 3 },
    ]),
  )('$name', async ({ behaviors }) => {
    await expectDone(behaviors);
  });
});

describe('behaviors of lists', () => {
  test.each(
    named([
      { list_filter: 'ignored' },
      { list_filter: 'refused' },
      ...(['limit_offset', 'page', 'link', 'items_total', 'limit'] as const).map((list_paging) => ({
        list_paging,
        list_page_size: 3,
      })),
      ...each('list_order', 'reverse', 'random'),
    ]),
  )('$name, with a lost reply in the middle', async ({ behaviors }) => {
    const machine = setMachineClock();
    const service = await startService();
    await service.behave(behaviors);
    const clinic = makeClinic({
      base_url: service.url,
      config: { service: { submission: { mode: 'single' } } },
    });
    await service.fault({
      method: 'POST',
      path: 'dental/inquiries',
      skip: 4,
      times: 2,
      when: 'after',
      action: 'reset',
    });
    await service.fault({
      method: 'POST',
      path: 'dental/inquiries',
      skip: 6,
      times: 1,
      when: 'before',
      action: 'reset',
    });
    await wholeJob(machine, service, clinic);
    expect(await service.pendingFaults()).toEqual([]);
    const questions = questionsOf(visits(VISITS));
    expectOneCallEach(await service.ledger(), needsOf(questions));
    expect(writtenFor(clinic)).toEqual(placesOf(questions));
    expectOwnAnswers(clinic, await service.ledger());
  });

  // Within one settle time, the first lookup finds it; within two, the second.
  test.each([240, 500])(
    'eligd does not resend a new inquiry that appears in the list after %d seconds',
    async (list_delay_seconds) => {
      const machine = setMachineClock();
      const service = await startService();
      await service.behave({ list_delay_seconds });
      const clinic = makeClinic({
        base_url: service.url,
        config: { service: { settle_seconds: 300 } },
      });
      // An inquiry that is already listed proves that the list works, so what it does not show
      // counts as absent.
      clinic.drop('first.csv', exportOf(visits(1)));
      await clinic.once();
      machine.pass({ minutes: 20 });
      await clinic.once();
      await service.fault({ method: 'POST', path: 'batch', when: 'after', action: 'reset' });
      clinic.drop('export.csv', exportOf(visits(VISITS)));
      for (let round = 0; round < 8; round += 1) {
        await clinic.once();
        machine.pass({ minutes: 2 });
      }
      await service.advance({ days: 6 });
      await clinic.once();
      expect(await service.pendingFaults()).toEqual([]);
      expectOneCallEach(await service.ledger(), needsOf(questionsOf(visits(VISITS))));
      expect(writtenFor(clinic)).toEqual(placesOf(questionsOf(visits(VISITS))));
    },
  );
});

describe('behaviors of reads', () => {
  test.each(
    named([
      { read_shape: 'array' },
      ...each('echo', 'nulls', 'defaults', 'trimmed_upper'),
      ...each('timestamps', 'offset', 'naive_micros'),
      ...each('dates', 'iso', 'mdy_slash'),
      ...each('amounts', 'number', 'currency'),
      ...each('call_details', 'array', 'object', 'absent'),
      ...each('transcript_name', 'call_transcript', 'transcript'),
      ...each('tooth_numbers', 'strings', 'integers'),
      { status_case: 'lower' },
      { token_expires_in: 'seconds', token_lifetime_seconds: 600 },
      { token_lifetime_seconds: 60 },
    ]),
  )('$name', async ({ behaviors }) => {
    await expectDone(behaviors);
  });

  test.each(named(each('unknown_id', '404', '422', 'null', 'empty_array')))(
    'eligd lists an inquiry that the service has lost ($name), and does not resend it',
    async ({ behaviors }) => {
      const machine = setMachineClock();
      const service = await startService();
      await service.behave(behaviors);
      const clinic = makeClinic({ base_url: service.url });
      clinic.drop('export.csv', exportOf(visits(2)));
      await clinic.once();
      const before = await service.traffic();
      await service.forget();
      for (let round = 0; round < 5; round += 1) {
        machine.pass({ hours: 1 });
        await clinic.once();
      }
      expect(await service.ledger()).toEqual([]);
      expect((await service.traffic()).by_route['POST /api/v0/dental/inquiries']).toBeUndefined();
      expect(before.total).toBeGreaterThan(0);
      const lost = clinic.attention().filter((line) => line.reason === 'lost_at_service');
      expect(lost.map((line) => line.appointment_id)).toEqual(['9001', '9002']);
      expect((await clinic.run('explain', '9001')).stdout).toMatch(/no longer knows it/);
    },
  );
});

describe('behaviors of answers in the list', () => {
  test.each(
    named([
      { list_filter: 'ignored', echo: 'trimmed_upper' },
      { list_paging: 'limit_offset', list_page_size: 5, dates: 'iso' },
      { list_paging: 'link', list_page_size: 5, timestamps: 'naive_micros' },
      {
        list_paging: 'items_total',
        list_page_size: 5,
        echo: 'nulls',
        bulk_response: 'shuffled_ids',
      },
      { list_truncate: 5 },
    ]),
  )('$name', async ({ behaviors }) => {
    await expectDone(behaviors, { count: MANY });
  });
});

test('the whole job works with HTTP Basic', async () => {
  await expectDone({}, { config: { service: { auth: 'basic' } }, secrets: BASIC_SECRETS });
});
