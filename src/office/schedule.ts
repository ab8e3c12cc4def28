/** The schedule: a day by chair time, with what the front desk needs to know about each visit. */

import { explain, type Moment } from '../domain/explanation.ts';
import { judgedVisit } from '../domain/fees.ts';
import { addDays, type LocalDate, localDate, startOfDay } from '../domain/time.ts';
import {
  LINE_NAMES,
  type LineWord,
  type ScheduleLine,
  scheduleLine,
  URGENT_WORDS,
} from '../records/schedule-line.ts';
import { judge, type Verdict } from '../records/verdict.ts';
import type { ShownRecord } from '../store/bookkeeping/access-log.ts';
import { readBudget } from '../store/calls/budget.ts';
import {
  type ScheduledVisit,
  type VisitAnswer,
  visitPages,
  visitTimes,
} from '../store/views/schedule.ts';
import type { Answer, Office } from './context.ts';
import { constantHtml, type Html, html, PRINT_BUTTON } from './html.ts';
import { moneyWords, officeWords } from './office-words.ts';
import { clockWords, dayWords, shortDayWords, soonWords } from './times.ts';

const DAYS_SHOWN = 14;

export type VisitLine = {
  visit: ScheduledVisit;
  line: ScheduleLine;
  verdict: Verdict | null;
};

/**
 * The parts of the office that the schedule needs, without the current user, because the printed
 * schedule uses them too.
 */
export type ScheduleSource = Pick<Office, 'store' | 'config' | 'fees' | 'budget'>;

export async function readMoment({ store, budget }: ScheduleSource, now: number): Promise<Moment> {
  return { now, budget: (await readBudget(store.db, budget(), now)).used_up };
}

/** Returns the visits of a day, each with its line, some at a time; canceled ones are left out. */
export async function* readDay(
  source: ScheduleSource,
  date: LocalDate,
  now: number,
): AsyncGenerator<VisitLine[]> {
  const { time_zone } = source.config.clinic;
  const range = {
    from: startOfDay(date, time_zone),
    to: startOfDay(addDays(date, 1), time_zone),
  };
  const moment = await readMoment(source, now);
  const fees = source.fees();
  for await (const visits of visitPages(source.store.db, range, now))
    yield visits
      .map((visit) => lineOf(visit, moment, { time_zone, fees }))
      .filter(({ line }) => line.word !== 'cancelled');
}

export function lineOf(
  visit: ScheduledVisit,
  moment: Moment,
  settings: Parameters<typeof judgedVisit>[2],
): VisitLine {
  const first = visit.answers.find(({ coverage_rank }) => coverage_rank === 1);
  const verdict = first === undefined ? null : verdictOf(visit, first, settings);
  const answer = first === undefined || verdict === null ? null : { record: first.record, verdict };
  const said = scheduleLine({
    situation: visit.situation,
    closed_reason: visit.closed_reason,
    explanation: explain(visit, visit.progress, moment),
    entries: visit.progress.entries,
    answer,
  });
  const line = {
    ...said,
    why: officeWords(said.why),
    to_do: officeWords(said.to_do),
    collect: moneyWords(said.collect),
  };
  return { visit, line, verdict };
}

export const verdictOf = (
  { input }: Pick<ScheduledVisit, 'input'>,
  { record, coverage_rank }: Pick<VisitAnswer, 'record' | 'coverage_rank'>,
  settings: Parameters<typeof judgedVisit>[2],
): Verdict => judge(record, judgedVisit(input, coverage_rank, settings));

type DayOf = { date: LocalDate; count: number; listed: number; last_at: number };

/**
 * Returns the days from today on that have visits, with the number of attention entries; if none
 * has visits, the last days that had some.
 */
export async function readDays(source: ScheduleSource, now: number): Promise<DayOf[]> {
  const today = localDate(now, source.config.clinic.time_zone);
  const coming = await daysBetween(source, today, addDays(today, DAYS_SHOWN));
  return coming.length > 0 ? coming : await daysBetween(source, addDays(today, -7), today);
}

