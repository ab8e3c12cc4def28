/** The actions for an entry of the attention list, as forms next to it. */
import {
  ANSWER_REASONS,
  type Attention,
  type AttentionReason,
  entryMark,
  entryText,
  VERDICT_REASONS,
} from '../domain/attention.ts';
import { isOnHold, isWithdrawable, refuseWithdrawal } from '../domain/operator.ts';
import type { Cents } from '../domain/price.ts';
import { CALL_REASONS } from '../records/schedule-line.ts';
import { type Handleable, TO_HANDLE } from '../store/bookkeeping/handled.ts';
import type { Operand } from '../store/bookkeeping/operator.ts';
import type { ScheduledVisit } from '../store/views/schedule.ts';
import type { SubjectDetail } from '../store/views/subject.ts';
import type { Session } from './access.ts';
import { type Html, html } from './html.ts';
import { officeWords, priceText } from './office-words.ts';
import { mayDo } from './users.ts';

export const NOTE_CHARS_MAX = 500;

/** By the last part of the form's address; the label of its button. */
export const OPERATIONS = {
  ask: 'Order another call',
  retry: 'Try again now',
  hold: 'Hold the call',
  release: 'Release the call',
  withdraw: 'Withdraw',
} as const;
export type OperationName = keyof typeof OPERATIONS;

export const isOperation = (name: string): name is OperationName => Object.hasOwn(OPERATIONS, name);

export const WITHDRAW_QUESTION = 'eligd closes this visit and makes no call for it. Withdraw it?';
export const RESUME_QUESTION = 'Calls cost money. Has the problem that stopped them been fixed?';

/** Reasons after which another call may help; each call costs money, so a user decides. */
const TO_ASK: ReadonlySet<string> = new Set<AttentionReason>([
  ...VERDICT_REASONS,
  ...ANSWER_REASONS,
  'answer_unusable',
  'codes_not_asked',
]);

/** Reasons after which another try can help. */
const TO_RETRY: ReadonlySet<string> = new Set<AttentionReason>([
  'refused',
  'undecidable',
  'lost_at_service',
  'unconfirmed',
  'delivery_parked',
  'planning_failed',
  'field_missing',
  'field_malformed',
  'insurance_awaited',
  'answer_unwritable',
  'answer_unusable',
]);

/** Reasons for which the office calls the payer, or may call before it has to. */
const TO_CALL: ReadonlySet<string> = new Set<string>([
  ...CALL_REASONS,
  ...(['answer_late', 'codes_not_asked'] satisfies AttentionReason[]),
]);

/**
 * The price of another call; `cents` is null if unknown. `after`: the inquiries that it follows.
 */
export type Quote = { cents: Cents | null; after: readonly number[] };

/** A fingerprint of the call, so that nobody orders a call that they did not see. */
export const quoteMark = ({ cents, after }: Quote) => `${cents ?? ''}:${after.join(',')}`;

export function askSentence({ cents }: Pick<Quote, 'cents'>): string {
  return cents === null
    ? 'Another call about this visit costs money; its price is not known. Order it?'
    : `Another call about this visit costs ${priceText(cents)}. Order it?`;
}

export function retrySentence({ cents }: Pick<Quote, 'cents'>): string {
  const cost = cents === null ? 'costs money; its price is not known' : `costs ${priceText(cents)}`;
  return `The service refused the call. eligd can send it again unchanged, which ${cost}. Send it?`;
}

/** A visit or a claim, with the state of its calls. */
export type Operated = Pick<ScheduledVisit, 'id' | 'closed_reason'> &
  Pick<ScheduledVisit['progress'], 'inquiries' | 'keeps_hold'>;

type Target = { subject: Handleable; csrf: string; back: 'visit' | 'attention' };

export const addressOf = ({ kind, id }: Handleable) =>
  `/${kind === 'appointment' ? 'visit' : kind}/${id}`;

const commonFields = ({ csrf, back }: Target) =>
  html`<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="back" value="${back}">`;

function operationForm(name: Exclude<OperationName, 'ask'>, target: Target): Html {
  const action = `${addressOf(target.subject)}/${name}`;
  const fields = html`${commonFields(target)}<button>${OPERATIONS[name]}</button>`;
  return name === 'withdraw'
    ? html`<form method="post" action="${action}"
 data-confirm="${WITHDRAW_QUESTION}">${fields}</form>`
    : html`<form method="post" action="${action}">${fields}</form>`;
}

const shownField = (quote: Quote) =>
  html`<input type="hidden" name="shown" value="${quoteMark(quote)}">`;

const priceWords = ({ cents }: Quote) => (cents === null ? 'price unknown' : priceText(cents));

