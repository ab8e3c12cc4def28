/** Payers that cannot be reached, and the calls that wait for them. */
import type { Attention } from '../../domain/attention.ts';
import {
  type PayerSilence,
  type PayerSilences,
  unreachablePayers,
  WAITS_FOR_PAYER,
} from '../../domain/payer-silence.ts';
import { inquirySubject, writeAudit } from '../bookkeeping/audit.ts';
import { endIncident, openIncidents, raiseIncident } from '../bookkeeping/incidents.ts';
import { readLearned, writeLearned } from '../bookkeeping/learned-settings.ts';
import type { Tx } from '../engine/database.ts';
import type { InquiryRow } from './inquiries.ts';

const SETTING = 'payer_silences';
const INCIDENT = { reason: 'payer_unreachable' as const, connector: null };

export const NEAR_VISIT: Attention = {
  reason: 'payer_waits',
  what:
    'The last calls to this insurance company got no answer, and the visit is close. eligd calls ' +
    'the insurance company again when it can be reached.',
  next: 'Call the insurance company yourself before the patient comes.',
};

export async function payerSilences(tx: Tx): Promise<PayerSilences> {
  const setting = await readLearned(tx, SETTING);
  return setting === null ? {} : (JSON.parse(setting.value) as PayerSilences);
}

/** Saves the silence of a payer; null: it can be reached. Writes only changes. */
export async function setPayerSilence(
  tx: Tx,
  payer: string,
  silence: PayerSilence | null,
  now: number,
): Promise<void> {
  const { [payer]: before, ...others } = await payerSilences(tx);
  if (JSON.stringify(before ?? null) === JSON.stringify(silence)) return;
  const silences = silence === null ? others : { ...others, [payer]: silence };
  await writeLearned(tx, SETTING, JSON.stringify(silences), now);
  const incident = unreachablePayers(silences);
  if (incident === null) await endIncident(tx, INCIDENT, now);
  else if (!(await openIncidents(tx)).some(({ what }) => what === incident.what))
    await raiseIncident(tx, INCIDENT, incident, now);
  if (silence === null && before?.next_try_at != null)
    await bringForward(tx, before.next_try_at, now);
}

/** Postpones the call and says so in its story. */
export async function putOffForPayer(
  tx: Tx,
  { id }: InquiryRow,
  until: number,
  now: number,
): Promise<void> {
  await tx
    .updateTable('inquiries')
    .set({ due_at: until, reason: WAITS_FOR_PAYER, updated_at: now })
    .where('id', '=', id)
    .execute();
  const audit = { from_state: 'planned', to_state: 'planned', reason: WAITS_FOR_PAYER };
  await writeAudit(tx, [{ at: now, subject: inquirySubject(id), ...audit }]);
}

/** Makes calls due now that waited for the next try at the payer. */
async function bringForward(tx: Tx, due_at: number, now: number): Promise<void> {
  await tx
    .updateTable('inquiries')
    .set({ due_at: now, updated_at: now })
    .where('state', '=', 'planned')
    .where('due_at', '=', due_at)
    .where('reason', '=', WAITS_FOR_PAYER)
    .execute();
}
