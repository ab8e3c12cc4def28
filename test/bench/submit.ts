/**
 * A child of the bench: planned inquiries through the submit stage, or the same bodies through a
 * bare undici Pool.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import type { InquiryDraft } from '../../src/domain/inquiry.ts';
import { matchKey } from '../../src/domain/matching.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { realClock } from '../../src/ops/env.ts';
import { createServiceClient } from '../../src/service/client.ts';
import { inquiryRequest } from '../../src/service/request.ts';
import { newSubmitMemory, type SubmitDeps, submitStep } from '../../src/stages/submit/index.ts';
import { addPlanned } from '../../src/store/calls/inquiries.ts';
import { link } from '../../src/store/calls/links.ts';
import { setPlanDue } from '../../src/store/calls/plan-due.ts';
import { createRateLimiter } from '../../src/store/calls/rate-limit.ts';
import { openStore, type Store } from '../../src/store/engine/store.ts';
import { acceptBatch } from '../../src/store/intake/intake.ts';
import { NO_BUDGET } from '../domain/examples.ts';
import { newSendCount } from '../support/send-count.ts';
import { jobOfChild, stopwatch } from './measure.ts';

export type SubmitJob = {
  sender: 'eligd' | 'undici';
  base_url: string;
  inquiries: number;
  /** 1: single creates. */
  batch_size: number;
  concurrency: number;
};
export type SubmitResult = { inquiries: number; duration_ms: number; cpu_ms: number };

const TEMPLATE = '{appointment}';
/**
 * Sent before the measurement starts: connections, compiled code, and what eligd learns from a
 * first batch.
 */
const WARM_UP = 200;
const ROWS_PER_COMMIT = 500;

const job = jobOfChild<SubmitJob>();
const result: SubmitResult = job.sender === 'eligd' ? await throughEligd() : await throughUndici();
process.stdout.write(JSON.stringify(result));

function draftOf(index: number): InquiryDraft {
  return {
    specialty: 'dental',
    patient_name: 'Ada Example',
    dob: '1980-01-02',
    member_id: `W${10_000_000 + index}`,
    group_id: '0012345',
    tax_id: '123456789',
    billing_npi: '1234567893',
    rendering_npi: '1245319599',
    insurance: 'UNKNOWN',
    insurance_payor_id: '65978',
    insurance_in_network: null,
    is_specialist: false,
    practice_billing_address: '',
    diagnosis_codes: [],
    benefits_query: [
      'STANDARD',
      'DEDUCTIBLES_AND_MAXIMUMS',
      'TREATMENT_HISTORY',
      'CODE_LOOKUP_BENEFITS',
    ],
    benefits_codes: ['D0120', 'D1110', 'D2740'],
    call_script_id: null,
    additional_info: '',
    desired_completion_date: new Date(Date.now() + 5 * DAY_MS).toISOString().slice(0, 10),
  };
}

