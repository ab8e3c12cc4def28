/** Charts of the coming week, and the same as numbers for those who cannot see them. */
import type { Spent } from '../domain/call-budget.ts';
import { budgetWords } from '../domain/explanation.ts';
import type { Cents } from '../domain/price.ts';
import { addDays, HOUR_MS, type LocalDate, localDate, startOfDay } from '../domain/time.ts';
import { readBudget } from '../store/calls/budget.ts';
import { type DayCount, dayCounts, turnaroundsByPayer } from '../store/views/week.ts';
import type { Answer, Office, Visit } from './context.ts';
import { type Html, html, WIDE } from './html.ts';
import { readablePayers } from './map-payer.ts';
import { officeWords, priceText } from './office-words.ts';
import { shortDayWords } from './times.ts';

const DAYS = 7;
const PAYERS_SHOWN = 10;

/** `GET /week` */
export async function weekPage(office: Office, { now }: Visit): Promise<Answer> {
  const { store, config } = office;
  const { time_zone } = config.clinic;
  const today = localDate(now, time_zone);
  const days: { date: LocalDate; counts: DayCount }[] = [];
  for (let index = 0; index < DAYS; index += 1) {
    const date = addDays(today, index);
    const range = {
      from: startOfDay(date, time_zone),
      to: startOfDay(addDays(date, 1), time_zone),
    };
    days.push({ date, counts: await dayCounts(store.db, range, now) });
  }
  const payers = named(await turnaroundsByPayer(store.db, PAYERS_SHOWN), config);
  const body = html`<div class="head"><h1>This week</h1></div>
<div class="charts">
<section class="panel"><h2>Visits by day</h2>${weekChart(days)}${weekTable(days)}</section>
<section class="panel"><h2>How long each insurance company takes</h2>${payerChart(payers)}</section>
<section class="panel"><h2>Calls and budget</h2>${await budgetPart(office, now)}</section>
</div>`;
  return { kind: 'page', title: 'This week', active: '/week', body };
}

/** Charts are drawn for the width of a phone, so that their words are readable there. */
const WIDTH = 320;

const SERIES = [
  { key: 'verified', name: 'Verified', color: '#57a877' },
  { key: 'answered', name: 'Answered', color: '#a8d5b8' },
  { key: 'asked', name: 'Asked', color: '#7ba3cf' },
  { key: 'planned', name: 'Planned or waiting', color: '#c3ccd6' },
  { key: 'overdue', name: 'Overdue', color: '#d99a2b' },
  { key: 'attention', name: 'Needs you', color: '#c2424b' },
] as const;

type Day = { date: LocalDate; counts: DayCount };

function weekChart(days: readonly Day[]): Html {
  const highest = Math.max(1, ...days.map(({ counts }) => total(counts)));
  const scale = 195 / highest;
  const bars = days.map(({ date, counts }, index) => {
    const y = index * 28;
    let x = 92;
    const parts = SERIES.map(({ key, color }) => {
      const left = x;
      x += Math.round(counts[key] * scale);
      return x === left
        ? null
        : html`<rect x="${left}" y="${y + 4}" width="${x - left}" height="20" fill="${color}"/>`;
    });
    return html`<text x="0" y="${y + 19}">${shortDayWords(date)}</text>${parts}
<text x="${x + 5}" y="${y + 19}">${total(counts)}</text>`;
  });
  const legend = SERIES.map(({ name, color }, index) => {
    const x = (index % 2) * 160;
    const y = days.length * 28 + 12 + Math.floor(index / 2) * 22;
    return html`<rect x="${x}" y="${y}" width="13" height="13" fill="${color}"/>
<text x="${x + 19}" y="${y + 11}">${name}</text>`;
  });
  const height = days.length * 28 + 12 + Math.ceil(SERIES.length / 2) * 22;
  const said = days.map(({ date, counts }) => `${shortDayWords(date)}: ${dayText(counts)}`);
  return html`<svg viewBox="0 0 ${WIDTH} ${height}" role="img"
 aria-label="Visits of the coming seven days. ${said.join('; ')}">${bars}${legend}</svg>`;
}

/** Returns `12 (10 verified, 2 asked)`, for screen readers. */
function dayText(counts: DayCount): string {
  const parts = SERIES.filter(({ key }) => counts[key] > 0).map(
    ({ key, name }) => `${counts[key]} ${name.toLowerCase()}`,
  );
  return parts.length === 0 ? 'none' : `${total(counts)} (${parts.join(', ')})`;
}

const total = (counts: DayCount) => SERIES.reduce((sum, { key }) => sum + counts[key], 0);

function weekTable(days: readonly Day[]): Html {
  return inNumbers(
    ['Day', ...SERIES.map(({ name }) => name)],
    days.map(({ date, counts }) => [
      shortDayWords(date),
      ...SERIES.map(({ key }) => String(counts[key])),
    ]),
  );
}

