/** The committed content of the database, read through a connection of its own. */
import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Machine } from './machine.ts';

/** Null while no database exists. */
export function readState<Value>(
  machine: Machine,
  work: (raw: Database.Database) => Value,
): Value | null {
  const reader = machine.life?.reader();
  if (reader !== undefined) return reader === null ? null : work(reader);
  if (!existsSync(machine.path)) return null;
  const raw = new Database(machine.path);
  try {
    return work(raw);
  } finally {
    raw.close();
  }
}

/** The rows behind the IDs of a trace, for its reader; nothing for a damaged database. */
export function evidence(
  machine: Machine,
  about: readonly string[],
): { inquiries: string[]; text: string } {
  try {
    return rowsAbout(machine, about);
  } catch (error) {
    return {
      inquiries: [],
      text:
        'The database cannot be read: ' +
        `${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

function rowsAbout(
  machine: Machine,
  about: readonly string[],
): { inquiries: string[]; text: string } {
  const marks = about.map(() => '?').join(', ');
  const lines: string[] = [];
  const inquiries: string[] = [];
  readState(machine, (raw) => {
    const all = (text: string, ...given: unknown[]) =>
      raw.prepare(text).all(...given) as Record<string, unknown>[];
    const say = (kind: string, rows: Record<string, unknown>[]) => {
      for (const row of rows) lines.push(`  ${kind} ${JSON.stringify(row)}`);
    };
    const appointments = all(`select * from appointments where source_id in (${marks})`, ...about);
    say(
      'appointment',
      appointments.map(({ content: _, ...rest }) => rest),
    );
    for (const { id } of appointments) {
      say('audit', all('select * from audit where subject = ?', `appointment:${id}`));
      const linked = all(
        'select i.* from inquiries i join inquiry_appointments j on j.inquiry = i.id where ' +
          'j.appointment = ?',
        id,
      );
      say(
        'inquiry',
        linked.map(({ draft: _, body: __, ...rest }) => rest),
      );
      for (const { id: inquiry } of linked) {
        inquiries.push(`inquiry ${inquiry}`);
        say('audit', all('select * from audit where subject = ?', `inquiry:${inquiry}`));
      }
      say('delivery', all('select * from deliveries where appointment = ?', id));
    }
    const here = appointments.map(({ id }) => id);
    say(
      'attention',
      all(
        "select * from attention where reason not in ('payer_unmapped', 'row_unreadable')",
      ).filter(
        ({ appointment, inquiry }) =>
          (appointment === null && inquiry === null) ||
          here.includes(appointment) ||
          inquiries.includes(`inquiry ${inquiry}`),
      ),
    );
    say('halt', all('select * from halts'));
    say('calls', all(`select * from calls where external_id in (${marks})`, ...about));
    say('fact', all('select * from learned_settings'));
  });
  return {
    inquiries,
    text: lines.length === 0 ? '' : `In the database at the end:\n${lines.join('\n')}`,
  };
}
