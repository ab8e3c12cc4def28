/**
 * `npm run bench -- cost`: a made-up year of a practice, planned and priced by the real planning
 * and the real records, once under the old rules and once under the defaults. No one is called: the
 * payers of `practice.ts` answer. The bench compares every statement that a record carries over
 * from an earlier call with the plan that the payer would describe on the day of the new call.
 *
 * The old rules asked every question set about every code and every patient, until four hours
 * before the visit; they called payers without a phone number, and asked six times about claims
 * whose status they did not understand.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import type { ClaimInput } from '../../src/domain/claim.ts';
import type { Env } from '../../src/domain/env.ts';
import { parseDraft } from '../../src/domain/inquiry.ts';
import type { PlanningFacts } from '../../src/domain/planning.ts';
import { type PriceRules, priceAt, priceList } from '../../src/domain/price.ts';
import { DAY_MS, HOUR_MS, localDate } from '../../src/domain/time.ts';
import { questions } from '../../src/ops/config-questions.ts';
import { realClock } from '../../src/ops/env.ts';
import type { EligibilityRecord } from '../../src/records/eligibility.ts';
import { conclude } from '../../src/stages/collect/conclude/index.ts';
import { takeAnswer } from '../../src/stages/collect/conclude/take-answer.ts';
import type { CollectDeps } from '../../src/stages/collect/deps.ts';
import { newCollectMemory } from '../../src/stages/collect/poll/ask.ts';
import { planStep } from '../../src/stages/plan/index.ts';
import { intendCalls } from '../../src/store/calls/calls.ts';
import { type InquiryRow, inState, moveInquiries } from '../../src/store/calls/inquiries.ts';
import { openStore, type Store } from '../../src/store/engine/store.ts';
import { acceptBatch } from '../../src/store/intake/intake.ts';
import { aCoverage, anAppointment, facts, NATIONAL } from '../domain/examples.ts';
import { type CostParts, costParts } from './cost-parts.ts';
import { jobOfChild } from './measure.ts';
import { answerOf, type Patient, planOn, practice, termOf, type Visit, YEAR } from './practice.ts';
import {
  asOldRulesRead,
  type Claim,
  claimAnswer,
  EXPORTED_AFTER_DAYS,
  openClaims,
} from './practice-claims.ts';

export type CostJob = { rules: 'old' | 'defaults'; seed: number; chairs: number };

export type CostResult = CostParts & {
  visits: number;
  /** Visits of patients who had visits before the year. */
  returning: number;
  claims: number;
  /** Visits that the office has to call about. */
  left_to_office: number;
  /** Visits with codes whose terms are unknown. */
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
/**
 * When eligd runs, in UTC: in the practice's morning, at noon, in its afternoon, and in its
 * evening.
 */
const LOOKS = [14, 18, 22, 3] as const;
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
const claims = openClaims(visits);
let posting = claims.filter(({ posted_at }) => posted_at < LAST);
const claim_by_id = new Map(claims.map((claim) => [claim.id, claim]));
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
  await rememberLastYear(to);
  let [next, next_claim] = [0, 0];
  for (now_ms = nextLook(now_ms); now_ms < LAST; now_ms = nextLook(now_ms)) {
    await answerAll(to, planning);
    const booked: Visit[] = [];
    for (; (visits[next]?.booked_at ?? Number.POSITIVE_INFINITY) <= now_ms; next += 1)
      booked.push(visits[next] as Visit);
    const listed_until = now_ms - EXPORTED_AFTER_DAYS * DAY_MS;
    const listed: Claim[] = [];
    for (; (claims[next_claim]?.visit.at ?? Number.POSITIVE_INFINITY) <= listed_until; )
      listed.push(claims[next_claim++] as Claim);
    listed.push(...takePosted());
    await accept(to, booked.map(appointmentOf), listed.map(claimOf));
    while ((await planStep(plan)).did > 0);
    await sendAll(to);
  }
  await answerAll(to, planning);
  return await judgeAll(to);
}

