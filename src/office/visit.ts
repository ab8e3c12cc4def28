/** Everything about one visit: the verdict, who said what and when, and what is left to do. */
import { actorName } from '../domain/actor.ts';
import type { AppointmentInput } from '../domain/appointment.ts';
import { judgedVisit } from '../domain/fees.ts';
import { type Chapter, tellStory } from '../domain/story.ts';
import { localDate } from '../domain/time.ts';
import { changesBetween } from '../records/changes.ts';
import type { EligibilityRecord } from '../records/eligibility.ts';
import { judge, VERDICT_CAUTION, type Verdict } from '../records/verdict.ts';
import { type AccessRow, looksAt } from '../store/bookkeeping/access-log.ts';
import { quoteOf, retryQuote } from '../store/bookkeeping/ask-again.ts';
import { answerBefore, type ScheduledVisit, visitById } from '../store/views/schedule.ts';
import { readSubject, type SubjectDetail, trailOf } from '../store/views/subject.ts';
import { askRules } from './actions.ts';
import {
  amountsTable,
  clauseFacts,
  gapsOf,
  historyTable,
  planFacts,
  proceduresTable,
  rulesTable,
} from './benefits.ts';
import { type Answer, missing, type Office, type Visit } from './context.ts';
import { visitActions } from './entry-actions.ts';
import { type Html, html, WIDE } from './html.ts';
import { moneyWords, officeWords, priceText } from './office-words.ts';
import { lineOf, payerOf, pill, readMoment, shownRecord } from './schedule.ts';
import { clockWords, dateWords, dayWords, momentWords } from './times.ts';
import { mayDo } from './users.ts';

const VIEWS_SHOWN = 20;

export async function visitPage(office: Office, request: Visit): Promise<Answer> {
  const { store, config } = office;
  const { now, session } = request;
  const id = Number(request.params.id);
  const visit = Number.isSafeInteger(id) ? await visitById(store.db, id, now) : null;
  if (visit === null) return missing;
  const { time_zone } = config.clinic;
  const settings = { time_zone, fees: office.fees() };
  const moment = await readMoment(office, now);
  const { line } = lineOf(visit, moment, settings);
  const detail = await readSubject(store.db, { kind: 'appointment', id }, now);
  const story = tellStory(detail, await trailOf(store.db, detail), config, moment);
  const sheets: Html[] = [];
  for (const answer of [...visit.answers, ...answersBefore(visit, detail)]) {
    const is_answer = answer.record.outcome === 'successful';
    const before = is_answer ? await answerBefore(store.db, visit.id, answer) : null;
    const verdict = judge(answer.record, judgedVisit(visit.input, answer.coverage_rank, settings));
    const coverage = visit.input.coverages[answer.coverage_rank - 1];
    const title =
      visit.answers.length === 1 && visit.input.coverages.length === 1
        ? 'What the insurance company said'
        : `${coverage?.carrier || 'Coverage'} (coverage ${answer.coverage_rank})`;
    const earlier =
      before === null
        ? null
        : judge(before, judgedVisit(visit.input, answer.coverage_rank, settings));
    const newest = visit.answers.find((each) => each.coverage_rank === answer.coverage_rank);
    const before_note = newest === undefined ? ASKED_AGAIN_NOTE : NOTHING_NEW_NOTE;
    const note = newest === answer ? null : before_note;
    const { record } = answer;
    sheets.push(answerSheet({ title, note, record, verdict, before, earlier, time_zone }));
  }
  const may_act = mayDo(session.user.role, 'operator');
  const rules = askRules(office);
  const subject = { kind: 'appointment', id } as const;
  const quote = may_act ? await quoteOf(store.db, rules, { id, now }) : null;
  const again = may_act ? await retryQuote(store.db, rules, { subject, now }) : null;
  const views = mayDo(session.user.role, 'admin')
    ? await looksAt(store.db, visit, VIEWS_SHOWN)
    : [];
  const body = html`${visitHead(visit, line, time_zone)}
${visitActions({ visit, detail, session, quote, again })}
${sheets.length === 0 ? html`<p class="panel">There is no answer yet.</p>` : sheets}
${storyPanel(story, detail, time_zone)}
${viewsPanel(views, time_zone)}`;
  return { kind: 'page', title: 'Visit', active: '', body, shows: [shownRecord(visit)] };
}

