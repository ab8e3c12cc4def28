import type { ConnectorType } from '../../connectors/contract.ts';
import type { LogField } from '../domain/env.ts';
import { EVENTS, type EventDescription } from '../domain/events.ts';

/**
 * Builds the page of the log's events, including those of the given connectors. `npm run schemas`
 * writes it to docs/events.md, and a test compares the two.
 */
export function eventsPage(connectors: readonly Pick<ConnectorType, 'name' | 'events'>[]): string {
  const sections = connectors
    .filter(({ events = {} }) => Object.keys(events).length > 0)
    .map(
      ({ name, events = {} }) =>
        `\n## Events of the connector ${name}\n\n${table(events)}\n${samples(events)}`,
    );
  return `# Every event of the log

\`npm run schemas\` generates this page from \`src/domain/events.ts\` and the \`events\` of each
connector. Each log line is JSON with \`time\`, \`level\`, \`event\`, and the fields of the event.
Warnings and errors also have \`what\` (the meaning) and \`next\` (what to do). No line contains
patient data. \`inquiry\` is the number for \`eligd show inquiry:N\`. \`appointment\` is a keyed
hash of the PMS's ID, which \`eligd explain\` prints. Lines of one piece of work have the same
\`work\`.
\`eligd log\` prints the log as sentences.

${table(EVENTS)}
${samples(EVENTS)}${sections.join('')}`;
}

function table(events: Readonly<Record<string, EventDescription>>): string {
  const rows = Object.entries(events).map(
    ([name, { level, fields, means, next = '' }]) =>
      `| \`${name}\` | ${level} | ${fields.map((field) => `\`${field}\``).join(', ')} | ` +
      `${means} | ${next} |`,
  );
  return `| event | level | fields | means | what to do |
| ----- | ----- | ------ | ----- | ---------- |
${rows.join('\n')}
`;
}

/** A sample log line of each event, with made-up values. */
function samples(events: Readonly<Record<string, EventDescription>>): string {
  const lines = Object.entries(events).map(([event, { level, fields, means, next = '' }]) => {
    const values = Object.fromEntries(fields.map((field) => [field, sampleOf(field as LogField)]));
    const advice = level === 'warn' || level === 'error' ? { what: means, next } : {};
    const time = '2026-11-23T15:30:00.000Z';
    return `    ${JSON.stringify({ level, time, event, ...values, work: 't4x2k8-17', ...advice })}`;
  });
  return `A sample line of each event:\n\n${lines.join('\n')}\n`;
}

const SAMPLES: Partial<Record<LogField, string | number | boolean>> = {
  stage: 'submit',
  connector: 'front-desk',
  specialty: 'dental',
  service_id: '6f1c2b0e-5a0d-4a53-9d53-1f3d5b0f7c11',
  delivery_batch: '20261123T153000Z-12',
  status: 'successful',
  http_status: 503,
  failure: 'unsent',
  cause: 'refused',
  reason: 'connection_failed',
  version: '0.1.0',
  node: 'v24.21.0',
  path: '/var/lib/eligd/eligd.db',
  host: 'api.service.example',
  port: 8687,
  from: 'heard',
  to: 'silent',
  error_name: 'Error',
  error_code: 'ECONNREFUSED',
  shape: 'array',
  until: '2026-11-24T15:30:00.000Z',
  field: 'policy.attempts',
  appointment: 'd90e3e0574fe',
  connectors: 'front-desk',
  mode: 'auto',
  rewritten: 'done',
  webhook: true,
  oldest_since: '2026-11-20T15:30:00.000Z',
  event_name: 'mypms_file_read',
  direction: 'in',
};

/** All remaining fields are numbers. */
function sampleOf(field: LogField): string | number | boolean {
  if (SAMPLES[field] !== undefined) return SAMPLES[field];
  return /_ms$/.test(field) ? 1500 : 3;
}
