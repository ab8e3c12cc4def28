/** Asks before an action that costs money or cannot be undone, also without JavaScript. */
import type { Answer, Visit } from './context.ts';
import { type Html, html } from './html.ts';
import { officeWords } from './office-words.ts';

/**
 * `path`: the form's target; `back`: the page that it came from; `shown`: the fingerprint of what
 * the question is about, if that may change meanwhile.
 */
type Question = { question: string; path: string; back: string; button: string; shown?: string };

/** With JavaScript, the page has already asked, and this page does not appear. */
export function confirmPage(
  { question, path, back, button, shown }: Question,
  visit: Pick<Visit, 'form' | 'session'>,
): Answer {
  const { session } = visit;
  const form = new URLSearchParams(visit.form);
  if (shown !== undefined) form.set('shown', shown);
  const body = html`<section class="panel"><h1>Please confirm</h1><p>${officeWords(question)}</p>
<div class="actions"><form method="post" action="${path}">
${keptFields(form)}<input type="hidden" name="csrf" value="${session.csrf}">
<input type="hidden" name="sure" value="yes"><button class="main">${button}</button></form>
<a class="button" href="${back}">No, go back</a></div></section>`;
  return { kind: 'page', title: 'Please confirm', active: '', body };
}

/** Returns the fields of a form to send again, without those that belong to one submission. */
export function keptFields(form: URLSearchParams): Html {
  const kept = [...form].filter(([name]) => name !== 'csrf' && name !== 'sure');
  return html`${kept.map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}`;
}
