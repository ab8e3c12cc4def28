/**
 * “I called myself”: a short form for what the payer said. It is put into the form of the calling
 * service's results, so that the same code makes a record, a verdict and a delivery of it.
 */
import { externalId } from '../domain/needs.ts';
import { planAppointment } from '../domain/planning.ts';
import { isDate } from '../domain/time.ts';
import { actingAs } from '../store/bookkeeping/audit.ts';
import { type EnteredAnswer, enterAnswer } from '../store/bookkeeping/entered.ts';
import { type ScheduledVisit, visitById } from '../store/views/schedule.ts';
import { actorOf } from './access.ts';
import { type Answer, missing, type Office, type Visit } from './context.ts';
import { type Html, html } from './html.ts';
import { shownRecord } from './schedule.ts';
import { momentWords } from './times.ts';

const TEXT_CHARS_MAX = 2_000;

/** `GET /visit/:id/called`; with what `form` holds already filled in. */
export async function calledPage(office: Office, request: Visit): Promise<Answer> {
  const { params, session, now, form } = request;
  const given = (name: string) => form.get(name) ?? '';
  const { select, text, date, money, yesNo, field } = inputs(given);
  const visit = await findVisit(office, params.id, now);
  if (visit === null) return missing;
  const { input } = visit;
  const { time_zone } = office.config.clinic;
  const ranks = input.coverages.map(({ carrier }, index) => ({
    rank: index + 1,
    name: carrier || `coverage ${index + 1}`,
  }));
  const name = `${input.patient.first_name} ${input.patient.last_name}`.trim();
  const body = html`<p><a href="/visit/${visit.id}">Back to the visit</a></p>
<h1>I called myself</h1>
<p>${name}, ${momentWords(visit.starts_at, time_zone)}. Leave empty what the payer did not say:
it then reads as unknown, never as no.</p>
<form class="panel" method="post" action="/visit/${visit.id}/called">
<input type="hidden" name="csrf" value="${session.csrf}">
<fieldset><legend>The call</legend><div class="fields">
${
  ranks.length > 1
    ? select('rank', 'Insurance', [...ranks.map((each) => [String(each.rank), each.name] as const)])
    : html`<input type="hidden" name="rank" value="1">`
}
${text('representative', 'Spoke with')}
${text('reference_number', 'Reference number')}</div></fieldset>
<fieldset><legend>The plan</legend><div class="fields">
${yesNo('is_active', 'Active on the day of the visit', true)}
${yesNo('is_provider_in_network', 'We are in network')}
${text('plan_name', 'Name of the plan')}
${date('effective_date', 'Began on')}
${date('termination_date', 'Ends on')}</div></fieldset>
<fieldset><legend>Amounts</legend><div class="fields">
${money('individual_deductible', 'Deductible')}
${money('individual_deductible_used', 'of it met')}
${money(maximumName(visit), 'Yearly maximum')}
${money(maximumPart(visit).name, maximumPart(visit).label)}</div></fieldset>
${input.procedure_codes.map(
  (code, index) => html`<fieldset><legend>${code}</legend><div class="fields">
${yesNo(`is_covered_${index}`, 'Covered')}
${field(`coverage_percentage_${index}`, 'Plan pays (percent)', 'percent')}
${yesNo(`is_prior_auth_required_${index}`, 'Needs prior authorization')}
${text(`frequency_limitations_${index}`, 'How often')}</div></fieldset>`,
)}
<fieldset><legend>Anything else</legend>
<label for="summary">What else was said</label>
<textarea id="summary" name="summary" rows="3" maxlength="${TEXT_CHARS_MAX}">${given(
    'summary',
  )}</textarea></fieldset>
<button class="main">Save the answer</button>
<p class="soft">It is marked as entered by ${session.user.name} and written into the practice
software like any other answer. eligd makes no call for it.</p></form>`;
  const shows = [shownRecord(visit)];
  return { kind: 'page', title: 'I called myself', active: '', body, shows };
}

/** The inputs of the form, each with what was given for it before. */
function inputs(given: (name: string) => string) {
  const field = (name: string, label: string, kind: 'text' | 'date' | 'percent') =>
    kind === 'percent'
      ? html`<div><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="number" min="0" max="100" step="any"
 value="${given(name)}"></div>`
      : html`<div><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${kind}" maxlength="200" value="${given(name)}"></div>`;
  const money = (name: string, label: string) =>
    html`<div><label for="${name}">${label} ($)</label>
<input id="${name}" name="${name}" inputmode="decimal" pattern="[0-9]{1,7}([.][0-9]{1,2})?"
 title="Dollars, such as 1500 or 45.50" value="${given(name)}"></div>`;
  const select = (
    name: string,
    label: string,
    options: readonly (readonly [string, string])[],
    is_required = false,
  ): Html => {
    const choices = options.map(([value, shown]) =>
      value === given(name)
        ? html`<option value="${value}" selected>${shown}</option>`
        : html`<option value="${value}">${shown}</option>`,
    );
    return html`<div><label for="${name}">${label}</label>${
      is_required
        ? html`<select id="${name}" name="${name}" required>${choices}</select>`
        : html`<select id="${name}" name="${name}">${choices}</select>`
    }</div>`;
  };
  return {
    field,
    money,
    select,
    text: (name: string, label: string) => field(name, label, 'text'),
    date: (name: string, label: string) => field(name, label, 'date'),
    yesNo: (name: string, label: string, is_required = false) =>
      select(name, label, YES_NO, is_required),
  };
}

const YES_NO = [
  ['', 'not said'],
  ['yes', 'yes'],
  ['no', 'no'],
] as const;

