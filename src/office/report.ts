/** The coming days as one self-contained file: no server, no network, no login. */
import { createHash, type Hash } from 'node:crypto';
import type { LocalDate } from '../domain/time.ts';
import type { LineWord } from '../records/schedule-line.ts';
import type { HealthReport } from '../store/views/health.ts';
import { STYLE } from './assets.ts';
import { constantHtml, type Html, html } from './html.ts';
import { healthLine, healthMark, healthWords } from './layout.ts';
import { PackedText } from './packed.ts';
import { PaperDay, schedulePdf } from './report-pdf.ts';
import {
  countWords,
  readDay,
  readDays,
  type ScheduleSource,
  tableFrame,
  tableRows,
} from './schedule.ts';
import { dayWords, momentWords } from './times.ts';

/**
 * `html`: the page, which can be read again; `pdf`: draws the same for paper, null if nobody wants
 * it; `mark`: a fingerprint of everything but the page's time.
 */
export type Report = {
  html: Iterable<Uint8Array>;
  pdf: (() => AsyncIterable<Uint8Array>) | null;
  mark: string;
};

const STYLE_ELEMENT = constantHtml(`<style>${STYLE}</style>`);
/** The file runs and loads nothing, even if a name looks like code. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256')
  .update(STYLE)
  .digest('base64')}'`;

/** Makes the report, some visits after the other: their answers would take much memory. */
export async function scheduleReport(
  source: ScheduleSource,
  report: HealthReport,
  now: number,
  { for_paper }: { for_paper: boolean },
): Promise<Report> {
  const { time_zone, name } = source.config.clinic;
  const hash = createHash('sha256').update(healthMark(report));
  const days = (await readDays(source, now)).slice(0, source.config.report.days);
  const read: Day[] = [];
  for (const { date } of days) read.push(await readOne(source, { date, now, for_paper }, hash));
  const { head, foot } = frame(source, report, now);
  const health = healthWords(report);
  const paper = read.flatMap((day) => day.paper ?? []);
  return {
    html: { [Symbol.iterator]: () => pieces(read, head, foot) },
    pdf: for_paper
      ? () => schedulePdf({ clinic: name, health, days: paper, now, time_zone })
      : null,
    mark: hash.digest('base64'),
  };
}

/** One day as markup: `head` and `foot` are around the rows. */
type Day = { head: Html; rows: PackedText; foot: Html; paper: PaperDay | null };

async function readOne(
  source: ScheduleSource,
  { date, now, for_paper }: { date: LocalDate; now: number; for_paper: boolean },
  hash: Hash,
): Promise<Day> {
  const { time_zone } = source.config.clinic;
  const words: LineWord[] = [];
  const rows = new PackedText();
  const paper = for_paper ? new PaperDay(date, words) : null;
  for await (const lines of readDay(source, date, now)) {
    words.push(...lines.map(({ line }) => line.word));
    const { text } = tableRows(lines, { now, time_zone, has_links: false });
    hash.update(text);
    rows.add(text);
    paper?.add(lines, { now, time_zone });
  }
  const table = tableFrame(words.length);
  const head = html`<section class="sheet"><div class="head"><h2>${dayWords(date)}</h2>
<p class="soft">${countWords(words)}</p></div>
${table.head}`;
  hash.update(head.text);
  return { head, rows, foot: html`${table.foot}</section>`, paper };
}

function* pieces(days: readonly Day[], head: Html, foot: Html): Generator<Uint8Array> {
  yield Buffer.from(head.text);
  for (const day of days) {
    yield Buffer.from(day.head.text);
    yield* day.rows.read();
    yield Buffer.from(day.foot.text);
  }
  if (days.length === 0) yield Buffer.from(html`<p class="panel">No visits.</p>`.text);
  yield Buffer.from(foot.text);
}

/** Returns what is before and after the days. */
function frame(
  { config }: ScheduleSource,
  report: HealthReport,
  now: number,
): { head: Html; foot: Html } {
  const { time_zone, name } = config.clinic;
  const head = html`${constantHtml('<!doctype html>')}
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>Schedule · eligd</title>${STYLE_ELEMENT}</head>
<body><main><div class="head"><h1>${name}</h1>
<p>As of <strong>${momentWords(now, time_zone)}</strong></p></div>
${healthLine(report, { now, time_zone })}
`;
  const foot = html`
<footer>A copy as of the time above (${time_zone}). Based on what insurance companies said
on the phone; not a guarantee of payment.</footer></main></body></html>
`;
  return { head, foot };
}
