/** Puts an insurance company into the payer map, as `eligd payers map` does. */
import { EligdError } from '../domain/errors.ts';
import { mapPayer, unmappedPayers } from '../ops/payer-mapping.ts';
import type { AttentionRow } from '../store/bookkeeping/attention.ts';
import { actingAs, writeAudit } from '../store/bookkeeping/audit.ts';
import { PAYERS_SUBJECT } from '../store/bookkeeping/unmapped-payers.ts';
import { namedPayers } from '../store/views/payers.ts';
import { actorOf } from './access.ts';
import type { Answer, Office, Visit } from './context.ts';
import { type Html, html } from './html.ts';

const PAYERS_SHOWN = 12;

/** A form for each insurance company that open visits name and the payer map does not have. */
export async function mapForms(
  { store, config }: Office,
  rows: readonly AttentionRow[],
  csrf: string,
): Promise<Html | null> {
  if (!rows.some(({ reason }) => reason === 'payer_unmapped')) return null;
  const unmapped = unmappedPayers(config, await namedPayers(store.db)).slice(0, PAYERS_SHOWN);
  return html`${unmapped.map(
    ({ name, payer_id, count, nearest }, index) => html`<div class="actions no-print">
<form method="post" action="/payers/map"><input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="name" value="${name}">
<div><label for="payer-${index}">${name || `payer ID ${payer_id ?? ''}`} (${count}
${count === 1 ? 'visit' : 'visits'}) is</label>
<input id="payer-${index}" name="id" list="near-${index}" required
 placeholder="carrier or payer ID"><datalist id="near-${index}">${nearest.map(
   ({ name: known, carrier }) => html`<option value="${carrier}">${known}</option>`,
 )}</datalist></div><button>Map this payer</button></form></div>`,
  )}`;
}

/** `POST /payers/map` */
export async function mapByForm(office: Office, { form, session, now }: Visit): Promise<Answer> {
  const name = (form.get('name') ?? '').slice(0, 200);
  const id = (form.get('id') ?? '').slice(0, 100);
  try {
    const { as } = mapPayer(office.config, { name, id, phone: undefined });
    await office.store.write((tx) =>
      writeAudit(actingAs(tx, actorOf(session)), [
        {
          at: now,
          subject: PAYERS_SUBJECT,
          from_state: null,
          to_state: 'mapped',
          reason: `${session.user.name} mapped ${name} to ${as} on the page.`,
        },
      ]),
    );
    office.wake();
    const lines = [`${name} is ${as} from now on. Every open visit is planned again.`];
    return { kind: 'done', to: '/attention', notice: { is_bad: false, lines } };
  } catch (error) {
    if (!(error instanceof EligdError)) throw error;
    const lines = [`${error.what} ${error.why} ${error.next}`];
    return { kind: 'done', to: '/attention', notice: { is_bad: true, lines } };
  }
}
