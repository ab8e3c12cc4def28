/**
 * `npm run bench -- cost`: a made-up year of a practice, planned and priced by the real planning
 * and the real records, once under the old rules and once under the defaults. Nobody is called: the
 * payers of `practice.ts` answer. Every statement that a record carries over from an earlier call
 * is held against the plan that the payer would describe on the day of the new call.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import type { Env } from '../../src/domain/env.ts';
import { parseDraft } from '../../src/domain/inquiry.ts';
import type { PlanningFacts } from '../../src/domain/planning.ts';
import { type PriceRules, priceAt, priceList } from '../../src/domain/price.ts';
import { HOUR_MS } from '../../src/domain/time.ts';
import { questions } from '../../src/ops/config-questions.ts';
import { realClock } from '../../src/ops/env.ts';
import type { EligibilityRecord } from '../../src/records/eligibility.ts';
import { conclude } from '../../src/stages/collect/conclude/index.ts';
import { takeAnswer } from '../../src/stages/collect/conclude/take-answer.ts';
import type { CollectDeps } from '../../src/stages/collect/deps.ts';
import { newCollectMemory } from '../../src/stages/collect/poll/ask.ts';
import { planStep } from '../../src/stages/plan/index.ts';
import { type InquiryRow, moveInquiries } from '../../src/store/calls/inquiries.ts';
import { openStore, type Store } from '../../src/store/engine/store.ts';
import { acceptBatch } from '../../src/store/intake/intake.ts';
import { aCoverage, anAppointment, facts, NATIONAL } from '../domain/examples.ts';
import { jobOfChild } from './measure.ts';
import { answerOf, planOn, practice, termOf, type Visit, YEAR } from './practice.ts';

export type CostJob = { rules: 'old' | 'defaults'; seed: number; chairs: number };

export type CostResult = {
  visits: number;
  /** Visits of patients who had been there before the year. */
  returning: number;
  calls: number;
  codes: number;
  urgent: number;
  cents: number;
  /** Visits that the office has to call about itself. */
  left_to_office: number;
  /** Visits with codes of which nobody knows the terms. */
  codes_unknown: number;
  carried: number;
  contradicted: number;
};

/** Dollars of a call, of each code, and of an answer on the same day. */
export const PRICES: PriceRules = {
  usual: {
    per_inquiry_cents: 400,
    per_code_cents: 200,
    urgent_factor: 2,
    free_outcomes: ['unsuccessful', 'cancelled'],
  },
  specialties: { dental: {}, medical: {}, mental_health: {} },
};

const ZONE = 'America/Chicago';
const FIRST = Date.parse(`${YEAR}-01-01T06:00:00Z`);
const LAST = Date.parse(`${YEAR}-12-31T06:00:00Z`);
/** When eligd looks, UTC: in the morning, at noon and in the afternoon of the practice. */
const LOOKS = [14, 18, 22] as const;
const prices = priceList(PRICES, () => []);

const { rules, seed, chairs } = jobOfChild<CostJob>();
const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const folder = mkdtempSync(join(scratch, 'eligd-bench-cost-'));
const store = await openStore(join(folder, 'eligd.db'));
let now_ms = FIRST;
let batches = 0;
const LISTED = {
  action: 'call' as const,
  reverify_after_days: null,
  phone_number: '',
  hours: null,
  zone: null,
  in_network: new Map<string, boolean>(),
};

const env: Env = { ...({} as Env), clock: { ...realClock, now: () => now_ms }, log: () => {} };
const visits = practice(seed, chairs);
const by_id = new Map(visits.map((visit) => [visit.id, visit]));
try {
  console.log(JSON.stringify(await year(store)));
} finally {
  await store.close();
  rmSync(folder, { recursive: true });
}

