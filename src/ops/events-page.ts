import type { ConnectorType } from '../../connectors/contract.ts';
import { EVENTS, type EventDescription } from '../domain/events.ts';

/**
 * The catalog of the log as a page for people, with the events of these connectors; `npm run
 * schemas` writes it to docs/events.md, and a test compares them.
 */
export function eventsPage(connectors: readonly Pick<ConnectorType, 'name' | 'events'>[]): string {
  const sections = connectors
    .filter(({ events = {} }) => Object.keys(events).length > 0)
    .map(({ name, events = {} }) => `\n## Of the connector ${name}\n\n${table(events)}`);
  return `# Every event of the log

Written by \`npm run schemas\` out of \`src/domain/events.ts\` and the \`events\` of each
connector. A line is JSON: \`time\`, \`level\`, \`event\`, fields of the event, and for warnings
and errors also \`what\` it means and what to do \`next\`. No line holds patient data. \`inquiry\`
is the number that \`eligd show inquiry:N\` takes; \`appointment\` is a keyed hash of the PMS's id,
which \`eligd explain\` prints.

${table(EVENTS)}${sections.join('')}`;
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
