/** What must not stand in a log (G6): patient data in any spelling, and what the catalogue does not know. */
import { EVENTS, type EventDescription, type EventName } from '../../src/domain/events.ts';

/** Which of the secrets stand in the text: as they are, as JSON escapes them, as an address escapes them; in any case. */
export function leaks(text: string, secrets: Iterable<string>): string[] {
  const low = text.toLowerCase();
  const spellings = (secret: string) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    encodeURIComponent(secret).replaceAll('%20', '+'),
  ];
  return [...new Set(secrets)].filter((secret) => spellings(secret).some((spelled) => low.includes(spelled.toLowerCase())));
}

/** An ISO date as files, messages and the service spell it. */
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

/** What is wrong with a line of the log: an event, a level or a field that the catalogue does not have. */
export function strangeInLine(line: string): string[] {
  const { level, time: _, event, what: __, next: ___, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const entry: EventDescription | undefined = EVENTS[event as EventName];
  if (entry === undefined || entry.level !== level) return [`${String(level)} ${String(event)} is not in the catalogue`];
  return Object.keys(fields)
    .filter((name) => !entry.fields.includes(name))
    .map((name) => `${String(event)} has ${name}`);
}