async function year(to: Store): Promise<CostResult> {
  const { now: _, ...planning } = ruled();
  const plan = {
    ...{ store: to, env, external_id_template: '{appointment}', log_key: 'bench' },
    onPlanned: () => {},
    facts: () => planning,
  };
  const result: CostResult = {
    ...{ visits: visits.length, returning: 0, calls: 0, codes: 0, urgent: 0, cents: 0 },
    ...{ left_to_office: 0, codes_unknown: 0, carried: 0, contradicted: 0 },
  };
  await rememberLastYear(to);
  let next = 0;
  for (now_ms = nextLook(now_ms); now_ms < LAST; now_ms = nextLook(now_ms)) {
    await answerAll(to, planning);
    const booked: Visit[] = [];
    for (; (visits[next]?.booked_at ?? Number.POSITIVE_INFINITY) <= now_ms; next += 1)
      booked.push(visits[next] as Visit);
    await accept(to, booked.map(appointmentOf));
    while ((await planStep(plan)).did > 0);
    await sendAll(to, result);
  }
  await answerAll(to, planning);
  result.returning = visits.filter(({ patient }) => patient.is_returning).length;
  return await judgeAll(to, result);
}

/** The next time at which eligd looks; a practice is closed at weekends. */
function nextLook(after: number): number {
  for (let at = after + HOUR_MS; ; at += HOUR_MS) {
    const date = new Date(at);
    const is_open = ![0, 6].includes(date.getUTCDay());
    if (is_open && LOOKS.some((hour) => hour === date.getUTCHours())) return at;
  }
}

/** The old rules asked everything of everybody, until four hours before the visit. */
function ruled(): PlanningFacts {
  const { dental } = questions.parse({});
  const everything = dental.filter(({ name }) => name === 'standard');
  const chosen = (rules === 'old' ? everything : dental).map((rule) => ({
    ...rule,
    when_codes: null,
  }));
  return facts({
    payer: null,
    payers: { find: (payor_id) => ({ ...LISTED, carrier: `CARRIER_${payor_id}`, payor_id }) },
    policy: {
      questions: { dental: chosen, medical: [], mental_health: [] },
      late_visits: rules === 'old' ? 'buy' : 'call_yourself',
    },
  });
}

function appointmentOf({ id, patient, at, codes }: Visit): AppointmentInput {
  return anAppointment({
    source_id: id,
    starts_at: new Date(at).toISOString(),
    patient: {
      id: patient.id,
      first_name: 'Ada',
      last_name: `Example${patient.id}`,
      birth_date: patient.birth_date,
    },
    coverages: [
      aCoverage({
        carrier: patient.carrier,
        payor_id: patient.payor_id,
        member_id: patient.member_id,
        group_id: patient.group_id,
      }),
    ],
    procedure_codes: codes,
  });
}

/** The practice software still has the last visit of everybody who was there before. */
async function rememberLastYear(to: Store): Promise<void> {
  const seen = new Map<string, Visit>();
  for (const visit of visits)
    if (visit.patient.is_returning && !seen.has(visit.patient.id))
      seen.set(visit.patient.id, {
        ...visit,
        id: `last-${visit.patient.id}`,
        at: FIRST - 100 * 24 * HOUR_MS,
      });
  await accept(to, [...seen.values()].map(appointmentOf));
}

async function accept(to: Store, appointments: AppointmentInput[]): Promise<void> {
  for (let first = 0; first < appointments.length; first += 500) {
    batches += 1;
    const source = {
      ...{ key: `bench:${batches}`, name: 'bench', is_last: true },
      completeness: 'changes' as const,
    };
    const part = appointments.slice(first, first + 500);
    await to.write((tx) =>
      acceptBatch(
        tx,
        'front-desk',
        { source, appointments: part, rejected: [], cursor: null },
        now_ms,
      ),
    );
  }
}

/** Every planned call is made, at the price of the moment. */
async function sendAll(to: Store, result: CostResult): Promise<void> {
  const planned = await to.db
    .selectFrom('inquiries')
    .select(['id', 'draft'])
    .where('state', '=', 'planned')
    .execute();
  for (const { draft } of planned) {
    const asked = parseDraft(draft);
    const at = { at: now_ms, time_zone: ZONE };
    const { price_cents } = priceAt(prices, asked, at);
    const usual = priceAt(prices, { ...asked, desired_completion_date: '2999-01-01' }, at);
    result.calls += 1;
    result.codes += asked.benefits_codes.length;
    result.cents += price_cents ?? 0;
    if (price_cents !== usual.price_cents) result.urgent += 1;
  }
  await to.write(async (tx) => {
    const ids = planned.map(({ id }) => id);
    const reason = 'bench';
    await moveInquiries(tx, ids, { from: 'planned', to: 'sending', reason }, now_ms);
    const set = { sent_at: now_ms };
    await moveInquiries(tx, ids, { from: 'sending', to: 'open', reason, set }, now_ms);
  });
}