async function throughEligd(): Promise<SubmitResult> {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-bench-'));
  const store = await openStore(join(folder, 'eligd.db'));
  const deps = submitDeps(store);
  try {
    await plan(store, 0, WARM_UP);
    await sendAll(deps);
    await plan(store, WARM_UP, job.inquiries);
    const took = stopwatch();
    const sent = await sendAll(deps);
    const times = took();
    if (sent !== job.inquiries) throw new Error(`${sent} of ${job.inquiries} inquiries were sent.`);
    return { inquiries: sent, ...times };
  } finally {
    await deps.client.close();
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

function submitDeps(store: Store): SubmitDeps {
  const env = { clock: realClock, random: Math.random, log: () => {} };
  return {
    store,
    env,
    client: createServiceClient({
      base_url: job.base_url,
      credentials: { scheme: 'basic', project_id: 'bench', api_key: 'bench' },
      timeout_ms: 30_000,
      concurrency: job.concurrency,
      gate: createRateLimiter(store, realClock, 0),
      env,
    }),
    memory: newSubmitMemory(),
    clockSkew: () => 0,
    sends: newSendCount(),
    onOpen: () => {},
    afterReading: (claim) => claim(),
    settings: {
      is_observing: false,
      mode: job.batch_size === 1 ? 'single' : 'bulk',
      batch_size: job.batch_size,
      concurrency: job.concurrency,
      bulk_shape: 'array',
      send_npi: 'auto',
      settle_ms: 300_000,
      timeout_ms: 30_000,
      is_shared_account: false,
      budget: NO_BUDGET,
      days_off: new Set(),
      reverify_after_days: 30,
      time_zone: 'America/Chicago',
      poll_interval_ms: HOUR_MS,
      urgent_poll_interval_ms: HOUR_MS,
    },
  };
}

/** Runs every stage step until nothing is due, as the daemon does. */
async function sendAll(deps: SubmitDeps): Promise<number> {
  const options = { external_id_template: TEMPLATE, signal: new AbortController().signal };
  let sent = 0;
  for (;;) {
    const { did } = await submitStep(deps, options);
    if (did === 0) return sent;
    sent += did;
  }
}

/** Appointments with one planned inquiry each, as planning leaves them. */
async function plan(store: Store, first: number, count: number): Promise<void> {
  const now = Date.now();
  const visit_at = now + 6 * DAY_MS;
  for (let from = first; from < first + count; from += ROWS_PER_COMMIT) {
    const indexes = Array.from(
      { length: Math.min(ROWS_PER_COMMIT, first + count - from) },
      (_, offset) => from + offset,
    );
    await store.write(async (tx) => {
      const source = {
        key: `bench:${from}`,
        name: 'bench',
        is_last: false,
        completeness: 'changes' as const,
      };
      const appointments = indexes.map((index) => appointmentOf(index, visit_at));
      await acceptBatch(
        tx,
        'front-desk',
        { source, appointments, rejected: [], cursor: null },
        now,
      );
      const rows = await tx
        .selectFrom('appointments')
        .select(['id', 'source_id', 'patient_key'])
        .where('last_source', '=', (select) =>
          select.selectFrom('sources').select('id').where('key', '=', source.key),
        )
        .execute();
      for (const { id, source_id, patient_key } of rows) {
        const draft = draftOf(Number(source_id));
        const inquiry = await addPlanned(
          tx,
          {
            connector: 'front-desk',
            need_base: source_id,
            benefit_year: 2026,
            attempt: 1,
            retry: 0,
            patient_key,
            specialty: 'dental',
            external_id: source_id,
            match_key: matchKey({
              type: 'BENEFITS',
              member_id: draft.member_id,
              dob: draft.dob,
              tax_id: draft.tax_id,
            }),
            due_at: now,
            visit_at,
            draft,
          },
          'The visit is within the look-ahead window.',
          now,
        );
        if (inquiry === null) throw new Error('An inquiry was not planned.');
        await link(tx, { inquiry: inquiry.id, appointment: id, coverage_rank: 1, draft }, now);
        await setPlanDue(tx, id, visit_at, null);
      }
    });
  }
}

function appointmentOf(index: number, visit_at: number) {
  return {
    source_id: String(index),
    starts_at: new Date(visit_at).toISOString(),
    status: 'booked' as const,
    patient: { id: `P${index}`, first_name: 'Ada', last_name: 'Example', birth_date: '1980-01-02' },
    coverages: [
      {
        carrier: 'MetLife Dental',
        payor_id: '65978',
        member_id: `W${index}`,
        group_id: '0012345',
        subscriber: null,
      },
    ],
    provider: {
      rendering_npi: '1245319599',
      billing_npi: '',
      tax_id: '',
      is_specialist: null,
      in_network: null,
    },
    location: null,
    specialty: null,
    procedure_codes: ['D0120', 'D1110', 'D2740'],
    diagnosis_codes: [],
    problems: [],
  };
}

async function throughUndici(): Promise<SubmitResult> {
  const pool = new Pool(job.base_url, { connections: job.concurrency, pipelining: 1 });
  const path = `/api/v0/dental/${job.batch_size === 1 ? 'inquiries' : 'batch_inquiries'}`;
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const bodies = (first: number, count: number) => {
    const requests = Array.from({ length: count }, (_, offset) =>
      inquiryRequest(draftOf(first + offset), String(first + offset)),
    );
    if (job.batch_size === 1) return requests.map((request) => JSON.stringify(request));
    return Array.from({ length: Math.ceil(count / job.batch_size) }, (_, bulk) =>
      JSON.stringify(requests.slice(bulk * job.batch_size, (bulk + 1) * job.batch_size)),
    );
  };
  const sendBodies = async (waiting: string[]) => {
    const work = async () => {
      for (let body = waiting.pop(); body !== undefined; body = waiting.pop()) {
        const response = await pool.request({ method: 'POST', path, headers, body });
        await response.body.json();
      }
    };
    await Promise.all(Array.from({ length: job.concurrency }, work));
  };
  await sendBodies(bodies(0, WARM_UP));
  const waiting = bodies(WARM_UP, job.inquiries);
  const took = stopwatch();
  await sendBodies(waiting);
  const times = took();
  await pool.close();
  return { inquiries: job.inquiries, ...times };
}
