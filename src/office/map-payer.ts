/** Adds a payer to the payer map, as `eligd payers map` does. */
import { EligdError } from '../domain/errors.ts';
import { readPayers } from '../ops/payer-file.ts';
import { mapPayer, nearestPayers } from '../ops/payer-mapping.ts';
import type { PayerList } from '../ops/payers.ts';
import { actingAs, writeAudit } from '../store/bookkeeping/audit.ts';
import { listedPayers, PAYERS_SUBJECT } from '../store/bookkeeping/unmapped-payers.ts';
import { actorOf } from './access.ts';
import type { Answer, Office, Visit } from './context.ts';
import { type Html, html } from './html.ts';

const PAYERS_SHOWN = 12;

/**
 * Builds a form for each payer that visits name and the payer map lacks. A value that was typed for
 * one of them and could not be used is in its field again.
 */
export async function mapForms(
  { store, config }: Office,
  { session: { csrf }, form }: Pick<Visit, 'session' | 'form'>,
): Promise<Html | null> {
  const typed = ({ carrier, payor_id }: { carrier: string; payor_id: string }) =>
    form.get('name') === carrier && form.get('pms_id') === payor_id ? form.get('id') : '';
  const listed = await listedPayers(store.db);
  const payers = readablePayers(config);
  if (listed.length === 0 || payers === null) return null;
  return html`${listed.slice(0, PAYERS_SHOWN).map(
    ({ carrier, payor_id }, index) => html`<div class="actions no-print">
<form method="post" action="/payers/map"><input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="name" value="${carrier}">
<input type="hidden" name="pms_id" value="${payor_id}">
<div><label for="payer-${index}">${carrier || `Payer ID ${payor_id}`} is</label>
<input id="payer-${index}" name="id" list="near-${index}" required autocomplete="off"
 value="${typed({ carrier, payor_id })}" placeholder="carrier or payer ID">
<datalist id="near-${index}">${nearestPayers(carrier, payers).map(
      ({ name, carrier: known }) => html`<option value="${known}">${name}</option>`,
    )}</datalist>
</div><button>Map this payer</button></form></div>`,
  )}`;
}

/** Returns the payer map; null: it has an error, which is a separate attention entry. */
export function readablePayers(config: Office['config']): PayerList | null {
  try {
    return readPayers(config);
  } catch (error) {
    if (error instanceof EligdError) return null;
    throw error;
  }
}

/** `POST /payers/map`; `showList` builds the page of the form, with the typed values. */
export async function mapByForm(
  office: Office,
  { form, session, now }: Visit,
  showList: () => Promise<Answer>,
): Promise<Answer> {
  const name = (form.get('name') ?? '').slice(0, 200);
  const pms_id = (form.get('pms_id') ?? '').slice(0, 100);
  const id = (form.get('id') ?? '').slice(0, 100);
  try {
    const mapped = mapPayer(office.config, { name, pms_id, id, phone: undefined });
    await office.store.write((tx) =>
      writeAudit(actingAs(tx, actorOf(session)), [
        {
          at: now,
          subject: PAYERS_SUBJECT,
          from_state: null,
          to_state: 'mapped',
          reason: `${session.user.name} mapped ${mapped.name} to ${mapped.as} on the page.`,
        },
      ]),
    );
    office.wake();
    const lines = [
      `${mapped.name} is now mapped to ${mapped.as}. eligd plans every open visit again.`,
    ];
    return { kind: 'done', to: '/attention', notice: { is_bad: false, lines } };
  } catch (error) {
    if (!(error instanceof EligdError)) throw error;
    const lines = [`${error.what} ${error.why} ${error.next}`];
    const list = await showList();
    return list.kind === 'page' ? { ...list, notice: { is_bad: true, lines } } : list;
  }
}
