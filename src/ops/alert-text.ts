/** Writes an alert's text, without patient data (G6) and the same for every kind of target. */
import type { Alert, MessageKind } from '../domain/alerts/book.ts';
import { describeAlert } from '../domain/alerts/catalog.ts';
import { clinicTime, wrapped } from './health-text.ts';

export type AlertText = {
  subject: string;
  body: string;
  /** The text for programs (docs/alerts.md, eligd.alert/1). */
  document: Record<string, string | number | null>;
};

type Place = { clinic: string; time_zone: string; host: string };

const HEADS: Readonly<Record<MessageKind, string>> = {
  begin: '',
  reminder: 'still: ',
  end: 'over: ',
};

export function alertText(alert: Alert, kind: MessageKind, place: Place): AlertText {
  const { level, title, next } = describeAlert(alert.name);
  const { clinic, time_zone, host } = place;
  const about = alert.about === '' ? '' : ` (${alert.about})`;
  const subject = `eligd at ${clinic}: ${HEADS[kind]}${title}${about}`;
  const at = (time: number) => clinicTime(time, time_zone);
  const lines = [
    ...wrapped(kind === 'end' ? 'Over:' : 'Problem:', `${title}${about}.`),
    ...(alert.detail === '' || kind === 'end' ? [] : wrapped('Details:', alert.detail)),
    `${'Since:'.padEnd(13)}${at(alert.since)} (${time_zone})`,
    ...(alert.ended_at === null ? [] : [`${'Until:'.padEnd(13)}${at(alert.ended_at)}`]),
    ...(kind === 'end' ? [] : wrapped('Next:', next)),
    `${'Computer:'.padEnd(13)}${host}`,
    `${'Alert:'.padEnd(13)}${alert.id}, ${alert.name}, ${level}`,
  ];
  const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString());
  return {
    subject,
    body: `${lines.join('\n')}\n`,
    document: {
      schema: 'eligd.alert/1',
      kind,
      alert: alert.id,
      name: alert.name,
      level,
      about: alert.about === '' ? null : alert.about,
      clinic,
      host,
      what: title,
      details: alert.detail === '' ? null : alert.detail,
      next,
      since: iso(alert.since),
      ended_at: iso(alert.ended_at),
    },
  };
}
