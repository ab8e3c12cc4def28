/**
 * The operator's hand: what `eligd retry`, `hold`, `release` and `withdraw` do to an appointment or
 * an inquiry. Each change goes along the tables of `domain/states.ts` and into the audit trail.
 * Nothing here sends; nothing makes a second call possible (G1): what may be at the service is
 * looked for before it is sent again.
 */

import { type InquiryRow, inquiryById, moveInquiries, updateInquiry } from '../calls/inquiries.ts';
import {
  appointmentsOf,
  closeAppointment,
  inquiriesOf,
  setPlanDue,
  stillOpen,
  unlink,
} from '../calls/links.ts';
import type { Tx } from '../engine/database.ts';
import { resolveAttention } from './attention.ts';
import { deliverySubject, inquirySubject, writeAudit } from './audit.ts';

export type Operand = { kind: 'appointment' | 'inquiry'; id: number };

/** What a person put on hold; planning keeps it. */
export const OPERATOR_HOLD = 'operator';

/** One sentence for each thing that was done, or that cannot be done and why. */
export type Done = { did: boolean; what: string };

const BY_HAND = 'A person said so.';

export async function retry(tx: Tx, subject: Operand, now: number): Promise<Done[]> {
  const done: Done[] = [];
  for (const row of await inquiriesFor(tx, subject))
    done.push(...(await retryInquiry(tx, row, now)));
  for (const id of await appointmentsFor(tx, subject))
    done.push(...(await retryDeliveries(tx, id, now)));
  if (subject.kind === 'appointment' && (await stillOpen(tx, [subject.id])).length > 0) {
    await setPlanDue(tx, subject.id, now, null);
    done.push({ did: true, what: 'Planning looks at the appointment at once.' });
  }
  return done;
}

async function retryInquiry(tx: Tx, row: InquiryRow, now: number): Promise<Done[]> {
  const name = `Inquiry ${row.id}`;
  switch (row.state) {
    case 'uncertain':
      await updateInquiry(tx, row.id, { look_at: now }, now);
      return [
        {
          did: true,
          what:
            `${name} is looked for at the service at once; it is sent only when it is proven ` +
            'not to be there.',
        },
      ];
    case 'undecidable': {
      const step = { from: row.state, to: 'uncertain', reason: BY_HAND } as const;
      await moveInquiries(tx, [row.id], step, { look_at: now, empty_looks: 0 }, now);
      await resolveAttention(tx, inquirySubject(row.id), now, ['undecidable', 'lost_at_service']);
      return [
        {
          did: true,
          what:
            `${name} is looked for anew, twice; it is sent only when it is proven not to be ` +
            'there.',
        },
      ];
    }
    case 'rejected': {
      const step = { from: row.state, to: 'planned', reason: BY_HAND } as const;
      await moveInquiries(tx, [row.id], step, { due_at: now, body: null, hold_reason: null }, now);
      await resolveAttention(tx, inquirySubject(row.id), now, ['refused']);
      return [
        {
          did: true,
          what: `${name} is sent again as it is; the service had refused it, so nothing is there.`,
        },
      ];
    }
    case 'open':
      await updateInquiry(tx, row.id, { poll_at: now }, now);
      return [
        { did: true, what: `${name} is with the service, which is asked for the answer at once.` },
      ];
    case 'planned':
      if (row.hold_reason !== null)
        return [{ did: false, what: `${name} is on hold; "eligd release" lets it go.` }];
      return [{ did: false, what: `${name} goes out by itself when it is due.` }];
    case 'answered':
      return row.service_status === 'SUCCESS'
        ? []
        : [
            {
              did: false,
              what:
                `${name} was answered ${row.service_status ?? ''}; further calls follow ` +
                'policy.attempts.',
            },
          ];
    default:
      return [];
  }
}

async function retryDeliveries(tx: Tx, appointment: number, now: number): Promise<Done[]> {
  const again = await tx
    .updateTable('deliveries')
    .set({ state: 'pending', due_at: now, failures: 0, batch: null })
    .where('appointment', '=', appointment)
    .where('state', '=', 'parked')
    .returning(['id', 'key'])
    .execute();
  await tx
    .updateTable('deliveries')
    .set({ due_at: now })
    .where('appointment', '=', appointment)
    .where('state', '=', 'failed')
    .execute();
  await writeAudit(
    tx,
    again.map(({ key }) => ({
      at: now,
      subject: deliverySubject(key),
      from_state: 'parked',
      to_state: 'pending',
      reason: BY_HAND,
    })),
  );
  if (again.length === 0) return [];
  for (const { key } of again)
    await resolveAttention(tx, deliverySubject(key), now, ['delivery_parked']);
  return [
    {
      did: true,
      what: `${again.length} ${again.length === 1 ? 'record is' : 'records are'} written again.`,
    },
  ];
}