/** Claims whose payment the practice has posted since the last run. */
function takePosted(): Claim[] {
  const now = posting.filter(({ posted_at }) => posted_at <= now_ms);
  posting = posting.filter(({ posted_at }) => posted_at > now_ms);
  return now;
}

/** The next run of eligd, which also works on weekends. */
function nextLook(after: number): number {
  for (let at = after + HOUR_MS; ; at += HOUR_MS)
    if (LOOKS.some((hour) => hour === new Date(at).getUTCHours())) return at;
}

/** The old rules asked everything about every patient, until four hours before the visit. */
function ruled(): PlanningFacts {
  const { dental } = questions.parse({});
  const everything = dental.filter(({ name }) => name === 'standard');
  const chosen = (rules === 'old' ? everything : dental).map((rule) => ({
    ...rule,
    when_codes: null,
  }));
  return facts({
    payer: null,
    payers: {
      find: (payor_id) =>
        payor_id === '' && rules === 'defaults'
          ? null
          : { ...LISTED, carrier: `CARRIER_${payor_id}`, payor_id },
    },
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
    patient: personOf(patient),
    coverages: [coverageOf(patient)],
    procedure_codes: codes,
  });
}

function claimOf({ id, visit: { patient, at, codes }, posted_at }: Claim): ClaimInput {
  const { provider } = anAppointment();
  return {
    source_id: id,
    status: posted_at <= now_ms ? 'settled' : 'open',
    claim_number: id,
    date_of_service: localDate(at, ZONE),
    billed_amount: '100.00',
    patient: personOf(patient),
    coverage: coverageOf(patient),
    coverage_rank: 1,
    provider,
    location: null,
    place_of_service: '',
    specialty: null,
    procedure_codes: codes,
    diagnosis_codes: [],
    problems: [],
  };
}

function personOf({ id, birth_date }: Patient) {
  return { id, first_name: 'Ada', last_name: `Example${id}`, birth_date };
}

function coverageOf({ carrier, payor_id, member_id, group_id }: Patient) {
  return aCoverage({ carrier, payor_id, member_id, group_id });
}

/** The practice software still has the last visit of every patient from before the year. */
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

async function accept(
  to: Store,
  appointments: AppointmentInput[],
  open: ClaimInput[] = [],
): Promise<void> {
  for (let first = 0; first < Math.max(appointments.length, open.length); first += 500) {
    batches += 1;
    const source = {
      ...{ key: `bench:${batches}`, name: 'bench', is_last: true },
      completeness: 'changes' as const,
    };
    const batch = {
      ...{ source, rejected: [], cursor: null },
      appointments: appointments.slice(first, first + 500),
      claims: open.slice(first, first + 500),
    };
    await to.write((tx) => acceptBatch(tx, 'front-desk', batch, now_ms));
  }
}

/** Makes every planned call, at the current price. */
async function sendAll(to: Store): Promise<void> {
  const planned = await inState(to.db, 'planned');
  await to.write(async (tx) => {
    const ids = planned.map(({ id }) => id);
    const reason = 'bench';
    await moveInquiries(tx, ids, { from: 'planned', to: 'sending', reason }, now_ms);
    await moveInquiries(tx, ids, { from: 'sending', to: 'open', reason }, now_ms);
    const at = { at: now_ms, time_zone: ZONE };
    const intents = planned.map((row) => {
      const price = priceAt(prices, parseDraft(row.draft), at);
      return { row: { ...row, ...price, sent_at: now_ms }, given_name: '', body: '{}' };
    });
    await intendCalls(tx, intents);
  });
}

/** The payer of the practice answers each call that is a day old. */
async function answerAll(to: Store, planning: Omit<PlanningFacts, 'now'>): Promise<void> {
  const open = await to.db
    .selectFrom('inquiries_with_call')
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
  const id = `S-${row.id}`;
  const claim = claim_by_id.get(row.external_id);
  const read = {
    ...{ id, creation_ts: new Date(row.sent_at ?? now_ms).toISOString(), summary: '' },
    ...(claim === undefined ? benefitsReply(row, id) : claimReply(claim)),
  };
  return { ...read, raw: read } as unknown as Parameters<typeof takeAnswer>[2];
}

