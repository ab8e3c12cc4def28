import { EVENTS, type EventDescription } from '../domain/events.ts';

/**
 * The catalogue of the log as a page for people; `npm run schemas` writes it to config/events.md,
 * and a test compares them.
 */
export function eventsPage(): string {
  const rows = Object.entries(EVENTS).map(([name, event]) => {
    const { level, fields, means, next = '' }: EventDescription = event;
    return (
      `| \`${name}\` | ${level} | ${fields.map((field) => `\`${field}\``).join(', ')} | ` +
      `${means} | ${next} |`
    );
  });
  return `# Every event of the log

Written by \`npm run schemas\` out of \`src/domain/events.ts\`. A line is JSON: \`time\`, \`level\`,
\`event\`, fields of the event, and for warnings and errors also \`what\` it means and what to do
\`next\`. No line holds patient data. \`inquiry\` is the number that \`eligd show inquiry:N\` takes;
\`appointment\` is a keyed hash of the PMS's id, which \`eligd explain\` prints.

| event | level | fields | means | what to do |
| ----- | ----- | ------ | ----- | ---------- |
${rows.join('\n')}
`;
}
