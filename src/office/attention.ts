/** The attention list as a page to work through: the reason, what to do, and the action. */
import type { AppointmentInput } from '../domain/appointment.ts';
import { entryText } from '../domain/attention.ts';
import { type ClaimInput, firstCoverage } from '../domain/claim.ts';
import { unquoted } from '../domain/quotes.ts';
import { localDate, startOfDay } from '../domain/time.ts';
import type { ShownRecord } from '../store/bookkeeping/access-log.ts';
import { quoteOf, retryQuote } from '../store/bookkeeping/ask-again.ts';
import { type AttentionRow, openAttention } from '../store/bookkeeping/attention.ts';
import { type Handleable, TO_HANDLE } from '../store/bookkeeping/handled.ts';
import type { Operand } from '../store/bookkeeping/operator.ts';
import { halted, haltsMark } from '../store/calls/halts.ts';
import { withProgress } from '../store/views/progress.ts';
import { askRules } from './actions.ts';
import type { Answer, Office, Visit } from './context.ts';
import {
  entryActions,
  mayAsk,
  type Operated,
  type Quote,
  RESUME_QUESTION,
} from './entry-actions.ts';
import { type Html, html } from './html.ts';
import { mapForms } from './map-payer.ts';
import { officeWords } from './office-words.ts';
import { momentWords } from './times.ts';
import { mayDo } from './users.ts';

/** More than an office works through in a day. */
const ENTRIES_SHOWN = 200;

export async function attentionPage(office: Office, request: Visit): Promise<Answer> {
  const { store, config } = office;
  const { session } = request;
  // Read before the entries, so that the form of the page resumes only the stops that the page
  // shows.
  const halts = haltsMark(await halted(store.db));
  const { coming, over } = byUse(await openAttention(store.db), config, request.now);
  const rows = [...coming, ...over];
  const shown = rows.slice(0, ENTRIES_SHOWN);
  const is_shown = new Set(shown.map(({ id }) => id));
  const list = (some: readonly AttentionRow[]) =>
    some.filter(({ id }) => is_shown.has(id)).map((row) => entry(row, offers, time_zone));
  const may_act = mayDo(session.user.role, 'operator');
  const { time_zone } = config.clinic;
  const more = rows.length - shown.length;
  const offers: Offers = may_act
    ? {
        csrf: session.csrf,
        halts,
        payers: await mapForms(office, request),
        quotes: await quotesFor(office, shown, request.now),
        again: await retriesFor(office, shown, request.now),
        operated: await operatedOf(office, shown),
      }
    : null;
  const body = html`<div class="head"><h1>Needs you</h1>
<p class="soft">${countWords(rows.length)}</p></div>
${list(coming)}
${over.length === 0 ? null : html`<h2>Past visits</h2>${list(over)}`}
${more > 0 ? html`<p>And ${more} more, shown when these are done.</p>` : null}`;
  const shows = shown.flatMap(shownBy);
  return { kind: 'page', title: 'Needs you', active: '/attention', body, shows };
}

/**
 * Returns the records to log. An entry without a visit may still quote text that names a patient.
 */
function shownBy({ connector, source_id, content, ...entry }: AttentionRow): ShownRecord[] {
  if (connector === null || source_id === null || content === null) {
    const is_quoting = entry.words !== null || unquoted(entry.what) !== entry.what;
    const named = { connector: connector ?? 'installation', source_id: entry.subject };
    return is_quoting ? [{ ...named, patient_id: null }] : [];
  }
  const { patient } = JSON.parse(content) as AppointmentInput | ClaimInput;
  return [{ connector, source_id, patient_id: patient.id }];
}

/** Separates visits of earlier days, which come last: it is too late to act before them. */
function byUse(
  rows: readonly AttentionRow[],
  { clinic: { time_zone } }: Office['config'],
  now: number,
): { coming: AttentionRow[]; over: AttentionRow[] } {
  const today = startOfDay(localDate(now, time_zone), time_zone);
  const isOver = ({ kind, starts_at }: AttentionRow) =>
    kind === 'appointment' && starts_at !== null && starts_at < today;
  return { coming: rows.filter((row) => !isOver(row)), over: rows.filter(isOver) };
}

function countWords(count: number): string {
  if (count === 0) return 'Nothing needs you.';
  return count === 1 ? '1 entry, soonest visit first.' : `${count} entries, soonest visit first.`;
}

/** By visit or by entry: the price of a call about it; null: no call. */
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

