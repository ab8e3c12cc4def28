/** What an operator can do, next to the thing it is about: the same work as the commands do. */
import { ANSWER_REASONS, type AttentionReason, VERDICT_REASONS } from '../domain/attention.ts';
import { type Done, said } from '../domain/operator.ts';
import { type Cents, dollars } from '../domain/price.ts';
import { type AskRules, askAgain } from '../store/bookkeeping/ask-again.ts';
import { actingAs, writeAudit } from '../store/bookkeeping/audit.ts';
import { handle } from '../store/bookkeeping/handled.ts';
import {
  hold,
  type Operand,
  release,
  releaseSubmission,
  retry,
  withdraw,
} from '../store/bookkeeping/operator.ts';
import type { Tx } from '../store/engine/database.ts';
import type { ScheduledVisit } from '../store/views/schedule.ts';
import type { SubjectDetail } from '../store/views/subject.ts';
import { actorOf, type Session } from './access.ts';
import { type Answer, missing, type Notice, type Office, type Visit } from './context.ts';
import { type Html, html } from './html.ts';
import { mayDo } from './users.ts';

const NOTE_CHARS_MAX = 500;

type Work = (tx: Tx, operand: Operand, now: number) => Promise<Done[]>;

type Operation = { work: (office: Office) => Work; title: string; confirm?: string };

const OPERATIONS: Readonly<Record<string, Operation>> = {
  ask: { work: (office) => askAgain(askRules(office)), title: 'Order another call' },
  retry: { work: () => retry, title: 'Try again now' },
  hold: { work: () => hold, title: 'Hold the call' },
  release: { work: () => release, title: 'Release the call' },
  withdraw: {
    work: () => withdraw,
    title: 'Withdraw',
    confirm: 'No call is made for this visit, and it is closed. Withdraw it?',
  },
};

/** Reasons that a person can take off the list by hand. */
const TO_HANDLE: ReadonlySet<string> = new Set<AttentionReason>([
  ...VERDICT_REASONS,
  ...ANSWER_REASONS,
  'coverage_conflict',
  'extra_call',
]);

/** Reasons after which another call may help; each call costs money, so a person decides. */
const TO_ASK: ReadonlySet<string> = new Set<AttentionReason>([
  ...VERDICT_REASONS,
  ...ANSWER_REASONS,
  'answer_unusable',
  'codes_not_asked',
]);

/** Reasons after which trying again helps. */
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
]);

/** Reasons for which the office calls the payer. */
const TO_CALL: ReadonlySet<string> = new Set<AttentionReason>([
  'too_late_to_call',
  'answer_missing',
  'answer_late',
  'payer_needs_attention',
  'payer_unsupported',
  'payer_not_callable',
  'unsuccessful',
  'cancelled_by_service',
  'no_answer',
  'answer_unusable',
  'undecidable',
]);

/** `POST /visit/:id/:operation` and `POST /inquiry/:id/:operation` */
export function operate(kind: Operand['kind']) {
  return async (office: Office, { params, form, session, now }: Visit): Promise<Answer> => {
    const id = Number(params.id);
    const name = params.operation ?? '';
    const operation = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
    if (operation === undefined || !Number.isSafeInteger(id)) return missing;
    const done = await office.store.write(async (own) => {
      const tx = actingAs(own, actorOf(session));
      const sentences = await operation.work(office)(tx, { kind, id }, now);
      await writeAudit(tx, [
        {
          at: now,
          subject: `${kind}:${id}`,
          from_state: null,
          to_state: name,
          reason: `${session.user.name} chose “${operation.title}” on the page. ${said(sentences)}`,
        },
      ]);
      return sentences;
    });
    office.wake();
    return { kind: 'done', to: backTo(form, id), notice: noticeFor(done) };
  };
}

/** What decides what another call asks and costs, as of now. */
export function askRules(office: Office): AskRules {
  return {
    facts: office.planning(),
    external_id_template: office.config.service.external_id,
    budget: office.budget(),
  };
}

/** `POST /visit/:id/done` and `POST /inquiry/:id/done` */
export function markDone(kind: Operand['kind']) {
  return async (office: Office, { params, form, session, now }: Visit): Promise<Answer> => {
    const id = Number(params.id);
    if (!Number.isSafeInteger(id)) return missing;
    const note = (form.get('note') ?? '').trim().slice(0, NOTE_CHARS_MAX);
    const done = await office.store.write((tx) =>
      handle(note)(actingAs(tx, actorOf(session)), { kind, id }, now),
    );
    office.wake();
    return { kind: 'done', to: backTo(form, id), notice: noticeFor(done) };
  };
}

/** `POST /submission/release` */
export async function releaseAll(office: Office, { session, now }: Visit): Promise<Answer> {
  const halts = await office.store.write((tx) =>
    releaseSubmission(actingAs(tx, actorOf(session)), now),
  );
  office.wake();
  const lines =
    halts.length === 0
      ? ['Submission was not stopped.']
      : [...halts.map(({ detail }) => `It was stopped because: ${detail}`), 'It goes on now.'];
  return { kind: 'done', to: '/attention', notice: { is_bad: false, lines } };
}