async function daysBetween(
  { store, config }: ScheduleSource,
  first: LocalDate,
  end: LocalDate,
): Promise<DayOf[]> {
  const { time_zone } = config.clinic;
  const range = { from: startOfDay(first, time_zone), to: startOfDay(end, time_zone) };
  const days = new Map<LocalDate, DayOf>();
  for (const { starts_at, count, listed } of await visitTimes(store.db, range)) {
    const date = localDate(starts_at, time_zone);
    const day = days.get(date) ?? { date, count: 0, listed: 0, last_at: starts_at };
    day.last_at = starts_at;
    day.count += count;
    day.listed += listed;
    days.set(date, day);
  }
  return [...days.values()];
}

/** Builds the page of a day; `wanted` null: the nearest day. */
export async function schedulePage(
  office: Office,
  wanted: LocalDate | null,
  now: number,
): Promise<Answer & { kind: 'page' }> {
  const { time_zone } = office.config.clinic;
  const days = await readDays(office, now);
  const date = wanted ?? nearestDay(office, days, now);
  const lines = (await Array.fromAsync(readDay(office, date, now))).flat();
  const counts = countWords(lines.map(({ line }) => line.word));
  const body = html`<div class="head"><h1>${dayWords(date)}</h1>
<p class="soft">${counts} ${toFirst(lines)}</p>${PRINT_BUTTON}</div>
${dayLinks(days, date)}
${scheduleTable(lines, { now, time_zone, has_links: true })}`;
  const shows = lines.map(({ visit }) => shownRecord(visit));
  return { kind: 'page', title: 'Schedule', active: '/', body, shows };
}

/** Links to the first line to act on, which may be far below on a phone. */
function toFirst(lines: readonly VisitLine[]): Html | null {
  const is_there = lines.some(({ line }) => URGENT_WORDS.has(line.word));
  return is_there ? html`<a class="no-print" href="#act">Go to the first</a>` : null;
}

/** Returns today if a visit is still to come, otherwise the next day with visits. */
function nearestDay({ config }: Office, days: readonly DayOf[], now: number): LocalDate {
  const { date } = days.find(({ last_at }) => last_at >= now) ?? days.at(-1) ?? {};
  return date ?? localDate(now, config.clinic.time_zone);
}

function dayLinks(days: readonly DayOf[], shown: LocalDate): Html {
  return html`<nav aria-label="Days"><ul class="days">${days.map(({ date, count, listed }) => {
    const text = html`${shortDayWords(date)}<small>${count} ${count === 1 ? 'visit' : 'visits'}${
      listed === 0 ? null : html` · <span class="red">${listed} to do</span>`
    }</small>`;
    return date === shown
      ? html`<li><a href="/day/${date}" aria-current="date">${text}</a></li>`
      : html`<li><a href="/day/${date}">${text}</a></li>`;
  })}</ul></nav>`;
}

/** Describes a day by the words of its lines. */
export function countWords(words: readonly LineWord[]): string {
  if (words.length === 0) return 'No visits.';
  const urgent = words.filter((word) => URGENT_WORDS.has(word)).length;
  const count = (wanted: LineWord) => words.filter((word) => word === wanted).length;
  const parts = [
    `${words.length} ${words.length === 1 ? 'visit' : 'visits'}`,
    `${count('eligible')} eligible`,
    ...(urgent > 0 ? [`${urgent} to act on`] : []),
    ...(count('waiting') > 0 ? [`${count('waiting')} waiting for an answer`] : []),
  ];
  return `${parts.join(', ')}.`;
}

/** A busy day is printed in smaller letters, so that it fits on one sheet. */
const SIZES = [
  { over: 30, name: 'schedule dense packed' },
  { over: 18, name: 'schedule dense' },
] as const;

type TableSettings = { now: number; time_zone: string; has_links: boolean };

function scheduleTable(lines: readonly VisitLine[], settings: TableSettings): Html {
  const { head, foot } = tableFrame(lines.length);
  return html`${head}${tableRows(lines, settings)}${foot}`;
}

