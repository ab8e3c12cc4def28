/**
 * A clinic's state on a real file, filled through the store's own functions, one step of an
 * appointment's path at a time.
 */
import { join } from 'node:path';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import type { Attention } from '../../src/domain/attention.ts';
import type { InquiryDraft } from '../../src/domain/inquiry.ts';
import type { InquiryState } from '../../src/domain/states.ts';
import { storeAnswer, storeRecord } from '../../src/store/answers/answers.ts';
import { claimBatch, planDelivery } from '../../src/store/answers/deliveries.ts';
import { settleDeliveries } from '../../src/store/answers/delivery-steps.ts';
import { raiseAttention } from '../../src/store/bookkeeping/attention.ts';
import { appointmentSubject, inquirySubject } from '../../src/store/bookkeeping/audit.ts';
import { acceptCalls, callsOf, intendCalls, settleCalls } from '../../src/store/calls/calls.ts';
import {
  addPlanned,
  type InquiryChanges,
  inquiryById,
  moveInquiries,
} from '../../src/store/calls/inquiries.ts';
import { link } from '../../src/store/calls/links.ts';
import { setPlanDue } from '../../src/store/calls/plan-due.ts';
import type { Tx } from '../../src/store/engine/database.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { acceptBatch } from '../../src/store/intake/intake.ts';
import { recordOf } from '../records/answers.ts';
import { openNewStore } from './temporary.ts';

/** 2026-11-20T15:00:00Z, 09:00 in Chicago. */
export const NOW = Date.parse('2026-11-20T15:00:00.000Z');
export const VISIT = Date.parse('2026-11-24T15:30:00.000Z');

const DRAFT = { specialty: 'dental', member_id: 'W123' } as InquiryDraft;

export function appointmentInput(
  source_id: string,
  more: Partial<AppointmentInput> = {},
): AppointmentInput {
  return {
    source_id,
    starts_at: new Date(VISIT).toISOString(),
    status: 'booked',
    patient: {
      id: `P${source_id}`,
      first_name: 'Jane',
      last_name: 'Roe',
      birth_date: '1980-02-03',
    },
    coverages: [
      {
        carrier: 'Delta Dental',
        payor_id: '12345',
        member_id: 'W123',
        group_id: 'G9',
        subscriber: null,
      },
    ],
    provider: {
      rendering_npi: '1234567893',
      billing_npi: '',
      tax_id: '',
      is_specialist: null,
      in_network: null,
    },
    location: null,
    specialty: null,
    procedure_codes: ['D1110'],
    diagnosis_codes: [],
    problems: [],
    ...more,
  };
}

/** Does to the call of an inquiry what its new state says. */
async function moveCall(tx: Tx, inquiry: number, to: InquiryState): Promise<void> {
  const row = (await inquiryById(tx, inquiry))!;
  if (to === 'sending')
    await intendCalls(tx, [
      { row: { ...row, sent_at: NOW, sent_service_at: NOW }, given_name: '', body: '{}' },
    ]);
  else if (to === 'uncertain') await settleCalls(tx, [inquiry], 'lost');
  else if (to === 'rejected') await settleCalls(tx, [inquiry], 'unsent');
  const call = (await callsOf(tx, [inquiry])).find(({ fate }) => fate === 'out');
  if (to === 'open' && call !== undefined) {
    const given = { service_id: `service-${inquiry}`, service_status: 'SCHEDULED' };
    await acceptCalls(tx, [{ ...given, id: call.id, role: 'serves', reply_group: null }]);
  }
}

export class Clinic {
  readonly path: string;
  readonly store: Store;
  #count = 0;

  private constructor(path: string, store: Store) {
    this.path = path;
    this.store = store;
  }

  static async open(folder: string): Promise<Clinic> {
    const path = join(folder, 'eligd.db');
    return new Clinic(path, await openNewStore(path));
  }

  get db() {
    return this.store.db;
  }

  /**
   * Reads one appointment as a source of its own, and sets when planning checks it; without `plan`,
   * it is due at once.
   */
  async appointment(
    source_id: string,
    more: Partial<AppointmentInput> & {
      connector?: string;
      plan?: { due_at: number | null; wait?: string };
    } = {},
  ): Promise<number> {
    const { connector = 'front-desk', plan, ...input } = more;
    this.#count += 1;
    const source = {
      key: `sha256:${this.#count}`,
      name: 'export.csv',
      is_last: true,
      completeness: 'changes' as const,
    };
    return await this.store.write(async (tx) => {
      const batch = {
        source,
        appointments: [appointmentInput(source_id, input)],
        rejected: [],
        cursor: null,
      };
      await acceptBatch(tx, connector, batch, NOW);
      const { id } = await tx
        .selectFrom('appointments')
        .select('id')
        .where('source_id', '=', source_id)
        .where('connector', '=', connector)
        .where('superseded_at', 'is', null)
        .executeTakeFirstOrThrow();
      if (plan !== undefined) await setPlanDue(tx, id, plan.due_at, plan.wait ?? null);
      return id;
    });
  }

