/** Names an appointment, a claim, or an inquiry on the command line, and finds it. */
import type { AppointmentInput } from '../domain/appointment.ts';
import { type ClaimInput, firstCoverage } from '../domain/claim.ts';
import { EligdError } from '../domain/errors.ts';
import { isKnownStatus } from '../domain/outcome.ts';
import { unquoted } from '../domain/quotes.ts';
import { saysWho } from '../domain/says-who.ts';
import type { SituationWord } from '../domain/situation.ts';
import type { Config } from '../ops/config.ts';
import { nearest, oneOf } from '../ops/nearest.ts';
import type { Db } from '../store/engine/database.ts';
import type { AppointmentOverview } from '../store/views/listed-appointments.ts';
import { type Found, findSubject, knownSourceIds } from '../store/views/subject.ts';
import type { ExplainedAppointment, ExplainedSubject } from './state.ts';
import { clinicTime, isoTime } from './times.ts';

/** Describes the ID argument in the help of every command that takes one. */
export const ID_HELP =
  'the appointment’s ID in the practice management system, CONNECTOR:ID, or inquiry:N';

/** The name of each situation in the output. */
export const SITUATION_NAMES: Readonly<Record<SituationWord, string>> = {
  waiting: 'waiting',
  planned: 'call planned',
  asking: 'being asked',
  answered: 'being written back',
  delivered: 'delivered',
  attention: 'needs attention',
  closed: 'closed',
};

/** Finds the subject that an ID names. Throws an EligdError with the nearest known ID. */
export async function findOrFail(
  db: Db,
  text: string,
): Promise<Extract<Found, { kind: 'appointment' | 'inquiry' }>> {
  const found = await findSubject(db, text);
  if (found.kind === 'appointment' || found.kind === 'inquiry') return found;
  if (found.kind === 'ambiguous') {
    throw new EligdError('failed', {
      what: `More than one appointment has the ID ${text}.`,
      why: `The connectors ${found.connectors.join(', ')} each have one.`,
      next: `Write ${oneOf(found.connectors.map((connector) => `${connector}:${text}`))}.`,
    });
  }
  const near = nearest(text, await knownSourceIds(db));
  throw new EligdError('failed', {
    what: `No appointment or inquiry has the ID ${text}.`,
    why: 'eligd has not read an appointment with this ID from a practice management system.',
    next: `${near === null ? '' : `The closest one is ${near}. `}"eligd list" shows all of them.`,
  });
}

/** A visit or claim whose ID a command shows. */
type Labeled = {
  id: number;
  connector: string;
  source_id: string;
  input: AppointmentInput | ClaimInput;
};

/**
 * Returns the appointment's ID as a user can type it, with the connector if there are several.
 * Without `patients`, an ID that says who the patient is becomes `appointment:N`.
 */
export function appointmentLabel(each: Labeled, config: Config, patients: boolean): string {
  const { connector, source_id } = each;
  if (!patients && saysWho(source_id, each.input)) return `appointment:${each.id}`;
  return config.connectors.length > 1 ? `${connector}:${source_id}` : source_id;
}

/** Returns the time of the visit, or a claim's date of service. */
export function visitText(each: AppointmentOverview, config: Config): string {
  if (each.kind === 'appointment') return clinicTime(each.starts_at, config);
  return `service ${each.input.date_of_service ?? 'unknown'}`;
}

/** Returns the first words of a page about one subject. */
export function subjectTitle(
  each: AppointmentOverview,
  { config, patients }: { config: Config; patients: boolean },
): string {
  const label = appointmentLabel(each, config, patients);
  if (each.kind === 'claim')
    return `Claim ${label} of ${each.connector}, ${visitText(each, config)}`;
  return `Appointment ${label} of ${each.connector}, visit ${visitText(each, config)}`;
}

export function patientName({ patient }: Pick<AppointmentInput, 'patient'>): string {
  return `${patient.first_name} ${patient.last_name}`.trim();
}

/** Returns the name of the first coverage's payer, or its ID; null if neither may be shown. */
export function payerName(input: AppointmentInput | ClaimInput, patients: boolean): string | null {
  const first = firstCoverage(input);
  return (
    shownText(first?.carrier ?? '', input, patients) ||
    shownText(first?.payor_id ?? '', input, patients) ||
    null
  );
}

/** Returns a text of the PMS, or null if it says who the patient is and `patients` is not set. */
export function shownText(
  text: string,
  input: AppointmentInput | ClaimInput,
  patients: boolean,
): string | null {
  return !patients && saysWho(text, input) ? null : text;
}

/** Returns one appointment in the form of every `--json` output. */
export function appointmentJson(
  appointment: ExplainedAppointment,
  patients: boolean,
): Record<string, unknown> {
  const { id, source_id, connector, starts_at, situation, closed_reason, explanation, input } =
    appointment;
  return {
    id: shownText(source_id, input, patients) ?? `appointment:${id}`,
    kind: appointment.kind,
    connector,
    subject: `appointment:${id}`,
    starts_at: appointment.kind === 'claim' ? null : isoTime(starts_at),
    date_of_service: appointment.kind === 'claim' ? appointment.input.date_of_service : null,
    payer: payerName(input, patients),
    patient: patients ? patientName(input) : null,
    situation,
    closed_reason,
    why: explanation.why,
    until: isoTime(explanation.until),
    next: explanation.next,
  };
}

/** Returns the open entries in the form of every `--json` output about one subject. */
export function attentionJson(
  entries: ExplainedSubject['attention'],
  patients: boolean,
): Record<string, unknown>[] {
  return entries.map(({ reason, what, next, words, since }) => ({
    reason,
    what: patients ? what : unquoted(what),
    words: patients ? words : null,
    next,
    since: isoTime(since),
  }));
}

/** Returns the service's status if the specification has it; other text may name a person. */
export function statusWord(status: string | null): string | null {
  return status === null || isKnownStatus(status) ? status : 'unrecognized';
}
