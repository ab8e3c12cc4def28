/**
 * Converts the office's own entries into the form of the calling service's results, so that the
 * same code builds the record, the verdict, and the delivery.
 */
import { randomUUID } from 'node:crypto';
import { coveragesToEnter, refuseEntering } from '../domain/entered.ts';
import { externalId } from '../domain/needs.ts';
import { isDate } from '../domain/time.ts';
import { actingAs } from '../store/bookkeeping/audit.ts';
import { enterAnswer } from '../store/bookkeeping/entered.ts';
import type { ScheduledVisit } from '../store/views/schedule.ts';
import { actorOf } from './access.ts';
import {
  basisOf,
  calledPage,
  codeField,
  findVisit,
  formIdOf,
  MONEY,
  maximumName,
  maximumPart,
  TEXT_CHARS_MAX,
} from './called.ts';
import { type Answer, missing, type Office, type Visit } from './context.ts';
import { momentWords } from './times.ts';

/** `POST /visit/:id/called` */
export async function enterByForm(office: Office, request: Visit): Promise<Answer> {
  const { params, form, session, now } = request;
  const visit = await findVisit(office, params.id, now);
  if (visit === null) return missing;
  const refusal = refuseEntering(visit);
  if (refusal !== null)
    return await shownAgain(office, request, `Nothing was saved: ${refusal.what}`);
  const changed = changedSince(form, basisOf(office, visit, now));
  if (changed !== null) return await shownAgain(office, request, `Nothing was saved: ${changed}`);
  const coverage = coveragesToEnter(visit, { ...office.planning(), now }).find(
    ({ rank }) => String(rank) === (form.get('rank') ?? '1'),
  );
  if (coverage === undefined)
    return await shownAgain(
      office,
      request,
      'Nothing was saved: the visit has other insurance now.',
    );
  if (flagOf(form.get('is_active')) === null)
    return await shownAgain(
      office,
      request,
      'Nothing was saved: first choose whether the plan is active.',
    );
  const { connector, source_id } = visit;
  const done = await office.store.write((tx) =>
    enterAnswer(
      actingAs(tx, actorOf(session)),
      {
        appointment: visit,
        coverage,
        form_id: formIdOf(form) ?? randomUUID(),
        external_id: externalId(office.config.service.external_id, connector, source_id),
        entered_by: session.user.name,
        results: resultsOf(form, visit, now),
        summary: (form.get('summary') ?? '').trim().slice(0, TEXT_CHARS_MAX) || null,
      },
      now,
    ),
  );
  office.wake();
  const to = `/visit/${visit.id}`;
  if (done.kind === 'entered')
    return { kind: 'done', to, notice: { is_bad: false, lines: [savedWords(visit)] } };
  const when = momentWords(done.at, office.config.clinic.time_zone);
  if (done.is_same)
    return {
      kind: 'done',
      to,
      notice: {
        is_bad: false,
        lines: [`Already saved, ${when}. Sending it again changed nothing.`],
      },
    };
  form.delete('form');
  return await shownAgain(
    office,
    request,
    `Nothing was changed: this form was saved ${when}, with other values. If these are the right ` +
      'ones, save them now.',
  );
}

/**
 * Returns in sentences what has changed about the visit since the form was opened; null: nothing.
 * Updates the form to the current visit.
 */
function changedSince(form: URLSearchParams, basis: ReturnType<typeof basisOf>): string | null {
  const was = { insurance: form.get('insurance'), codes: form.get('codes') };
  if (was.insurance === basis.insurance && was.codes === basis.codes) return null;
  form.set('insurance', basis.insurance);
  form.set('codes', basis.codes);
  const parts = [
    ...(was.insurance === basis.insurance ? [] : ['insurance']),
    ...(was.codes === basis.codes ? [] : ['procedures']),
  ];
  const codes = basis.codes.split(' ');
  const left = (was.codes ?? '').split(' ').filter((code) => code !== '' && !codes.includes(code));
  const without =
    left.length === 0 ? '' : `What you typed about ${left.join(', ')} is no longer needed. `;
  return (
    `the visit’s ${parts.join(' and ')} changed after you opened this form. ${without}` +
    'Check that the values below still apply to the visit, and save them again.'
  );
}

/** Shows the form with the typed values, and why it was not saved. */
async function shownAgain(office: Office, request: Visit, line: string): Promise<Answer> {
  const page = await calledPage(office, request);
  return page.kind === 'page' ? { ...page, notice: { is_bad: true, lines: [line] } } : page;
}

function savedWords({ input }: ScheduledVisit): string {
  if (input.is_unwritable === true)
    return (
      'Saved here. eligd cannot write to the practice software for this visit: enter the ' +
      'answer there yourself. No call is made for it.'
    );
  return 'Saved. eligd writes it into the practice software next; no call is made for it.';
}

const IS_MONEY = new RegExp(`^${MONEY}$`);

function flagOf(given: string | null): boolean | null {
  if (given === 'yes') return true;
  return given === 'no' ? false : null;
}

function resultsOf(form: URLSearchParams, visit: ScheduledVisit, now: number) {
  const words = (name: string) => (form.get(name) ?? '').trim().slice(0, 200) || null;
  const flag = (name: string) => flagOf(form.get(name));
  const day = (name: string) => (isDate(form.get(name) ?? '') ? form.get(name) : null);
  const dollars = (name: string) => {
    const given = (form.get(name) ?? '').replaceAll(/\s/g, '');
    return IS_MONEY.test(given) ? `$${given.replaceAll(/[$,]/g, '')}` : null;
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
    procedure_codes: visit.input.procedure_codes.map((procedure_code) => [
      { procedure_code },
      {
        is_covered: flag(codeField('is_covered', procedure_code)),
        coverage_percentage: percent(codeField('coverage_percentage', procedure_code)),
        is_prior_auth_required: flag(codeField('is_prior_auth_required', procedure_code)),
        frequency_limitations: words(codeField('frequency_limitations', procedure_code)),
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
