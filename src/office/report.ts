/** The coming days as one self-contained file: no server, no network, no login. */
import { createHash } from 'node:crypto';
import type { HealthReport } from '../store/views/health.ts';
import { STYLE } from './assets.ts';
import { constantHtml, html } from './html.ts';
import { healthLine, healthMark, healthWords } from './layout.ts';
import { schedulePdf } from './report-pdf.ts';
import {
  countWords,
  type ReportDay,
  readDay,
  readDays,
  type ScheduleSource,
  scheduleTable,
} from './schedule.ts';
import { dayWords, momentWords } from './times.ts';

/**
 * `text`: the page; `pdf`: builds the same for paper, null if nobody wants it; `mark`: a
 * fingerprint of everything but the page's time.
 */
export type Report = { text: string; pdf: (() => Promise<Buffer>) | null; mark: string };

const STYLE_ELEMENT = constantHtml(`<style>${STYLE}</style>`);
/** The file runs and loads nothing, even if a name looks like code. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256')
  .update(STYLE)
  .digest('base64')}'`;

/**
 * Makes the report, one day after the other. With `for_paper`, the visits of all days are in memory
 * at once.
 */
export async function scheduleReport(
  source: ScheduleSource,
  report: HealthReport,
  now: number,
  { for_paper }: { for_paper: boolean },
): Promise<Report> {
  const { time_zone, name } = source.config.clinic;
  const days = (await readDays(source, now)).slice(0, source.config.report.days);
  const sections = [];
  const read: ReportDay[] = [];
  for (const { date } of days) {
    const lines = await readDay(source, date, now);
    if (for_paper) read.push({ date, lines });
    sections.push(html`<section class="sheet"><div class="head"><h2>${dayWords(date)}</h2>
<p class="soft">${countWords(lines)}</p></div>
${scheduleTable(lines, { now, time_zone, has_links: false })}</section>`);
  }
  const body = html`${sections.length === 0 ? html`<p class="panel">No visits.</p>` : sections}`;
  const page = html`${constantHtml('<!doctype html>')}
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>Schedule · eligd</title>${STYLE_ELEMENT}</head>
<body><main><div class="head"><h1>${name}</h1>
<p>As of <strong>${momentWords(now, time_zone)}</strong></p></div>
${healthLine(report, { now, time_zone })}
${body}
<footer>A copy as of the time above (${time_zone}). Based on what insurance companies said
on the phone; not a guarantee of payment.</footer></main></body></html>
`;
  const mark = createHash('sha256')
    .update(`${healthMark(report)} ${body.text}`)
    .digest('base64');
  const health = healthWords(report);
  const pdf = () => schedulePdf({ clinic: name, health, days: read, now, time_zone });
  return { text: page.text, pdf: for_paper ? pdf : null, mark };
}