function visitHead(
  visit: ScheduledVisit,
  line: Parameters<typeof pill>[0] & { why: string; to_do: string },
  time_zone: string,
): Html {
  const { input, starts_at } = visit;
  const { patient } = input;
  const name = `${patient.first_name} ${patient.last_name}`.trim() || 'No name';
  return html`<p class="no-print"><a href="/day/${localDate(starts_at, time_zone)}">Back to
${dayWords(localDate(starts_at, time_zone))}</a></p>
<div class="head"><h1>${name}</h1><p>${pill(line)}</p></div>
<section class="panel" aria-label="Visit"><p><strong>${line.to_do}</strong> ${line.why}</p>
<dl class="facts">
<div><dt>Visit</dt><dd>${momentWords(starts_at, time_zone)}</dd></div>
<div><dt>Insurance company</dt><dd>${payerOf(visit)}</dd></div>
<div><dt>Date of birth</dt><dd>${dateWords(patient.birth_date ?? 'missing')}</dd></div>
<div><dt>Member ID</dt><dd>${memberIds(input)}</dd></div>
<div><dt>Procedures</dt><dd>${input.procedure_codes.join(', ') || 'none scheduled'}</dd></div>
<div><dt>In the practice software</dt><dd>${visit.source_id}</dd></div>
</dl></section>`;
}

const memberIds = ({ coverages }: AppointmentInput) =>
  coverages
    .map(({ member_id }) => member_id)
    .filter((each) => each !== '')
    .join(', ') || 'missing';

/**
 * Returns the last successful answer about each coverage whose newest call has brought none yet.
 */
function answersBefore(
  { answers }: ScheduledVisit,
  { inquiries }: SubjectDetail,
): ScheduledVisit['answers'] {
  const found = new Map<number, ScheduledVisit['answers'][number]>();
  const has_answer = (rank: number) =>
    answers.some(
      ({ coverage_rank, record }) => coverage_rank === rank && record.outcome === 'successful',
    );
  for (const { row, coverage_rank, answer } of inquiries) {
    if (coverage_rank === null || answer === null || found.has(coverage_rank)) continue;
    const { record, ...rest } = answer;
    if (record.schema !== 'eligd.eligibility/1' || record.outcome !== 'successful') continue;
    if (has_answer(coverage_rank)) continue;
    found.set(coverage_rank, { ...rest, record, coverage_rank, inquiry: row.id });
  }
  return [...found.values()];
}

const ASKED_AGAIN_NOTE =
  'eligd is asking again. Until the new answer arrives, this is the previous one.';
const NOTHING_NEW_NOTE = 'The latest call got no answer. This is the previous answer.';

type Sheet = {
  title: string;
  note: string | null;
  record: EligibilityRecord;
  verdict: Verdict;
  before: EligibilityRecord | null;
  earlier: Verdict | null;
  time_zone: string;
};

function answerSheet(sheet: Sheet): Html {
  const { title, note, record, verdict, before, earlier, time_zone } = sheet;
  const { codes, classes } = rulesTable(record);
  const { unanswered, not_asked } = gapsOf(record);
  const part = (name: string, content: Html | null) =>
    content === null ? null : html`<h3>${name}</h3>${content}`;
  return html`<section class="panel"><h2>${title}</h2>
${note === null ? null : html`<p class="notice">${note}</p>`}
${changesNote(record, before, verdict, earlier)}
${proceduresTable(verdict)}
${part('Amounts left', amountsTable(record))}
${part('The plan', planFacts(record))}
${part('Benefits by class', classes)}
${part('Benefits by code', codes)}
${part('Clauses', clauseFacts(record))}
${part('Treatment history', historyTable(record))}
${part('The call', callsTable(record, time_zone))}
${record.summary === null ? null : part('Summary of the call', html`<p>${record.summary}</p>`)}
${part('Not answered', listOf(unanswered))}
${part('Not asked', listOf(not_asked))}
<p class="soft"><small>${VERDICT_CAUTION}</small></p></section>`;
}

