/** The attention list as a page to work through: what happened, what to do, and the action. */
import type { AppointmentInput } from '../domain/appointment.ts';
import { entryText } from '../domain/attention.ts';
import { type ClaimInput, firstCoverage } from '../domain/claim.ts';
import type { ShownRecord } from '../store/bookkeeping/access-log.ts';
import { quoteOf } from '../store/bookkeeping/ask-again.ts';
import { type AttentionRow, openAttention } from '../store/bookkeeping/attention.ts';
import type { Operand } from '../store/bookkeeping/operator.ts';
import { askRules, entryActions, mayAsk, type Quote } from './actions.ts';
import type { Answer, Office, Visit } from './context.ts';
import { type Html, html } from './html.ts';
import { mapForms } from './map-payer.ts';
import { momentWords } from './times.ts';
import { mayDo } from './users.ts';

/** More than anybody works through in a day; the rest is on the list of the command line. */
const ENTRIES_SHOWN = 200;

export async function attentionPage(office: Office, request: Visit): Promise<Answer> {
  const { store, config } = office;
  const { session } = request;
  const rows = await openAttention(store.db);
  const shown = rows.slice(0, ENTRIES_SHOWN);
  const may_act = mayDo(session.user.role, 'operator');
  const { time_zone } = config.clinic;
  const more = rows.length - shown.length;
  const payers = may_act ? await mapForms(office, rows, session.csrf) : null;
  const quotes = may_act ? await quotesFor(office, shown, request.now) : new Map();
  const body = html`<div class="head"><h1>Needs you</h1>
<p class="soft">${countWords(rows.length)}</p></div>
${shown.map((row) => entry(row, { may_act, csrf: session.csrf, time_zone, payers, quotes }))}
${more > 0 ? html`<p>And ${more} more: “eligd list --attention” has all of them.</p>` : null}`;
  const shows = shown.flatMap(shownBy);
  return { kind: 'page', title: 'Needs you', active: '/attention', body, shows };
}

function shownBy({ connector, source_id, content }: AttentionRow): ShownRecord[] {
  if (connector === null || source_id === null || content === null) return [];
  const { patient } = JSON.parse(content) as AppointmentInput | ClaimInput;
  return [{ connector, source_id, patient_id: patient.id }];
}

function countWords(count: number): string {
  if (count === 0) return 'Nothing needs you.';
  return count === 1
    ? '1 entry, the nearest visit first.'
    : `${count} entries, the nearest visit first.`;
}

/** By visit: what another call about it costs. */
type Quotes = ReadonlyMap<number, Quote | null>;

async function quotesFor(
  office: Office,
  rows: readonly AttentionRow[],
  now: number,
): Promise<Quotes> {
  const rules = askRules(office);
  const quotes = new Map<number, Quote | null>();
  for (const { reason, kind, appointment } of rows)
    if (
      mayAsk(reason) &&
      kind === 'appointment' &&
      appointment !== null &&
      !quotes.has(appointment)
    )
      quotes.set(appointment, await quoteOf(office.store.db, rules, { id: appointment, now }));
  return quotes;
}

type Shown = {
  may_act: boolean;
  csrf: string;
  time_zone: string;
  payers: Html | null;
  quotes: Quotes;
};

function entry(row: AttentionRow, { may_act, csrf, time_zone, payers, quotes }: Shown): Html {
  const { id, reason, next, since } = row;
  const subject = operandOf(row);
  const visit = row.kind === 'appointment' ? row.appointment : null;
  const title = titleOf(row, time_zone);
  const actions =
    !may_act || subject === null
      ? null
      : entryActions(reason, {
          subject,
          csrf,
          back: 'attention',
          visit,
          label_id: `note-${id}`,
          quote: visit === null ? null : (quotes.get(visit) ?? null),
        });
  const heading = visit === null ? title : html`<a href="/visit/${visit}">${title}</a>`;
  return html`<section class="panel entry" id="e${id}" aria-labelledby="t${id}">
<header><h2 id="t${id}">${heading}</h2>
<small>since ${momentWords(since, time_zone)}</small></header>
<p><strong>${entryText(row, { patients: true })}</strong></p><p>${next}</p>
${actions === null ? null : html`<div class="actions no-print">${actions}</div>`}
${may_act && reason === 'submission_stopped' ? releaseForm(csrf) : null}
${may_act && reason === 'payer_unmapped' ? payers : null}
</section>`;
}

function releaseForm(csrf: string): Html {
  return html`<div class="actions"><form method="post" action="/submission/release"
 data-confirm="Calls cost money. Is the reason gone?">
<input type="hidden" name="csrf" value="${csrf}"><button>Resume calls</button></form></div>`;
}

/** What an entry about a call is done for is the call; of any other, the visit. */
function operandOf({ subject, inquiry, appointment }: AttentionRow): Operand | null {
  if (subject.startsWith('inquiry:') && inquiry !== null) return { kind: 'inquiry', id: inquiry };
  return appointment === null ? null : { kind: 'appointment', id: appointment };
}

function titleOf({ kind, content, starts_at, source_id }: AttentionRow, time_zone: string): string {
  if (content === null) return 'This installation';
  const input = JSON.parse(content) as AppointmentInput | ClaimInput;
  const name = `${input.patient.first_name} ${input.patient.last_name}`.trim();
  const payer = firstCoverage(input)?.carrier ?? '';
  const when =
    kind === 'appointment' && starts_at !== null
      ? momentWords(starts_at, time_zone)
      : `claim ${source_id ?? ''}`;
  return [name, when, payer].filter((each) => each !== '').join(' · ');
}