/** Each call that is out since a day is answered by the payer of the practice. */
async function answerAll(to: Store, planning: Omit<PlanningFacts, 'now'>): Promise<void> {
  const open = await to.db
    .selectFrom('inquiries')
    .selectAll()
    .where('state', '=', 'open')
    .where('sent_at', '<=', now_ms - 20 * HOUR_MS)
    .execute();
  if (open.length === 0) return;
  const deps = collectDeps(to, planning);
  await Promise.all(
    open.map((row) => to.write((tx) => takeAnswer({ tx, deps, now: now_ms }, row, replyTo(row)))),
  );
  await conclude(deps);
}

function replyTo(row: InquiryRow): Parameters<typeof takeAnswer>[2] {
  const visit = by_id.get(row.external_id);
  if (visit === undefined) throw new Error('A call is about no visit of the practice.');
  const { benefits_query, benefits_codes } = parseDraft(row.draft);
  const id = `S-${row.id}`;
  const results = answerOf(visit.patient, { id, benefits_query, benefits_codes }, now_ms);
  const read = {
    ...{ id, status: 'SUCCESS', creation_ts: new Date(row.sent_at ?? now_ms).toISOString() },
    ...{ summary: '', results, request: { type: 'BENEFITS' } },
  };
  return { ...read, raw: read } as unknown as Parameters<typeof takeAnswer>[2];
}

function collectDeps(to: Store, { policy, clinic }: Omit<PlanningFacts, 'now'>): CollectDeps {
  const settings = {
    ...{ poll_interval_ms: HOUR_MS, urgent_poll_interval_ms: HOUR_MS, settle_ms: 0 },
    ...{ give_up_after_days: 14, attempts: 2, max_claim_calls: 6, claim_words: {} },
    ...{ attempt_pause_ms: HOUR_MS, external_id_template: '{appointment}', concurrency: 1 },
    ...{ time_zone: clinic.time_zone, verify_for_ms: 0, verification_required: [] },
    callBy: (_: unknown, visit: { starts_at: number }) => visit.starts_at,
    payerHours: () => NATIONAL,
    benefits_days: policy.benefits_days,
  };
  return {
    ...{ store: to, env, settings, memory: newCollectMemory(), webhook: null },
    client: {} as CollectDeps['client'],
    onRecord: () => {},
    clockSkew: () => 0,
    onPlanned: () => {},
  };
}

/** Holds what was carried over against what the payer would have said in the new call. */
async function judgeAll(to: Store, result: CostResult): Promise<CostResult> {
  const rows = await to.db
    .selectFrom('records')
    .innerJoin('inquiries', 'inquiries.id', 'records.inquiry')
    .select(['records.record', 'inquiries.external_id', 'inquiries.answered_at'])
    .execute();
  for (const { record, external_id, answered_at } of rows) {
    const { earlier = [] } = JSON.parse(record) as EligibilityRecord;
    const patient = by_id.get(external_id)?.patient;
    if (patient === undefined || answered_at === null) continue;
    const plan = planOn(patient, answered_at);
    for (const { name, benefits } of earlier) {
      const truth = termOf(plan, name);
      const is_same =
        truth.is_covered === benefits.is_covered &&
        (truth.coverage_percentage ?? null) === (benefits.plan_pays_percent ?? null) &&
        (truth.frequency ?? null) === (benefits.frequency_limitations ?? null);
      result.carried += 1;
      if (!is_same) result.contradicted += 1;
    }
  }
  const entries = await to.db.selectFrom('attention').select('reason').execute();
  const count = (reason: string) => entries.filter((entry) => entry.reason === reason).length;
  result.left_to_office = count('too_late_to_call');
  result.codes_unknown = count('codes_not_asked');
  return result;
}
