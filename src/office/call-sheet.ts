/** The sheet for the person who phones the payer: the phone number, the IDs, and the questions. */
import type { PayerEntry } from '../domain/policy.ts';
import { effectiveProvider } from '../domain/provider.ts';
import { localDate } from '../domain/time.ts';
import { type ScheduledVisit, visitById } from '../store/views/schedule.ts';
import { type Answer, missing, type Office, type Visit } from './context.ts';
import { type Html, html, PRINT_BUTTON } from './html.ts';
import { shownRecord } from './schedule.ts';
import { dateWords, dayWords, momentWords } from './times.ts';

/** `GET /visit/:id/call-sheet` */
export async function callSheetPage(office: Office, { params, now }: Visit): Promise<Answer> {
  const id = Number(params.id);
  const visit = Number.isSafeInteger(id) ? await visitById(office.store.db, id, now) : null;
  if (visit === null) return missing;
  const body = html`<p class="no-print"><a href="/visit/${visit.id}">Back to the visit</a></p>
<div class="head"><h1>Call the insurance company</h1>
<p class="no-print">${PRINT_BUTTON}
<a class="button" href="/visit/${visit.id}/called">Enter the answers</a></p></div>
${visit.input.coverages.map((_, index) => sheet(office, visit, index))}`;
  const shows = [shownRecord(visit)];
  return { kind: 'page', title: 'Call sheet', active: '', body, shows };
}

function sheet(office: Office, visit: ScheduledVisit, index: number): Html | null {
  const { clinic, payers } = office.planning();
  const { input, starts_at } = visit;
  const coverage = input.coverages[index];
  if (coverage === undefined) return null;
  const { name, time_zone } = office.config.clinic;
  const provider = effectiveProvider(input, clinic);
  const payer = payers.find(coverage.payor_id, coverage.carrier);
  const { patient } = input;
  const facts: [string, string][] = [
    ['Insurance company', coverage.carrier || `payer ID ${coverage.payor_id}`],
    ['Phone', payer?.phone_number || 'not on file; see the back of the card'],
    ...(payer?.hours == null ? [] : ([['Open', hoursWords(payer)]] satisfies [string, string][])),
    ['Member ID', coverage.member_id || 'missing'],
    ['Group', coverage.group_id || 'none'],
    ['Patient', `${patient.first_name} ${patient.last_name}`.trim()],
    ['Date of birth', dateWords(patient.birth_date ?? 'missing')],
    ...(coverage.subscriber === null
      ? []
      : ([
          ['Subscriber', coverage.subscriber.name],
          ['Subscriber’s date of birth', dateWords(coverage.subscriber.birth_date ?? 'missing')],
        ] satisfies [string, string][])),
    ['Visit', momentWords(starts_at, time_zone)],
    ['Practice', name],
    ['Tax ID', provider.tax_id],
    ['Billing NPI', provider.billing_npi],
    ['Provider’s NPI', provider.rendering_npi || provider.billing_npi],
  ];
  return html`<section class="panel sheet"><h2>${coverage.carrier || `Coverage ${index + 1}`}</h2>
<dl class="facts">${facts.map(
    ([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`,
  )}</dl>
<table class="ask"><caption>Questions, in order</caption><thead><tr><th scope="col">Ask</th>
<th scope="col">Answer</th></tr></thead><tbody>${questions(visit, time_zone).map(
    (question) => html`<tr><th scope="row">${question}</th><td><div class="write"></div></td></tr>`,
  )}</tbody></table></section>`;
}

function hoursWords({ hours, zone }: Pick<PayerEntry, 'hours' | 'zone'>): string {
  const time = (minutes: number) => {
    const hour = Math.floor(minutes / 60) % 24;
    const past = String(minutes % 60).padStart(2, '0');
    return `${hour % 12 || 12}:${past} ${hour < 12 ? 'AM' : 'PM'}`;
  };
  return hours === null
    ? ''
    : `${time(hours.opens)} to ${time(hours.closes)}${zone === null ? '' : ` (${zone})`}`;
}

function questions({ input, starts_at }: ScheduledVisit, time_zone: string): string[] {
  const day = dayWords(localDate(starts_at, time_zone));
  return [
    'Who am I speaking with?',
    `Is the plan active on ${day}? What are its effective and termination dates?`,
    'Are we in network? If not, what does the plan pay?',
    'Deductible: how much, and how much of it is met? Does it apply to this visit?',
    'Yearly maximum: how much, and how much is left?',
    ...input.procedure_codes.map(
      (code) => `${code}: covered? What does the plan pay? How often? Prior authorization?`,
    ),
    'Waiting periods, or a missing tooth clause?',
    'Does another insurance pay first?',
    'Is a referral required?',
    'Reference number of this call?',
  ];
}