export function noticeFor(done: readonly Done[]): Notice {
  const did = done.filter((each) => each.did);
  const told = did.length > 0 ? did : done;
  return {
    is_bad: did.length === 0,
    lines:
      told.length === 0
        ? ['Nothing was changed: there is nothing here that this could change.']
        : [...new Set(told.map(({ what }) => what))],
  };
}

/** Only to pages of ours, by a word. */
const backTo = (form: URLSearchParams, id: number) =>
  form.get('back') === 'visit' ? `/visit/${id}` : '/attention';

/** What another call costs; `cents` is null where the price is not known. */
export type Quote = { cents: Cents | null };

type Target = { subject: Operand; csrf: string; back: 'visit' | 'attention' };

export function operationForm(name: keyof typeof OPERATIONS, target: Target): Html | null {
  const operation = OPERATIONS[name];
  if (operation === undefined) return null;
  const { subject, csrf, back } = target;
  const path = subject.kind === 'appointment' ? 'visit' : 'inquiry';
  const fields = html`<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="back" value="${back}"><button>${operation.title}</button>`;
  return operation.confirm === undefined
    ? html`<form method="post" action="/${path}/${subject.id}/${name}">${fields}</form>`
    : html`<form method="post" action="/${path}/${subject.id}/${name}"
 data-confirm="${operation.confirm}">${fields}</form>`;
}

function askForm({ cents }: Quote, visit: number, { csrf, back }: Target): Html {
  const price = cents === null ? 'price unknown' : dollars(cents);
  const sentence =
    cents === null
      ? 'Another call about this visit costs money. Order it?'
      : `Another call about this visit costs ${price}. Order it?`;
  return html`<form method="post" action="/visit/${visit}/ask" data-confirm="${sentence}">
<input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="back" value="${back}">
<button>Order another call (${price})</button></form>`;
}

/** `label_id`: unique on the page. */
export function doneForm(target: Target, label_id: string): Html {
  const { subject, csrf, back } = target;
  const path = subject.kind === 'appointment' ? 'visit' : 'inquiry';
  return html`<form method="post" action="/${path}/${subject.id}/done">
<input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="back" value="${back}">
<div><label for="${label_id}">Note (optional)</label>
<input id="${label_id}" name="note" maxlength="${NOTE_CHARS_MAX}"></div>
<button class="main">Done</button></form>`;
}

/** Whether the entry offers another call about the visit, so that its price is needed. */
export const mayAsk = (reason: string) => TO_ASK.has(reason);

/** What can be done about an entry, for whoever may act. `quote`: null where no call can be. */
export function entryActions(
  reason: string,
  target: Target & { visit: number | null; label_id: string; quote: Quote | null },
): Html {
  const { visit, quote } = target;
  return html`${TO_HANDLE.has(reason) ? doneForm(target, target.label_id) : null}
${TO_RETRY.has(reason) ? operationForm('retry', target) : null}
${mayAsk(reason) && quote !== null && visit !== null ? askForm(quote, visit, target) : null}
${
  TO_CALL.has(reason) && visit !== null
    ? html`<a class="button" href="/visit/${visit}/call-sheet">Call sheet</a>
<a class="button" href="/visit/${visit}/called">I called myself</a>`
    : null
}`;
}

export function visitActions({
  visit,
  detail,
  session,
  quote,
}: {
  visit: ScheduledVisit;
  detail: SubjectDetail;
  session: Session;
  quote: Quote | null;
}): Html | null {
  const may_act = mayDo(session.user.role, 'operator');
  const subject: Operand = { kind: 'appointment', id: visit.id };
  const target: Target = { subject, csrf: session.csrf, back: 'visit' };
  const states = detail.inquiries.map(({ row }) => row);
  const has_planned = states.some(({ state, hold_reason }) => state === 'planned' && !hold_reason);
  const has_held = states.some(({ state, hold_reason }) => state === 'planned' && hold_reason);
  const entries = detail.attention.map(
    ({ reason, what, next }, index) => html`<div class="panel entry"><p><strong>${what}</strong></p>
<p>${next}</p>${
      may_act
        ? html`<div class="actions">${entryActions(reason, {
            ...target,
            visit: visit.id,
            label_id: `note-${index}`,
            // Once is enough on this page, with the other operations.
            quote: null,
          })}</div>`
        : null
    }</div>`,
  );
  if (!may_act) return html`${entries}`;
  return html`${entries}<div class="actions no-print">
<a class="button" href="/visit/${visit.id}/called">I called myself</a>
<a class="button" href="/visit/${visit.id}/call-sheet">Call sheet</a>
${operationForm('retry', target)}
${quote === null ? null : askForm(quote, visit.id, target)}
${has_planned ? operationForm('hold', target) : null}
${has_held ? operationForm('release', target) : null}
${visit.closed_reason === null ? operationForm('withdraw', target) : null}</div>`;
}
