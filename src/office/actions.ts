/** Handles the forms of the pages; the commands do the same work. */
import { type Attention, entryMark } from '../domain/attention.ts';
import { type Done, said } from '../domain/operator.ts';
import { unquoted } from '../domain/quotes.ts';
import { type AskRules, askAgain, quoteOf, retryQuote } from '../store/bookkeeping/ask-again.ts';
import { actingAs, writeAudit } from '../store/bookkeeping/audit.ts';
import { type Handleable, handle, openEntry } from '../store/bookkeeping/handled.ts';
import {
  hold,
  type Operand,
  release,
  releaseSubmission,
  retry,
  withdrawWaiting,
} from '../store/bookkeeping/operator.ts';
import { halted, haltsMark } from '../store/calls/halts.ts';
import type { Tx } from '../store/engine/database.ts';
import { actorOf } from './access.ts';
import { confirmPage } from './confirm.ts';
import { type Answer, missing, type Notice, type Office, type Visit } from './context.ts';
import {
  addressOf,
  askSentence,
  isOperation,
  NOTE_CHARS_MAX,
  OPERATIONS,
  type OperationName,
  quoteMark,
  RESUME_QUESTION,
  retrySentence,
  WITHDRAW_QUESTION,
} from './entry-actions.ts';

type Work = (tx: Tx, operand: Operand, now: number) => Promise<Done[]>;

const WORK: Readonly<Record<OperationName, (office: Office) => Work>> = {
  ask: (office) => askAgain(askRules(office)),
  retry: () => retry,
  hold: () => hold,
  release: () => release,
  withdraw: () => withdrawWaiting,
};

/** `POST /visit/:id/:operation` and `POST /inquiry/:id/:operation` */
export function operate(kind: Operand['kind']) {
  return async (office: Office, visit: Visit): Promise<Answer> => {
    const { params, form, session, now } = visit;
    const id = Number(params.id);
    const name = params.operation ?? '';
    if (!isOperation(name) || !Number.isSafeInteger(id)) return missing;
    const question = await questionFor(office, name, { kind, id }, visit);
    if (question !== null) {
      const path = `${addressOf({ kind, id })}/${name}`;
      return confirmPage(
        { ...question, path, back: backTo(form, id), button: OPERATIONS[name] },
        visit,
      );
    }
    const done = await office.store.write(async (own) => {
      const tx = actingAs(own, actorOf(session));
      const sentences = await WORK[name](office)(tx, { kind, id }, now);
      const chose = `${session.user.name} chose “${OPERATIONS[name]}” on the page.`;
      const reason = `${chose} ${said(sentences)}`;
      await writeAudit(tx, [
        { at: now, subject: `${kind}:${id}`, from_state: null, to_state: name, reason },
      ]);
      return sentences;
    });
    office.wake();
    return { kind: 'done', to: backTo(form, id), notice: noticeFor(done) };
  };
}

/**
 * Returns the question to confirm before an action that costs money or cannot be undone. If the
 * call has changed since the page showed it, a confirmed form is asked about again.
 */
async function questionFor(
  office: Office,
  name: OperationName,
  subject: Operand,
  { form, now }: Visit,
): Promise<{ question: string; shown?: string } | null> {
  const { db } = office.store;
  const is_sure = form.get('sure') === 'yes';
  if (name === 'withdraw') return is_sure ? null : { question: WITHDRAW_QUESTION };
  if (name !== 'retry' && name !== 'ask') return null;
  const quote =
    name === 'retry'
      ? await retryQuote(db, askRules(office), { subject, now })
      : await quoteOf(db, askRules(office), { id: subject.id, now });
  // No call can be ordered; the action itself says why.
  if (quote === null) return null;
  const shown = quoteMark(quote);
  if (is_sure && form.get('shown') === shown) return null;
  const asked = name === 'retry' ? retrySentence(quote) : askSentence(quote);
  return { question: is_sure ? `This has changed since you saw it. ${asked}` : asked, shown };
}