/** Keeps what is not sent yet from being sent, until it is released. */
export async function hold(tx: Tx, subject: Operand, now: number): Promise<Done[]> {
  return await eachInquiry(tx, subject, async (row) => {
    if (row.state !== 'planned')
      return {
        did: false,
        what: `Inquiry ${row.id} is ${row.state}: only a planned one can be held.`,
      };
    await updateInquiry(tx, row.id, { hold_reason: OPERATOR_HOLD }, now);
    await note(tx, row, 'held', now);
    return { did: true, what: `Inquiry ${row.id} is on hold until "eligd release".` };
  });
}

export async function release(tx: Tx, subject: Operand, now: number): Promise<Done[]> {
  return await eachInquiry(tx, subject, async (row) => {
    if (row.state !== 'planned' || row.hold_reason === null)
      return { did: false, what: `Inquiry ${row.id} is not on hold.` };
    await updateInquiry(tx, row.id, { hold_reason: null }, now);
    await note(tx, row, 'released', now);
    return { did: true, what: `Inquiry ${row.id} goes out when it is due.` };
  });
}

/**
 * Takes back what was not sent, and closes the appointments that stood on it. A call that may have
 * been begun cannot be taken back, and then nothing is changed. An appointment that the PMS changes
 * afterwards is planned anew.
 */
export async function withdraw(tx: Tx, subject: Operand, now: number): Promise<Done[]> {
  const rows = await inquiriesFor(tx, subject);
  const sent = rows.filter(({ state }) => ['sending', 'uncertain', 'open'].includes(state));
  if (sent.length > 0) {
    return sent.map(({ id, state }) => ({
      did: false,
      what: `Inquiry ${id} is ${state}: its call may have begun and cannot be taken back.`,
    }));
  }
  const done: Done[] = [];
  const appointments = await appointmentsFor(tx, subject);
  for (const row of rows) {
    if (row.state !== 'planned' && row.state !== 'rejected' && row.state !== 'undecidable')
      continue;
    for (const id of appointments) await unlink(tx, row.id, id, now);
    if ((await appointmentsOf(tx, row.id)).length > 0) {
      done.push({ did: true, what: `Inquiry ${row.id} goes on for other appointments.` });
      continue;
    }
    await moveInquiries(
      tx,
      [row.id],
      { from: row.state, to: 'withdrawn', reason: BY_HAND },
      { hold_reason: null },
      now,
    );
    await resolveAttention(tx, inquirySubject(row.id), now);
    done.push({ did: true, what: `Inquiry ${row.id} is withdrawn: nobody is called.` });
  }
  for (const id of await stillOpen(tx, appointments)) {
    await closeAppointment(tx, id, 'withdrawn', now);
    done.push({
      did: true,
      what: 'It is closed; a change in the practice management system plans it anew.',
    });
  }
  return done;
}

async function eachInquiry(
  tx: Tx,
  subject: Operand,
  work: (row: InquiryRow) => Promise<Done>,
): Promise<Done[]> {
  const done: Done[] = [];
  for (const row of await inquiriesFor(tx, subject)) done.push(await work(row));
  return done;
}

async function inquiriesFor(tx: Tx, { kind, id }: Operand): Promise<InquiryRow[]> {
  const ids = kind === 'inquiry' ? [id] : (await inquiriesOf(tx, id)).map((each) => each.id);
  const rows = await Promise.all(ids.map((each) => inquiryById(tx, each)));
  return rows.filter((row) => row !== null).filter(({ state }) => state !== 'withdrawn');
}

async function appointmentsFor(tx: Tx, { kind, id }: Operand): Promise<number[]> {
  return kind === 'appointment' ? [id] : (await appointmentsOf(tx, id)).map((each) => each.id);
}

async function note(
  tx: Tx,
  { id, state }: InquiryRow,
  to_state: string,
  now: number,
): Promise<void> {
  await writeAudit(tx, [
    { at: now, subject: inquirySubject(id), from_state: state, to_state, reason: BY_HAND },
  ]);
}
