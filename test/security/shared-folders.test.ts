/**
 * What eligd writes into folders that others may write to as well: a link that somebody put there
 * under the name of a temporary file leads to no other file.
 */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { batchOf } from '../../connectors/conformance/examples.ts';
import { dropFolderAt, ensureDropFolder, writeMessage } from '../../connectors/hl7/folder.ts';
import { UserFile } from '../../src/office/users.ts';
import { dropFolder, openCsv } from '../connectors/csv/support.ts';
import { clinicWithReport } from '../support/report-folder.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';
import { makeFolder } from './users.ts';

const { signal } = new AbortController();

/** A file that eligd can write, such as its database, and links to it at `paths`. */
function victimOf(...paths: string[]) {
  const victim = join(makeFolder(0o700), 'eligd.db');
  writeFileSync(victim, 'SQLite format 3');
  for (const path of paths) symlinkSync(victim, path);
  return () => readFileSync(victim, 'utf8');
}

test('results of the drop folder for exports', async () => {
  const folder = await dropFolder();
  const outbox = join(folder.path, 'outbox');
  mkdirSync(join(outbox, 'records'), { recursive: true });
  const names = ['.eligibility-batch-1.csv.tmp', 'records/.d-1-1.json.tmp', '.attention.csv.tmp'];
  const victim = victimOf(...names.map((name) => join(outbox, name)));
  const { connector } = openCsv(folder);
  await connector.deliver(batchOf(1, [1]), signal);
  await connector.publishAttention?.([], signal, '2026-11-23T12:00:00Z');
  expect(victim()).toBe('SQLite format 3');
  expect(readdirSync(outbox)).toContain('eligibility-batch-1.csv');
  await folder.remove();
});

test('reasons for rows of an export', async () => {
  const folder = await dropFolder();
  await folder.drop('day.csv', 'appointment_id,appointment_at,patient_name\n1,never,A\n');
  mkdirSync(join(folder.path, 'processing'));
  const victim = victimOf(join(folder.path, 'processing/.day.csv.reasons.csv.tmp'));
  const { pull } = openCsv(folder, { stable_seconds: 0 });
  await pull();
  expect(victim()).toBe('SQLite format 3');
});

test('messages of the drop folder of an interface', async () => {
  const folder = dropFolderAt(makeFolder());
  await ensureDropFolder(folder);
  const victim = victimOf(join(folder.outbox, 'E1.hl7.tmp'));
  await writeMessage(folder, 'E1.hl7', Buffer.from('MSH|^~\\&'));
  expect(victim()).toBe('SQLite format 3');
  expect(readFileSync(join(folder.outbox, 'E1.hl7'), 'utf8')).toBe('MSH|^~\\&');
});

test('the schedule in the folder of the report', async () => {
  const service = await startService();
  const { clinic, folder } = clinicWithReport(service.url);
  const victim = victimOf(join(folder, '.schedule.html.part'), join(folder, '.schedule.pdf.part'));
  clinic.drop('day.csv', exportOf(visits(1)));
  await clinic.once();
  expect(victim()).toBe('SQLite format 3');
  expect(readdirSync(folder)).toContain('schedule.html');
});

test('the users of the page', () => {
  const folder = makeFolder(0o700);
  const victim = victimOf(join(folder, 'office-users.part'));
  new UserFile(join(folder, 'office-users')).write([]);
  expect(victim()).toBe('SQLite format 3');
});