/** Returns by entry the price of trying again. */
async function retriesFor(
  office: Office,
  rows: readonly AttentionRow[],
  now: number,
): Promise<Quotes> {
  const rules = askRules(office);
  const quotes = new Map<number, Quote | null>();
  for (const row of rows) {
    const subject = row.reason === 'refused' ? operandOf(row) : null;
    if (subject !== null)
      quotes.set(row.id, await retryQuote(office.store.db, rules, { subject, now }));
  }
  return quotes;
}

/** Returns the state of the calls by visit or claim. */
async function operatedOf(
  { store }: Office,
  rows: readonly AttentionRow[],
): Promise<ReadonlyMap<number, Operated>> {
  const closed = new Map<number, Operated['closed_reason']>();
  for (const { appointment, closed_reason } of rows)
    if (appointment !== null) closed.set(appointment, closed_reason);
  const all = [...closed].map(([id, closed_reason]) => ({ id, closed_reason }));
  return new Map(
    (await withProgress(store.db, all)).map(({ progress, ...each }) => [
      each.id,
      { ...each, ...progress },
    ]),
  );
}

/** The data for the actions that an operator may take; null: no actions. */
type Offers = null | {
  csrf: string;
  /** Fingerprint of the reasons why calls are stopped. */
  halts: string;
  payers: Html | null;
  quotes: Quotes;
  again: Quotes;
  operated: ReadonlyMap<number, Operated>;
};

function entry(row: AttentionRow, offers: Offers, time_zone: string): Html {
  const { id, reason, next, since } = row;
  const visit = row.kind === 'appointment' ? row.appointment : null;
  const title = titleOf(row, time_zone);
  const heading = visit === null ? title : html`<a href="/visit/${visit}">${title}</a>`;
  const payers = reason === 'payer_unmapped' ? (offers?.payers ?? null) : null;
  return html`<section class="panel entry" id="e${id}">
<header><h2>${heading}</h2>
<small>since ${momentWords(since, time_zone)}</small></header>
<p><strong>${officeWords(entryText(row, { patients: true }))}</strong></p>
<p>${payers === null ? officeWords(next) : MAP_HERE}</p>
${offers === null ? null : actionsOf(row, offers)}
${offers !== null && reason === 'submission_stopped' ? releaseForm(offers) : null}
${payers}
</section>`;
}

const MAP_HERE = 'Enter its identifier below; your IT contractor or the calling service knows it.';

function actionsOf(
  row: AttentionRow,
  { csrf, quotes, again, operated }: NonNullable<Offers>,
): Html | null {
  const entry: Handleable | null = TO_HANDLE.has(row.reason) ? { kind: 'entry', id: row.id } : null;
  const subject = operandOf(row) ?? entry;
  if (subject === null) return null;
  const visit = row.kind === 'appointment' ? row.appointment : null;
  return html`<div class="actions no-print">${entryActions(
    row,
    { subject, csrf, back: 'attention' },
    {
      visit,
      quote: visit === null ? null : (quotes.get(visit) ?? null),
      again: again.get(row.id) ?? null,
      about: row.appointment === null ? null : (operated.get(row.appointment) ?? null),
    },
  )}</div>`;
}

function releaseForm({ csrf, halts }: NonNullable<Offers>): Html {
  return html`<div class="actions"><form method="post" action="/submission/release"
 data-confirm="${RESUME_QUESTION}">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="shown" value="${halts}"><button>Resume calls</button></form></div>`;
}

/**
 * Returns the target of an entry's actions: the call if the entry is about a call, otherwise the
 * visit.
 */
function operandOf({ subject, inquiry, appointment }: AttentionRow): Operand | null {
  if (subject.startsWith('inquiry:') && inquiry !== null) return { kind: 'inquiry', id: inquiry };
  return appointment === null ? null : { kind: 'appointment', id: appointment };
}

function titleOf({ kind, content, starts_at, source_id }: AttentionRow, time_zone: string): string {
  if (content === null)
    return starts_at === null ? 'This installation' : `Visit ${momentWords(starts_at, time_zone)}`;
  const input = JSON.parse(content) as AppointmentInput | ClaimInput;
  const name = `${input.patient.first_name} ${input.patient.last_name}`.trim();
  const payer = firstCoverage(input)?.carrier ?? '';
  const when =
    kind === 'appointment' && starts_at !== null
      ? momentWords(starts_at, time_zone)
      : `claim ${source_id ?? ''}`;
  return [name, when, payer].filter((each) => each !== '').join(' · ');
}
