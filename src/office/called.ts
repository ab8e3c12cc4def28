/** “I called myself”: a short form for the payer's answers. */
import { createHash, randomUUID } from 'node:crypto';
import { coveragesToEnter, refuseEntering } from '../domain/entered.ts';
import { type ScheduledVisit, visitById } from '../store/views/schedule.ts';
import { type Answer, missing, type Office, type Visit } from './context.ts';
import { type Html, html } from './html.ts';
import { shownRecord } from './schedule.ts';
import { momentWords } from './times.ts';

export const TEXT_CHARS_MAX = 2_000;

/** Dollars as people type them: `$1,500`, `45.50`. */
export const MONEY = '[$]?([0-9]{1,7}|[0-9]{1,3}(,[0-9]{3}){1,2})([.][0-9]{1,2})?';

/** `GET /visit/:id/called`, filled in with the values of `form`. */
export async function calledPage(office: Office, request: Visit): Promise<Answer> {
  const { params, now, form } = request;
  const visit = await findVisit(office, params.id, now);
  if (visit === null) return missing;
  const { patient } = visit.input;
  const name = `${patient.first_name} ${patient.last_name}`.trim();
  const refusal = refuseEntering(visit);
  // Typed values are shown even if the form is refused, so that the user can copy them.
  const has_form = refusal === null || form.size > 0;
  const body = html`<p><a href="/visit/${visit.id}">Back to the visit</a></p>
<h1>I called myself</h1>
<p>${name}, ${momentWords(visit.starts_at, office.config.clinic.time_zone)}.${
    refusal === null
      ? ' If you got no answer to a question, leave it empty: it counts as unknown, never as no.'
      : null
  }</p>
${
  refusal === null
    ? null
    : html`<section class="panel"><p><strong>No answer can be entered: ${refusal.what}</strong></p>
<p>${refusal.next}</p></section>`
}
${has_form ? calledForm(office, visit, request) : null}`;
  const shows = [shownRecord(visit)];
  return { kind: 'page', title: 'I called myself', active: '', body, shows };
}

type FoundVisit = NonNullable<Awaited<ReturnType<typeof findVisit>>>;

function calledForm(office: Office, visit: FoundVisit, { session, form, now }: Visit): Html {
  const given = (name: string) => form.get(name) ?? '';
  const basis = basisOf(office, visit, now);
  const { text, date, money, yesNo, field } = inputs(given);
  const { input } = visit;
  return html`<form class="panel" method="post" action="/visit/${visit.id}/called"
 autocomplete="off">
<input type="hidden" name="csrf" value="${session.csrf}">
<input type="hidden" name="form" value="${formIdOf(form) ?? randomUUID()}">
<input type="hidden" name="insurance" value="${form.get('insurance') ?? basis.insurance}">
<input type="hidden" name="codes" value="${form.get('codes') ?? basis.codes}">
<fieldset><legend>The call</legend><div class="fields">
${insuranceField(office, visit, { now, given })}
${text('representative', 'Spoke with')}
${text('reference_number', 'Reference number')}</div></fieldset>
<fieldset><legend>The plan</legend><div class="fields">
${yesNo('is_active', 'Active on the day of the visit', true)}
${yesNo('is_provider_in_network', 'In network')}
${text('plan_name', 'Plan name')}
${date('effective_date', 'Effective date')}
${date('termination_date', 'Termination date')}</div></fieldset>
<fieldset><legend>Amounts</legend><div class="fields">
${money('individual_deductible', 'Deductible')}
${money('individual_deductible_used', 'Deductible met')}
${money(maximumName(visit), 'Yearly maximum')}
${money(maximumPart(visit).name, maximumPart(visit).label)}</div></fieldset>
${input.procedure_codes.map(
  (code) => html`<fieldset><legend>${code}</legend><div class="fields">
${yesNo(codeField('is_covered', code), 'Covered')}
${field(codeField('coverage_percentage', code), 'Plan pays (percent)', 'percent')}
${yesNo(codeField('is_prior_auth_required', code), 'Needs prior authorization')}
${text(codeField('frequency_limitations', code), 'How often')}</div></fieldset>`,
)}
<fieldset><legend>Anything else</legend>
<label for="summary">What else was said</label>
<textarea id="summary" name="summary" rows="3" maxlength="${TEXT_CHARS_MAX}"
 autocomplete="off">${given('summary')}</textarea></fieldset>
<button class="main">Save the answer</button>
<p class="soft">It is marked as entered by ${session.user.name} and written into the practice
software like any other answer. eligd makes no call for it.</p></form>`;
}

/**
 * Returns what the form depends on, for its hidden fields: answers typed for one payer must not be
 * saved for another. `insurance`: a fingerprint of the insurance; `codes`: joined by spaces.
 */
export function basisOf(
  office: Office,
  visit: FoundVisit,
  now: number,
): { insurance: string; codes: string } {
  const asked = coveragesToEnter(visit, { ...office.planning(), now });
  const needs = JSON.stringify(asked.map(({ rank, need_base }) => [rank, need_base]));
  return {
    insurance: createHash('sha256').update(needs).digest('base64url').slice(0, 16),
    codes: visit.input.procedure_codes.join(' '),
  };
}

/**
 * The code is part of the field's name, because the visit may have other codes when the form is
 * sent.
 */
export const codeField = (name: string, code: string) => `${name}_${code.replaceAll(/\s/g, '-')}`;

/** Returns the ID of the form, so that sending it twice saves one answer; null: no valid ID. */
export function formIdOf(form: URLSearchParams): string | null {
  const id = form.get('form') ?? '';
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? id : null;
}

/** Lets the user choose one of the visit's insurances if there are several. */
function insuranceField(
  office: Office,
  visit: FoundVisit,
  { now, given }: { now: number; given: (name: string) => string },
): Html {
  const ranks = coveragesToEnter(visit, { ...office.planning(), now }).map(({ rank }) => rank);
  const [only, ...others] = ranks;
  if (others.length === 0) return html`<input type="hidden" name="rank" value="${only ?? 1}">`;
  const nameOf = (rank: number) => visit.input.coverages[rank - 1]?.carrier || `coverage ${rank}`;
  return inputs(given).select(
    'rank',
    'Insurance',
    ranks.map((rank) => [String(rank), nameOf(rank)] as const),
  );
}

/** Builds the inputs of the form, filled in with the given values. */
function inputs(given: (name: string) => string) {
  const field = (name: string, label: string, kind: 'text' | 'date' | 'percent') =>
    kind === 'percent'
      ? html`<div><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="number" min="0" max="100" step="any"
 autocomplete="off" value="${given(name)}"></div>`
      : html`<div><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${kind}" maxlength="200" autocomplete="off"
 value="${given(name)}"></div>`;
  const money = (name: string, label: string) =>
    html`<div><label for="${name}">${label} ($)</label>
<input id="${name}" name="${name}" inputmode="decimal" autocomplete="off"
 pattern="${MONEY}" title="Dollars, such as 1,500 or 45.50"
 value="${given(name)}"></div>`;
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
export const maximumName = (visit: ScheduledVisit) =>
  isDental(visit) ? 'coverage_limit' : 'individual_out_of_pocket_maximum';
export const maximumPart = (visit: ScheduledVisit) =>
  isDental(visit)
    ? { name: 'coverage_limit_remaining', label: 'Yearly maximum left' }
    : { name: 'individual_out_of_pocket_maximum_used', label: 'Yearly maximum used' };

export async function findVisit({ store }: Office, id: string | undefined, now: number) {
  const row = Number(id);
  return Number.isSafeInteger(row) ? await visitById(store.db, row, now) : null;
}