/** Returns what is around the rows of a table with so many visits. */
export function tableFrame(visits: number): { head: Html; foot: Html } {
  if (visits === 0)
    return { head: html`<p class="panel">No visits on this day.</p>`, foot: constantHtml('') };
  const size = SIZES.find(({ over }) => visits > over)?.name ?? 'schedule';
  const head = html`<table class="${size}" role="table">
<caption class="hidden">Visits by chair time</caption>
<thead role="rowgroup"><tr role="row">${[
    'Time',
    'Patient',
    'Insurance',
    'Verdict',
    'Collect',
    'Deductible left',
    'Maximum left',
    'What to do',
  ].map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">`;
  return { head, foot: constantHtml('</tbody></table>') };
}

/** Returns the rows of these visits, which may be some of a day. */
export function tableRows(lines: readonly VisitLine[], settings: TableSettings): Html {
  const first = settings.has_links && lines.find(({ line }) => URGENT_WORDS.has(line.word));
  return html`${lines.map((each) => row(each, { ...settings, is_first: each === first }))}`;
}

const COLORS: Readonly<Record<LineWord, string>> = {
  not_eligible: 'red',
  call_yourself: 'red',
  needs_action: 'red',
  incomplete: 'amber',
  waiting: 'blue',
  eligible: 'green',
  no_insurance: 'gray',
  not_asked: 'gray',
  cancelled: 'gray',
};

/** The color only repeats the word. */
export function pill({ word }: Pick<ScheduleLine, 'word'>): Html {
  return html`<span class="pill ${COLORS[word]}">${LINE_NAMES[word]}</span>`;
}

function row(
  { visit, line }: VisitLine,
  { now, time_zone, has_links, is_first }: TableSettings & { is_first: boolean },
): Html {
  const { input, starts_at } = visit;
  const name = who(visit);
  const codes = input.procedure_codes.join(', ');
  const over = starts_at < now ? ' over' : '';
  const mark = is_first ? html` id="act"` : null;
  return html`<tr role="row"${mark} class="s-${COLORS[line.word]}${over}">
<td role="cell">${clockWords(starts_at, time_zone)}</td>
<td role="cell" class="who">${
    has_links ? html`<a href="/visit/${visit.id}">${name}</a>` : name
  } <small>${codes}</small></td>
<td role="cell">${payerOf(visit)}</td>
<td role="cell" class="verdict">${pill(line)}</td>
<td role="cell" class="num" data-label="Collect">${line.collect}</td>
<td role="cell" class="num" data-label="Deductible left">${line.deductible_left}</td>
<td role="cell" class="num" data-label="Maximum left">${line.maximum_left}</td>
<td role="cell" class="do">${toDo(line, now, time_zone)}</td>
</tr>`;
}

/** Returns the visit in the form of the access log. */
export const shownRecord = ({
  connector,
  source_id,
  input,
}: Pick<ScheduledVisit, 'connector' | 'source_id' | 'input'>): ShownRecord => ({
  connector,
  source_id,
  patient_id: input.patient.id,
});

export const who = ({ input: { patient } }: Pick<ScheduledVisit, 'input'>): string =>
  `${patient.first_name} ${patient.last_name}`.trim() || 'No name';

export function payerOf({ input }: Pick<ScheduledVisit, 'input'>): string {
  const [first, ...others] = input.coverages;
  const name = first?.carrier || (first?.payor_id ? `payer ID ${first.payor_id}` : '');
  return others.length === 0 ? name : `${name} and ${others.length} more`;
}

function toDo(line: ScheduleLine, now: number, time_zone: string): Html {
  const { why, to_do } = line;
  if (to_do === '') return html`${toDoWords(line, now, time_zone)}`;
  return html`${why === '' ? null : html`${why} `}<strong>${to_do}</strong>`;
}

/** Returns the reason and what to do, as text. */
export function toDoWords(line: ScheduleLine, now: number, time_zone: string): string {
  const { word, why, to_do, until } = line;
  if (word === 'eligible' && to_do === '') return 'Nothing to do.';
  if (to_do !== '') return `${why} ${to_do}`.trim();
  return until === null ? why : `${why} Next: ${soonWords(until, now, time_zone)}.`;
}