const listOf = (labels: readonly string[]) =>
  labels.length === 0 ? null : html`<p>${labels.join(', ')}</p>`;

/** Highlights changes that matter for this visit; others are one line. */
function changesNote(
  record: EligibilityRecord,
  before: EligibilityRecord | null,
  verdict: Verdict,
  earlier: Verdict | null,
): Html | null {
  if (before === null || earlier === null) return null;
  const matters = JSON.stringify(decided(verdict)) !== JSON.stringify(decided(earlier));
  const changes = changesBetween(before, record).map((each) => each.replace(/^Revised: /, ''));
  const list = html`<ul>${changes.map((each) => html`<li>${changeWords(each)}</li>`)}</ul>`;
  return matters
    ? html`<div class="notice bad"><p><strong>The answer has changed, and it matters for this
visit.</strong></p>${list}</div>`
    : html`<details><summary>Changed since the last answer, without effect on this visit</summary>
${list}</details>`;
}

/** Amounts in a record have no dollar sign. */
const changeWords = (change: string) =>
  moneyWords(change.replaceAll(/(?<![\d$.,])(\d+\.\d{2})(?![\d.])/g, '$$$1'));

/** The parts that the front desk uses. */
const decided = ({ standing, patient_pays, procedures }: Verdict) => [
  standing,
  patient_pays,
  procedures.map(({ code, standing: each, patient_pays: pays }) => [code, each, pays]),
];

function callsTable({ calls, confidence, entered_by }: EligibilityRecord, time_zone: string): Html {
  const doubt =
    confidence === 'low'
      ? html`<p>The call failed a check, so this answer may be wrong.</p>`
      : null;
  const by = entered_by === undefined ? null : html`<p>Entered by the office (${entered_by}).</p>`;
  if (calls.length === 0)
    return html`${by}<p class="soft">The answer does not say which call it is from.</p>`;
  return html`${by}${doubt}${WIDE}<table><thead><tr><th scope="col">Call ended</th>
<th scope="col">Spoke with</th><th scope="col">Reference number</th></tr></thead>
<tbody>${calls.map(
    ({ ended_at, representative, reference_number }) => html`<tr>
<td>${ended_at === null ? 'not said' : momentWords(Date.parse(ended_at), time_zone)}</td>
<td>${representative ?? 'not said'}</td><td>${reference_number ?? 'not given'}</td></tr>`,
  )}</tbody></table></div>`;
}

function storyPanel(
  story: readonly Chapter[],
  { inquiries }: SubjectDetail,
  time_zone: string,
): Html {
  return html`<section class="panel"><h2>What happened</h2>
<p class="soft">${callsWords(inquiries)}</p>
<ol class="story">${story.map(
    ({ at, text }) =>
      html`<li><time>${momentWords(at, time_zone)}</time><span>${officeWords(text)}</span></li>`,
  )}</ol></section>`;
}

/** Says how many calls there were and what they cost: as charged, or as expected until then. */
function callsWords(inquiries: SubjectDetail['inquiries']): string {
  const calls = inquiries.map(({ row }) => row).filter(({ sent_at }) => sent_at !== null);
  if (calls.length === 0) return 'No call was ordered for this visit.';
  const ordered = calls.length === 1 ? '1 call was ordered' : `${calls.length} calls were ordered`;
  const costs = calls.map(({ charge_cents, price_cents }) => charge_cents ?? price_cents);
  const known = costs.filter((cents) => cents !== null);
  const total = priceText(known.reduce((sum, cents) => sum + cents, 0));
  const unknown = costs.length - known.length;
  if (unknown === 0) return `${ordered} for this visit, for ${total}.`;
  if (known.length === 0) return `${ordered} for this visit. The price is not known.`;
  return `${ordered} for this visit: ${total}, and ${unknown} at a price that is not known.`;
}

function viewsPanel(views: readonly AccessRow[], time_zone: string): Html | null {
  if (views.length === 0) return null;
  return html`<details class="panel no-print" id="views"><summary>Who looked at this visit</summary>
<ul>${views.map(
    ({ at, actor }) => html`<li>${actorName(actor)}, ${dayWords(localDate(at, time_zone))},
${clockWords(at, time_zone)}</li>`,
  )}</ul></details>`;
}
