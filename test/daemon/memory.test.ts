/** How much memory a run takes does not depend on how many visits and attention items there are. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { growDatabase } from '../faults/grow.ts';
import { makeClinic } from '../support/clinic.ts';
import { fillOffice } from '../support/office-visits.ts';
import { startService } from '../support/service.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');
const VISITS = 4_000;
/** Enough for a few visits; for all of them and the whole list at once, 75 are not. */
const HEAP_MB = 56;

test('the schedule and the attention list of a large clinic fit into a small heap', {
  timeout: 120_000,
}, async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  await fillOffice(clinic, service);
  const file = join(clinic.folder, 'state/eligd.db');
  growDatabase(file, VISITS, 1);
  const raw = new Database(file);
  const { changes } = raw
    .prepare(
      `insert into attention (connector, subject, reason, what, next, since)
        select connector, 'source:' || id, 'row_unreadable', ?, 'Correct it.', starts_at
        from appointments`,
    )
    .run('A row cannot be read. '.repeat(500));
  raw.close();
  const args = [`--max-old-space-size=${HEAP_MB}`, MAIN, 'once', '--config', clinic.file];
  await promisify(execFile)(process.execPath, args);
  const outbox = join(clinic.folder, 'dropbox/outbox');
  const rows = (name: string, row: RegExp) =>
    readFileSync(join(outbox, name), 'utf8').match(row)?.length ?? 0;
  expect(rows('schedule.html', /<tr role="row" class/g)).toBeGreaterThan(VISITS);
  expect(rows('attention.csv', /row_unreadable/g)).toBe(changes);
  expect(rows('schedule.csv', /\r\n/g)).toBeGreaterThan(VISITS);
});