/** Returns the current settings that decide the questions and the price of another call. */
export function askRules(office: Office): AskRules {
  return {
    facts: office.planning(),
    external_id_template: office.config.service.external_id,
    budget: office.budget(),
  };
}

/** `POST /visit/:id/done`, `POST /inquiry/:id/done`, and `POST /entry/:id/done` */
export function markDone(kind: Handleable['kind']) {
  return async (office: Office, visit: Visit): Promise<Answer> => {
    const { params, form, session, now } = visit;
    const id = Number(params.id);
    if (!Number.isSafeInteger(id)) return missing;
    const note = (form.get('note') ?? '').trim().slice(0, NOTE_CHARS_MAX);
    const entry = Number(form.get('entry'));
    if (!Number.isSafeInteger(entry) || entry < 1) return missing;
    const outcome = await office.store.write(async (own) => {
      const tx = actingAs(own, actorOf(session));
      const open = await openEntry(tx, entry);
      if (open === null) return [{ did: false, what: 'It is no longer on the list.' }];
      if (entryMark(open) !== form.get('shown')) return open;
      return await handle(note, entry)(tx, { kind, id }, now);
    });
    if (!Array.isArray(outcome)) return changedEntry(outcome, { kind, id }, visit);
    office.wake();
    return { kind: 'done', to: backTo(form, id), notice: noticeFor(outcome) };
  };
}

/** Asks again if the entry has changed, so that nobody removes an entry that they have not read. */
function changedEntry(
  entry: Pick<Attention, 'what' | 'next' | 'words'>,
  { kind, id }: Handleable,
  visit: Visit,
): Answer {
  const back = backTo(visit.form, id);
  const now_says = `It now says: ${unquoted(entry.what)} ${entry.next}`;
  const question = `The entry has changed since you saw it. ${now_says} Is that done?`;
  return confirmPage(
    {
      ...{ question, path: `${addressOf({ kind, id })}/done`, back, button: 'Done' },
      shown: entryMark(entry),
    },
    visit,
  );
}

/** `POST /submission/release` */
export async function releaseAll(office: Office, visit: Visit): Promise<Answer> {
  const { session, form, now } = visit;
  const is_sure = form.get('sure') === 'yes';
  const outcome = await office.store.write(async (tx) => {
    const halts = await halted(tx);
    const is_seen = halts.length === 0 || form.get('shown') === haltsMark(halts);
    return is_sure && is_seen
      ? { halts: await releaseSubmission(actingAs(tx, actorOf(session)), now), unseen: null }
      : { halts: [], unseen: { shown: haltsMark(halts), lines: is_seen ? [] : halts } };
  });
  const { halts, unseen } = outcome;
  if (unseen !== null) {
    const why = unseen.lines.map(({ detail }) => `Calls are stopped. Reason: ${detail} `).join('');
    return confirmPage(
      {
        ...{ question: why + RESUME_QUESTION, path: '/submission/release', back: '/attention' },
        ...{ button: 'Resume calls', shown: unseen.shown },
      },
      visit,
    );
  }
  office.wake();
  const lines =
    halts.length === 0
      ? ['Submission was not stopped.']
      : [
          ...halts.map(({ detail }) => `Reason for the stop: ${detail}`),
          'eligd sends calls again.',
        ];
  return { kind: 'done', to: '/attention', notice: { is_bad: false, lines } };
}

function noticeFor(done: readonly Done[]): Notice {
  const did = done.filter((each) => each.did);
  const told = did.length > 0 ? did : done;
  return {
    is_bad: did.length === 0,
    lines:
      told.length === 0
        ? ['Nothing was changed: this action does not apply here.']
        : [...new Set(told.map(({ what }) => what))],
  };
}

/** Returns to one of our own pages, chosen by a keyword. */
const backTo = (form: URLSearchParams, id: number) =>
  form.get('back') === 'visit' ? `/visit/${id}` : '/attention';