/** `quote`: null if another try makes no paid call. */
function retryForm(quote: Quote | null, target: Target): Html {
  if (quote === null) return operationForm('retry', target);
  return html`<form method="post" action="${addressOf(target.subject)}/retry"
 data-confirm="${retrySentence(quote)}">${commonFields(target)}${shownField(quote)}
<button>${OPERATIONS.retry} (${priceWords(quote)})</button></form>`;
}

function askForm(quote: Quote, target: Target): Html {
  return html`<form method="post" action="${addressOf(target.subject)}/ask"
 data-confirm="${askSentence(quote)}">${commonFields(target)}${shownField(quote)}
<button>${OPERATIONS.ask} (${priceWords(quote)})</button></form>`;
}

/** Offers the actions on a call that has not started, or may have to be made again. */
function callForms(operated: Operated, target: Target): Html {
  const { closed_reason, inquiries, keeps_hold } = operated;
  const keeps_one = keeps_hold === true && closed_reason === null;
  const is_held = keeps_one || inquiries.some(isOnHold);
  const may_hold = inquiries.some((each) => each.state === 'planned' && !isOnHold(each));
  const is_waiting = inquiries.length === 0 || inquiries.some(isWithdrawable);
  const may_withdraw =
    closed_reason === null && is_waiting && refuseWithdrawal(inquiries).length === 0;
  return html`${may_hold ? operationForm('hold', target) : null}${
    is_held ? operationForm('release', target) : null
  }${may_withdraw ? operationForm('withdraw', target) : null}`;
}

type Entry = { id: number; reason: string } & Pick<Attention, 'what' | 'next' | 'words'>;

/**
 * Includes a fingerprint of the entry, so that an entry that has changed meanwhile is not removed.
 */
function doneForm(row: Entry, target: Target): Html {
  const entry = row.id;
  return html`<form method="post" action="${addressOf(target.subject)}/done">${commonFields(target)}
<input type="hidden" name="entry" value="${entry}">
<input type="hidden" name="shown" value="${entryMark(row)}">
<div><label for="note-${entry}">Note (optional)</label>
<input id="note-${entry}" name="note" maxlength="${NOTE_CHARS_MAX}" autocomplete="off"></div>
<button class="main">Done</button></form>`;
}

/** Returns whether the entry offers another call, so that its price is needed. */
export const mayAsk = (reason: string) => TO_ASK.has(reason);

/**
 * Builds the actions on an entry for an operator. `quote`: null if no call can be ordered; `again`:
 * the price of trying again, null if that makes no call; `visit`: null for a claim; `about`: the
 * visit or claim whose calls it offers to hold, release, and withdraw.
 */
export function entryActions(entry: Entry, target: Target, offers: EntryOffers): Html {
  const { visit, quote, again, about } = offers;
  const { reason } = entry;
  const of_visit = (each: number): Target => ({
    ...target,
    subject: { kind: 'appointment', id: each },
  });
  return html`${TO_HANDLE.has(reason) ? doneForm(entry, target) : null}
${TO_RETRY.has(reason) ? retryForm(again, target) : null}
${mayAsk(reason) && quote !== null && visit !== null ? askForm(quote, of_visit(visit)) : null}
${
  TO_CALL.has(reason) && visit !== null
    ? html`<a class="button" href="/visit/${visit}/call-sheet">Call sheet</a>
<a class="button" href="/visit/${visit}/called">I called myself</a>`
    : null
}
${about === null ? null : callForms(about, of_visit(about.id))}`;
}

type EntryOffers = {
  visit: number | null;
  quote: Quote | null;
  again: Quote | null;
  about: Operated | null;
};

export function visitActions({
  visit,
  detail,
  session,
  quote,
  again,
}: {
  visit: ScheduledVisit;
  detail: SubjectDetail;
  session: Session;
  quote: Quote | null;
  again: Quote | null;
}): Html | null {
  const may_act = mayDo(session.user.role, 'operator');
  const subject: Operand = { kind: 'appointment', id: visit.id };
  const target: Target = { subject, csrf: session.csrf, back: 'visit' };
  // The page offers these operations only once, next to the others.
  const offers = { visit: visit.id, quote: null, again, about: null };
  const entries = detail.attention.map(
    (entry) => html`<div class="panel entry"><p><strong>${officeWords(
      entryText(entry, { patients: true }),
    )}</strong></p>
<p>${officeWords(entry.next)}</p>${
      may_act ? html`<div class="actions">${entryActions(entry, target, offers)}</div>` : null
    }</div>`,
  );
  if (!may_act) return html`${entries}`;
  return html`${entries}<div class="actions no-print">
<a class="button" href="/visit/${visit.id}/called">I called myself</a>
<a class="button" href="/visit/${visit.id}/call-sheet">Call sheet</a>
${retryForm(again, target)}
${quote === null ? null : askForm(quote, target)}
${callForms({ ...visit, ...visit.progress }, target)}</div>`;
}
