/**
 * Text that must not be in a log (G6): patient data in any spelling, and names that the catalog
 * does not have.
 */
import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { EVENTS as CSV } from '../../connectors/csv/events.ts';
import { EVENTS as FHIR } from '../../connectors/fhir/events.ts';
import { EVENTS as HL7 } from '../../connectors/hl7/events.ts';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { EVENTS, type EventDescription } from '../../src/domain/events.ts';

const KNOWN: Readonly<Record<string, EventDescription>> = { ...EVENTS, ...CSV, ...FHIR, ...HL7 };

/**
 * The secrets that are in the text: plain, escaped as in JSON, or escaped as in an address; in any
 * case.
 */
export function leaks(text: string, secrets: Iterable<string>): string[] {
  const low = text.toLowerCase();
  const spellings = (secret: string) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    encodeURIComponent(secret).replaceAll('%20', '+'),
  ];
  return [...new Set(secrets)].filter((secret) =>
    spellings(secret).some((spelled) => low.includes(spelled.toLowerCase())),
  );
}

/** The spellings of an ISO date in files, messages, and the service. */
export function datesAsSpelled(iso: string): string[] {
  const [year = '', month = '', day = ''] = iso.split('-');
  return [
    iso,
    `${year}${month}${day}`,
    `${month}-${day}-${year}`,
    `${month}/${day}/${year}`,
    `${Number(month)}/${Number(day)}/${year}`,
  ];
}

/** The problems of a log line: an event, a level, or a field that is not in the catalog. */
export function strangeInLine(line: string): string[] {
  const {
    level,
    time: _,
    event,
    what: __,
    next: ___,
    work,
    ...fields
  } = JSON.parse(line) as Record<string, unknown>;
  const entry = KNOWN[String(event)];
  if (entry === undefined || entry.level !== level)
    return [`${String(level)} ${String(event)} is not in the catalog`];
  // Any line may name its piece of work, by eligd's own number.
  if (work !== undefined && !/^[a-z0-9]+-\d+$/.test(String(work)))
    return [`${String(event)} has a strange work`];
  return Object.keys(fields)
    .filter((name) => !entry.fields.includes(name))
    .map((name) => `${String(event)} has ${name}`);
}

/** Enough to find a line that leaks; checking thousands would take longer than the test. */
const PATIENTS_MAX = 40;

/**
 * Names, birth dates, and member IDs that appear nowhere by chance, of some of the patients in the
 * database at `path`.
 */
export function patientsIn(path: string): string[] {
  return contents(path).flatMap(({ patient, coverages }) => {
    const { first_name, last_name, birth_date } = patient ?? {};
    const people = coverages.flatMap(({ subscriber }) => (subscriber === null ? [] : [subscriber]));
    const names = [
      `${first_name} ${last_name}`,
      `${last_name}, ${first_name}`,
      ...people.map(({ name }) => name),
    ];
    const dates = [birth_date, ...people.map((person) => person.birth_date)].flatMap((date) =>
      date ? datesAsSpelled(date) : [],
    );
    const ids = coverages.map(({ member_id }) => member_id);
    return [
      ...names.filter((name) => name.length >= 8),
      ...dates,
      ...ids.filter((id) => id.length >= 6),
    ];
  });
}

function contents(path: string): Pick<AppointmentInput, 'patient' | 'coverages'>[] {
  if (!existsSync(path)) return [];
  const raw = new Database(path, { readonly: true });
  try {
    const rows = raw
      .prepare('select content from appointments limit ?')
      .pluck()
      .all(PATIENTS_MAX) as string[];
    return rows
      .map((content) => JSON.parse(content) as AppointmentInput)
      .filter(({ coverages }) => Array.isArray(coverages));
  } catch {
    // A test of damaged databases.
    return [];
  } finally {
    raw.close();
  }
}