function benefitsReply(row: InquiryRow, id: string) {
  const { patient } = visitOf(row);
  const request = { type: 'BENEFITS' };
  if (patient.payor_id === '') return { status: 'UNSUCCESSFUL', results: null, request };
  const { benefits_query, benefits_codes } = parseDraft(row.draft);
  const results = answerOf(patient, { id, benefits_query, benefits_codes }, now_ms);
  return { status: 'SUCCESS', results, request };
}

function claimReply(claim: Claim) {
  const said = claimAnswer(claim, now_ms);
  const call = { representative_name: 'Ana', reference_number: `R${claim.id}` };
  const call_details = [{ ...call, call_end_time: new Date(now_ms).toISOString() }];
  const results = { call_details, ...(rules === 'old' ? asOldRulesRead(said) : said) };
  return { status: 'SUCCESS', results, request: { type: 'CLAIMS_STATUS' } };
}

function visitOf({ external_id }: Pick<InquiryRow, 'external_id'>): Visit {
  const visit = by_id.get(external_id) ?? claim_by_id.get(external_id)?.visit;
  if (visit === undefined) throw new Error('A call is about no visit of the practice.');
  return visit;
}

function collectDeps(to: Store, { policy, clinic }: Omit<PlanningFacts, 'now'>): CollectDeps {
  const settings = {
    ...{ poll_interval_ms: HOUR_MS, urgent_poll_interval_ms: HOUR_MS, settle_ms: 0 },
    ...{ give_up_after_days: 14, attempts: 2, max_claim_calls: 6, claim_words: {} },
    ...{ attempt_pause_ms: HOUR_MS, external_id_template: '{appointment}', concurrency: 1 },
    ...{ time_zone: clinic.time_zone, verify_for_ms: 0, verification_required: [] },
    callBy: (_: unknown, visit: { starts_at: number }) => visit.starts_at,
    payerHours: () => NATIONAL,
    turnaround_days: policy.turnaround_days,
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

/** Compares carried-over terms with the payer's answer in a new call. */
async function judgeAll(to: Store): Promise<CostResult> {
  const calls = await to.db
    .selectFrom('inquiries_with_call')
    .select(['external_id', 'draft', 'sent_at', 'charge_cents', 'attempt'])
    .where('sent_at', 'is not', null)
    .orderBy('sent_at')
    .execute();
  const entries = await to.db.selectFrom('attention').select('reason').execute();
  const count = (reason: string) => entries.filter((entry) => entry.reason === reason).length;
  return {
    ...costParts(
      calls.map((call) => ({ call, patient: visitOf(call).patient })),
      ZONE,
    ),
    visits: visits.length,
    returning: visits.filter(({ patient }) => patient.is_returning).length,
    claims: claims.length,
    left_to_office: count('too_late_to_call'),
    codes_unknown: count('codes_not_asked'),
    ...(await compareEarlier(to)),
  };
}

async function compareEarlier(to: Store): Promise<{ carried: number; contradicted: number }> {
  const rows = await to.db
    .selectFrom('records')
    .innerJoin('inquiries', 'inquiries.id', 'records.inquiry')
    .select(['records.record', 'inquiries.external_id', 'inquiries.answered_at'])
    .execute();
  const found = { carried: 0, contradicted: 0 };
  for (const { record, external_id, answered_at } of rows) {
    const { earlier = [] } = JSON.parse(record) as Partial<EligibilityRecord>;
    const patient = by_id.get(external_id)?.patient;
    if (patient === undefined || answered_at === null) continue;
    const plan = planOn(patient, answered_at);
    for (const { name, benefits } of earlier) {
      const truth = termOf(plan, name);
      const is_same =
        truth.is_covered === benefits.is_covered &&
        (truth.coverage_percentage ?? null) === (benefits.plan_pays_percent ?? null) &&
        (truth.frequency ?? null) === (benefits.frequency_limitations ?? null);
      found.carried += 1;
      if (!is_same) found.contradicted += 1;
    }
  }
  return found;
}