  /** An appointment that has been planned; planning checks the visit again later. */
  async planned(
    source_id: string,
    more: Parameters<Clinic['appointment']>[1] = {},
  ): Promise<{ appointment: number; inquiry: number }> {
    const appointment = await this.appointment(source_id, { plan: { due_at: VISIT + 1 }, ...more });
    return { appointment, inquiry: await this.inquiry(appointment) };
  }

  async inquiry(
    appointment: number,
    { rank = 1, due_at = NOW }: { rank?: number; due_at?: number } = {},
  ): Promise<number> {
    this.#count += 1;
    const unique = `${appointment}-${rank}-${this.#count}`;
    return await this.store.write(async (tx) => {
      const row = await addPlanned(
        tx,
        {
          connector: 'front-desk',
          need_base: unique,
          benefit_year: 2026,
          attempt: 1,
          retry: 0,
          patient_key: 'front-desk|P|1980-02-03',
          specialty: 'dental',
          external_id: unique,
          match_key: unique,
          due_at,
          visit_at: VISIT,
          draft: DRAFT,
        },
        'The visit is within the look-ahead window.',
        NOW,
      );
      if (row === null) throw new Error('The inquiry was not added.');
      await link(tx, { inquiry: row.id, appointment, coverage_rank: rank, draft: DRAFT }, NOW);
      return row.id;
    });
  }

  /** Moves an inquiry along `path`, which begins with its current state. */
  async move(
    inquiry: number,
    path: readonly InquiryState[],
    changes: InquiryChanges = {},
  ): Promise<void> {
    for (const [index, to] of path.slice(1).entries()) {
      const from = path[index]!;
      await this.store.write(async (tx) => {
        const moved = await moveInquiries(
          tx,
          [inquiry],
          { from, to, reason: `Reason of ${to}.`, set: changes },
          NOW,
        );
        if (moved.length !== 1) throw new Error(`Inquiry ${inquiry} was not in ${from}.`);
        await moveCall(tx, inquiry, to);
      });
    }
  }

  async open(inquiry: number): Promise<void> {
    await this.move(inquiry, ['planned', 'sending', 'open'], { poll_at: NOW + 3_600_000 });
  }

  /**
   * Ends an open inquiry with an answer. Makes the record and, with `deliver_to`, plans its
   * delivery.
   */
  async answer(
    inquiry: number,
    { service_status = 'SUCCESS', deliver_to = [] as number[], rank = 1 } = {},
  ): Promise<number> {
    await this.move(inquiry, ['open', 'answered'], { service_status, answered_at: NOW });
    return await this.store.write(async (tx) => {
      const raw = { status: service_status };
      const revision = await storeAnswer(
        tx,
        { inquiry, service_status, raw, content_hash: String(this.#count++) },
        NOW,
      );
      const { id } = await tx
        .selectFrom('answers')
        .select('id')
        .where('inquiry', '=', inquiry)
        .orderBy('id', 'desc')
        .executeTakeFirstOrThrow();
      const answer = {
        id,
        inquiry,
        revision: revision ?? 1,
        service_status,
        raw,
        received_at: NOW,
      };
      const results = { plan_information: { is_active: true, plan_name: 'Gold' } };
      const record = await storeRecord(
        tx,
        answer,
        recordOf(results, { inquiry: { status: service_status } }),
        NOW,
      );
      for (const appointment of deliver_to)
        await planDelivery(
          tx,
          { connector: 'front-desk', appointment, inquiry, record, coverage_rank: rank, notes: [] },
          NOW,
        );
      return record;
    });
  }

  /** Tries to write everything that is due. */
  async deliver(to: 'delivered' | 'failed' | 'parked'): Promise<void> {
    await this.store.write(async (tx) => {
      const batch = await claimBatch(tx, 'front-desk', NOW, 100);
      await settleDeliveries(
        tx,
        batch?.deliveries ?? [],
        { to, reason: 'As the connector said.', due_at: NOW + 60_000 },
        NOW,
      );
    });
  }

  async attention(
    about: { appointment?: number; inquiry?: number },
    reason: Attention['reason'],
  ): Promise<void> {
    const { appointment = null, inquiry = null } = about;
    const subject =
      inquiry !== null
        ? inquirySubject(inquiry)
        : appointment !== null
          ? appointmentSubject(appointment)
          : 'installation';
    const entry = { reason, what: `What of ${reason}.`, next: `Next of ${reason}.` };
    await this.store.write((tx) =>
      raiseAttention(
        tx,
        {
          connector: appointment === null && inquiry === null ? null : 'front-desk',
          appointment,
          inquiry,
          subject,
        },
        entry,
        NOW,
      ),
    );
  }
}