/** Shows a chart's data as a table; the first cell of each row is its header. */
function inNumbers(head: readonly string[], rows: readonly (readonly string[])[]): Html {
  return html`<details><summary>The same in numbers</summary>${WIDE}<table>
<thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([name = '', ...cells]) =>
      html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`,
  )}</tbody></table></div></details>`;
}

type Turnaround = Awaited<ReturnType<typeof turnaroundsByPayer>>[number];

/** Names each payer as people know it, if the payer map has the name. */
function named(payers: readonly Turnaround[], config: Office['config']): Turnaround[] {
  const known = readablePayers(config)?.known ?? [];
  const plain = (text: string) => text.toUpperCase().replaceAll(/[^A-Z\d]/g, '');
  return payers.map((each) => {
    const found = known.find(
      ({ carrier, payor_id }) => plain(carrier) === each.payer || payor_id === each.payer,
    );
    return { ...each, payer: found?.name ?? each.payer };
  });
}

function payerChart(payers: readonly Turnaround[]): Html {
  if (payers.length === 0)
    return html`<p class="soft">No insurance company has had five calls yet: no median.</p>`;
  const longest = Math.max(1, ...payers.map(({ median_ms }) => median_ms));
  const rows = payers.map(({ payer, median_ms }, index) => {
    const y = index * 44;
    const width = Math.max(2, Math.round((median_ms / longest) * 210));
    return html`<text x="0" y="${y + 14}">${payer.slice(0, 42)}</text>
<rect x="0" y="${y + 20}" width="${width}" height="16" fill="#7ba3cf"/>
<text x="${width + 6}" y="${y + 33}">${durationWords(median_ms)}</text>`;
  });
  const said = payers.map(({ payer, median_ms }) => `${payer} ${durationWords(median_ms)}`);
  return html`<svg viewBox="0 0 ${WIDTH} ${payers.length * 44}" role="img"
 aria-label="Median time from call to answer: ${said.join('; ')}">${rows}</svg>
<p class="soft">From the request to the end of the call; half of the calls take longer.</p>
${inNumbers(
  ['Insurance company', 'Median time', 'Calls'],
  payers.map(({ payer, median_ms, calls }) => [payer, durationWords(median_ms), String(calls)]),
)}`;
}

function durationWords(took_ms: number): string {
  const hours = took_ms / HOUR_MS;
  if (hours < 1) return 'under 1 hour';
  if (hours < 1.5) return '1 hour';
  if (hours < 48) return `${Math.round(hours)} hours`;
  return `${Math.round(hours / 24)} days`;
}

/** Shows spending and limits: calls, and dollars where prices are known. */
async function budgetPart(office: Office, now: number): Promise<Html> {
  const { policy } = office.config;
  const { day, month, used_up } = await readBudget(office.store.db, office.budget(), now);
  const calls = [
    { name: 'Today', spent: day.calls, limit: policy.calls_per_day },
    { name: 'This month', spent: month.calls, limit: policy.calls_per_month },
  ];
  const money = [
    { name: 'Today', spent: spentCents(day), limit: centsOf(policy.dollars_per_day) },
    { name: 'This month', spent: spentCents(month), limit: centsOf(policy.dollars_per_month) },
  ];
  const has_money = money.some(({ spent, limit }) => spent > 0 || limit !== null);
  const unpriced = month.unpriced;
  const callWords = (count: number) => `${count} ${count === 1 ? 'call' : 'calls'}`;
  return html`<h3>Calls</h3>${spentChart(calls, callWords)}
${has_money ? html`<h3>Money</h3>${spentChart(money, priceText)}` : null}
${
  has_money && unpriced > 0
    ? html`<p class="soft">${unpriced} of this month’s calls have no known price${
        month.estimated_cents > 0 ? ' and are estimated' : ' and are not included'
      }.</p>`
    : null
}
${used_up === null ? null : html`<p><strong>${officeWords(budgetWords(used_up))}</strong></p>`}`;
}

const spentCents = ({ cents, estimated_cents }: Spent): Cents => cents + estimated_cents;
const centsOf = (limit: number | null): Cents | null =>
  limit === null ? null : Math.round(limit * 100);

type Bar = { name: string; spent: number; limit: number | null };

/** Draws a bar for the spending, and a red line at the budget. */
function spentChart(rows: readonly Bar[], words: (amount: number) => string): Html {
  const widest = Math.max(1, ...rows.map(({ spent, limit }) => Math.max(spent, limit ?? 0)));
  const scale = (WIDTH - 4) / widest;
  const said = ({ spent, limit }: Bar) =>
    limit === null ? `${words(spent)}, no limit` : `${words(spent)} of ${words(limit)}`;
  const bars = rows.map((row, index) => {
    const y = index * 48;
    const mark = row.limit === null ? null : Math.round(row.limit * scale);
    return html`<text x="0" y="${y + 14}">${row.name}: ${said(row)}</text>
<rect x="0" y="${y + 22}" width="${Math.max(1, Math.round(row.spent * scale))}" height="16"
 fill="#7ba3cf"/>${
   mark === null
     ? null
     : html`<rect x="${mark}" y="${y + 18}" width="2" height="24" fill="#a11722"/>`
 }`;
  });
  const label = rows.map((row) => `${row.name}: ${said(row)}`).join('; ');
  return html`<svg viewBox="0 0 ${WIDTH} ${rows.length * 48}" role="img"
 aria-label="${label}">${bars}</svg>
${inNumbers(
  ['', 'So far', 'At most'],
  rows.map(({ name, spent, limit }) => [
    name,
    words(spent),
    limit === null ? 'no limit' : words(limit),
  ]),
)}`;
}