const isDental = ({ input }: ScheduledVisit) => (input.specialty ?? 'dental') === 'dental';
const maximumName = (visit: ScheduledVisit) =>
  isDental(visit) ? 'coverage_limit' : 'individual_out_of_pocket_maximum';
const maximumPart = (visit: ScheduledVisit) =>
  isDental(visit)
    ? { name: 'coverage_limit_remaining', label: 'of it left' }
    : { name: 'individual_out_of_pocket_maximum_used', label: 'of it used' };

async function findVisit({ store }: Office, id: string | undefined, now: number) {
  const row = Number(id);
  return Number.isSafeInteger(row) ? await visitById(store.db, row, now) : null;
}

/** `POST /visit/:id/called` */
export async function enterByForm(office: Office, request: Visit): Promise<Answer> {
  const { params, form, session, now } = request;
  const visit = await findVisit(office, params.id, now);
  if (visit === null) return missing;
  const rank = Number(form.get('rank') ?? '1');
  const coverage = coverageOf(office, visit, rank, now);
  const to = `/visit/${visit.id}`;
  if (coverage === null || !form.get('is_active')) {
    const lines = [
      coverage === null
        ? 'Nothing was saved: the visit has no such insurance.'
        : 'Nothing was saved: say first whether the plan is active.',
    ];
    const page = await calledPage(office, request);
    return page.kind === 'page' ? { ...page, notice: { is_bad: true, lines } } : page;
  }
  const { connector, source_id } = visit;
  const entered: EnteredAnswer = {
    appointment: { ...visit, patient_key: visit.patient_key },
    coverage,
    external_id: externalId(office.config.service.external_id, connector, source_id),
    entered_by: session.user.name,
    results: resultsOf(form, visit, now),
    summary: (form.get('summary') ?? '').trim().slice(0, TEXT_CHARS_MAX) || null,
  };
  await office.store.write((tx) => enterAnswer(actingAs(tx, actorOf(session)), entered, now));
  office.wake();
  const lines = ['Saved. It is written into the practice software; no call is made for it.'];
  return { kind: 'done', to, notice: { is_bad: false, lines } };
}

/**
 * The need that a call would have served, whatever keeps eligd from calling: a payer that a person
 * takes care of, a missing field, a visit that is too near.
 */
function coverageOf(
  { planning }: Office,
  visit: ScheduledVisit & { patient_key: string },
  rank: number,
  now: number,
): EnteredAnswer['coverage'] | null {
  const facts = planning();
  const decision = planAppointment(visit.patient_key, visit.input, {
    ...facts,
    now: Math.min(now, visit.starts_at - 1),
    is_clock_trusted: true,
    policy: {
      ...facts.policy,
      look_ahead_days: 365,
      min_lead_hours: 0,
      required_fields: { dental: [], medical: [], mental_health: [] },
    },
    payers: {
      ...facts.payers,
      find: (payor_id, carrier) => {
        const found = facts.payers.find(payor_id, carrier);
        return {
          carrier: 'UNKNOWN',
          payor_id,
          reverify_after_days: null,
          phone_number: '',
          in_network: new Map(),
          hours: null,
          zone: null,
          ...found,
          action: 'call',
        };
      },
    },
  });
  const planned =
    decision.kind === 'ask' ? decision.coverages.find((each) => each.rank === rank) : undefined;
  if (planned === undefined) return null;
  return {
    ...planned,
    draft: { ...planned.draft, benefits_query: [...ASKED], call_script_id: null },
  };
}

/** What the form asks, in the service's words; anything else counts as not asked. */
const ASKED = ['DEDUCTIBLES_AND_MAXIMUMS', 'CODE_LOOKUP_BENEFITS', 'CODE_LOOKUP_FREQUENCIES'];

function resultsOf(form: URLSearchParams, visit: ScheduledVisit, now: number) {
  const words = (name: string) => (form.get(name) ?? '').trim().slice(0, 200) || null;
  const flag = (name: string) => ({ yes: true, no: false })[form.get(name) ?? ''] ?? null;
  const day = (name: string) => (isDate(form.get(name) ?? '') ? form.get(name) : null);
  const dollars = (name: string) => {
    const amount = /^\d{1,7}(?:\.\d{1,2})?$/.exec((form.get(name) ?? '').trim())?.[0];
    return amount === undefined ? null : `$${amount}`;
  };
  const percent = (name: string) => {
    const given = (form.get(name) ?? '').trim();
    return given !== '' && Number(given) >= 0 && Number(given) <= 100 ? Number(given) : null;
  };
  const maximum = maximumName(visit);
  const part = maximumPart(visit).name;
  return {
    plan_information: {
      is_active: flag('is_active'),
      is_provider_in_network: flag('is_provider_in_network'),
      plan_name: words('plan_name'),
      effective_date: day('effective_date'),
      termination_date: day('termination_date'),
    },
    maximums: {
      individual_deductible: dollars('individual_deductible'),
      individual_deductible_used: dollars('individual_deductible_used'),
      [maximum]: dollars(maximum),
      [part]: dollars(part),
    },
    procedure_codes: visit.input.procedure_codes.map((procedure_code, index) => [
      { procedure_code },
      {
        is_covered: flag(`is_covered_${index}`),
        coverage_percentage: percent(`coverage_percentage_${index}`),
        is_prior_auth_required: flag(`is_prior_auth_required_${index}`),
        frequency_limitations: words(`frequency_limitations_${index}`),
      },
    ]),
    call_details: [
      {
        call_end_time: new Date(now).toISOString(),
        representative_name: words('representative'),
        reference_number: words('reference_number'),
      },
    ],
  };
}
