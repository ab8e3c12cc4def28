/** What an operator does with the forms of the pages: the same work as the commands do. */
import { type Done, said } from '../domain/operator.ts';
import { type AskRules, askAgain, quoteOf } from '../store/bookkeeping/ask-again.ts';
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
import { actorOf } from './access.ts';
import { confirmPage } from './confirm.ts';
import { type Answer, missing, type Notice, type Office, type Visit } from './context.ts';
import {
  askSentence,
  isOperation,
  NOTE_CHARS_MAX,
  OPERATIONS,
  type OperationName,
  RESUME_QUESTION,
  WITHDRAW_QUESTION,
} from './entry-actions.ts';

type Work = (tx: Tx, operand: Operand, now: number) => Promise<Done[]>;

const WORK: Readonly<Record<OperationName, (office: Office) => Work>> = {
  ask: (office) => askAgain(askRules(office)),
  retry: () => retry,
  hold: () => hold,
  release: () => release,
  withdraw: () => withdraw,
};

/** `POST /visit/:id/:operation` and `POST /inquiry/:id/:operation` */
export function operate(kind: Operand['kind']) {
  return async (office: Office, visit: Visit): Promise<Answer> => {
    const { params, form, session, now } = visit;
    const id = Number(params.id);
    const name = params.operation ?? '';
    if (!isOperation(name) || !Number.isSafeInteger(id)) return missing;
    const question = form.get('sure') === 'yes' ? null : await questionFor(office, name, id, now);
    if (question !== null) {
      const path = `/${kind === 'appointment' ? 'visit' : 'inquiry'}/${id}/${name}`;
      return confirmPage(
        { question, path, back: backTo(form, id), button: OPERATIONS[name] },
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

/** What is asked before it is done: of what costs money, and of what cannot be undone. */
async function questionFor(
  office: Office,
  name: OperationName,
  id: number,
  now: number,
): Promise<string | null> {
  if (name === 'withdraw') return WITHDRAW_QUESTION;
  if (name !== 'ask') return null;
  const quote = await quoteOf(office.store.db, askRules(office), { id, now });
  // Nothing would be ordered: the work says why.
  return quote === null ? null : askSentence(quote);
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
    const entry = Number(form.get('entry'));
    if (!Number.isSafeInteger(entry) || entry < 1) return missing;
    const done = await office.store.write((tx) =>
      handle(note, entry)(actingAs(tx, actorOf(session)), { kind, id }, now),
    );
    office.wake();
    return { kind: 'done', to: backTo(form, id), notice: noticeFor(done) };
  };
}

/** `POST /submission/release` */
export async function releaseAll(office: Office, visit: Visit): Promise<Answer> {
  const { session, form, now } = visit;
  if (form.get('sure') !== 'yes')
    return confirmPage(
      {
        ...{ question: RESUME_QUESTION, path: '/submission/release', back: '/attention' },
        button: 'Resume calls',
      },
      visit,
    );
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
