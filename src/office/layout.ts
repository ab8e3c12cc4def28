/** The frame around the content of every page. */
import { answersThatAre, HEALTH_QUESTIONS } from '../domain/health.ts';
import type { HealthReport } from '../store/views/health.ts';
import type { Session } from './access.ts';
import type { Notice, Office } from './context.ts';
import { constantHtml, type Html, html } from './html.ts';
import { officeWords } from './office-words.ts';
import { momentWords, soonWords } from './times.ts';
import { mayDo } from './users.ts';

const DOCTYPE = constantHtml('<!doctype html>');
const MAIN = constantHtml('<main id="main">');

/**
 * Builds a document. Titles and addresses contain no patient data: browsers keep both in their
 * history.
 */
export function documentOf(title: string, body: Html): string {
  return html`${DOCTYPE}
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · eligd</title>
<link rel="stylesheet" href="/office.css">
<script src="/office.js" defer></script>
</head>
<body>
${body}
</body>
</html>
`.text;
}

type Framed = {
  title: string;
  active: string;
  body: Html;
  session: Session;
  notice: Notice | null;
  report: HealthReport;
  now: number;
  /**
   * Fingerprint of the state that the page shows, for the script that refreshes it; null: no
   * refresh, such as for the answer to a form, whose address shows another page.
   */
  mark: string | null;
};

export function framed(office: Office, page: Framed): string {
  const { config } = office;
  const { time_zone, name } = config.clinic;
  return documentOf(
    page.title,
    html`<a class="skip" href="#main">Skip to content</a>
<header class="top"><div>
<strong>${name}</strong>
${navigation(page)}
<form method="post" action="/logout">
<input type="hidden" name="csrf" value="${page.session.csrf}">
<small>${page.session.user.name}</small><button class="plain">Log out</button></form>
</div></header>
${page.mark === null ? MAIN : html`<main id="main" data-live="${page.mark}">`}
${notice(page.notice)}
${healthLine(page.report, { now: page.now, time_zone })}
${page.body}
<footer>As of ${momentWords(page.now, time_zone)} (${time_zone}). Based on what insurance
companies said on the phone; not a guarantee of payment.</footer>
</main>`,
  );
}

function navigation({ session, active }: Framed): Html {
  const links = [
    ['/', 'Schedule'],
    ['/attention', 'Needs you'],
    ['/week', 'This week'],
    ...(mayDo(session.user.role, 'admin') ? [['/configuration', 'Configuration']] : []),
  ];
  return html`<nav aria-label="Pages">${links.map(([path = '', text]) =>
    path === active
      ? html`<a href="${path}" aria-current="page">${text}</a>`
      : html`<a href="${path}">${text}</a>`,
  )}</nav>`;
}

function notice(given: Notice | null): Html | null {
  if (given === null) return null;
  const kind = given.is_bad ? 'notice bad' : 'notice';
  const lines = given.lines.map((line) => html`<p>${officeWords(line)}</p>`);
  return html`<div class="${kind}" role="status">${lines}</div>`;
}

/** Builds the health line from `domain/health.ts`: failures first, then unknowns. */
export function healthLine(
  { health }: HealthReport,
  { now, time_zone }: { now: number; time_zone: string },
): Html {
  const wrong = answersThatAre(health, 'no');
  const unknown = answersThatAre(health, 'unknown');
  const as_of = html`<span class="soft">As of ${momentWords(now, time_zone)}.</span>`;
  if (wrong.length === 0)
    return html`<section class="health" aria-label="Whether eligd works"><p>${
      unknown.length === 0
        ? 'eligd is working: calls, answers and results all go through.'
        : `No problem is known. Not known yet: ${unknown
            .map(({ question }) => HEALTH_QUESTIONS[question])
            .join('; ')}.`
    } ${as_of}</p></section>`;
  const reasons = new Map(wrong.map((each) => [each.why, each]));
  return html`<section class="health bad" aria-label="Whether eligd works">
${[...reasons.values()].map(
  ({ since, why, next }) =>
    html`<p><strong>${officeWords(why)}</strong>${
      since === null ? null : html` Since ${soonWords(since, now, time_zone)}.`
    } ${officeWords(next)}</p>`,
)}<p>${as_of}</p></section>`;
}

/** Returns a text that changes whenever the health line changes. */
export const healthMark = (report: HealthReport): string =>
  JSON.stringify([
    healthWords(report),
    answersThatAre(report.health, 'unknown').map(({ question }) => question),
  ]);

/** Describes in sentences what does not work; empty if no failure is known. */
export function healthWords({ health }: HealthReport): string {
  const sentences = answersThatAre(health, 'no').map(({ why, next }) =>
    officeWords(`${why} ${next}`),
  );
  return [...new Set(sentences)].join(' ');
}
