/**
 * Keeps a form that was sent after its login ended: the login page carries it, and after the login
 * the user finds it filled in and sends it again. Nothing is done before that.
 */
import { calledPage } from './called.ts';
import { keptFields } from './confirm.ts';
import type { Answer, Notice, Office, Visit } from './context.ts';
import { isOperation, OPERATIONS } from './entry-actions.ts';
import { html } from './html.ts';
import { mayDo } from './users.ts';

/** A submitted form: its address on this site, and its fields. */
export type Kept = { path: string; form: URLSearchParams };

/** Matches only the addresses of our own forms. */
const FORM_PATH =
  /^\/(?:(?:visit|inquiry|entry)\/\d{1,15}\/[a-z]{1,20}|payers\/map|submission\/release)$/;
const CHARS_MAX = 48 * 1024;

/**
 * Returns the form as text for the login page; null: not one of our forms, or longer than anyone
 * types.
 */
export function keptText(path: string, form: URLSearchParams): string | null {
  const fields = new URLSearchParams(form);
  fields.delete('csrf');
  fields.delete('sure');
  const text = `${path}?${fields}`;
  return FORM_PATH.test(path) && text.length <= CHARS_MAX ? text : null;
}

/** Parses the text; null: nothing was kept, or it is not one of our forms. */
export function readKept(text: string | null): Kept | null {
  const [path = '', ...fields] = (text ?? '').slice(0, CHARS_MAX).split('?');
  return FORM_PATH.test(path) ? { path, form: new URLSearchParams(fields.join('?')) } : null;
}

/** Shows the filled-in form to the user who is logged in now, to check and send again. */
export async function againPage(
  office: Office,
  { path, form }: Kept,
  visit: Pick<Visit, 'session' | 'now'>,
): Promise<Answer> {
  const { session } = visit;
  const notice: Notice = {
    is_bad: true,
    lines: [
      'Your login had ended, so nothing was saved. What you typed is below: please send it again.',
    ],
  };
  const [, id = ''] = /^\/visit\/(\d+)\/called$/.exec(path) ?? [];
  if (id !== '' && mayDo(session.user.role, 'operator')) {
    const page = await calledPage(office, { ...visit, params: { id }, form });
    return page.kind === 'page' ? { ...page, notice } : page;
  }
  const typed = [...form].filter(([name, value]) => Object.hasOwn(TYPED, name) && value !== '');
  const body = html`<section class="panel"><h1>Send it again</h1>
<dl class="facts">${typed.map(
    ([name, value]) => html`<div><dt>${TYPED[name]}</dt><dd>${value}</dd></div>`,
  )}</dl>
<div class="actions"><form method="post" action="${path}">
${keptFields(form)}<input type="hidden" name="csrf" value="${session.csrf}">
<button class="main">${buttonOf(path)}</button></form>
<a class="button" href="/attention">No, cancel</a></div></section>`;
  return { kind: 'page', title: 'Send it again', active: '', body, notice };
}

/** The fields that a user fills in, with their labels. */
const TYPED: Readonly<Record<string, string>> = { note: 'Note', id: 'Carrier or payer ID' };

function buttonOf(path: string): string {
  const name = path.split('/').at(-1) ?? '';
  if (path === '/submission/release') return 'Resume calls';
  if (name === 'map') return 'Map this payer';
  if (name === 'called') return 'Save the answer';
  return isOperation(name) ? OPERATIONS[name] : 'Done';
}
