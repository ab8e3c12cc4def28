/** A question before what costs money or cannot be undone, for a browser without JavaScript too. */
import type { Answer, Visit } from './context.ts';
import { type Html, html } from './html.ts';
import { officeWords } from './office-words.ts';

/**
 * `path`: where the form goes; `back`: the page it came from; `shown`: the mark of what the
 * question is about, where that may change meanwhile.
 */
type Question = { question: string; path: string; back: string; button: string; shown?: string };

/** With JavaScript the page has asked already, and this one does not come up. */
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

/** What a form held, to be sent once more; not what belongs to one sending of it. */
export function keptFields(form: URLSearchParams): Html {
  const kept = [...form].filter(([name]) => name !== 'csrf' && name !== 'sure');
  return html`${kept.map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}`;
}
