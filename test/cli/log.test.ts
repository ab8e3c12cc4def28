import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';
import { run } from './capture.ts';

const LINES = [
  '{"level":"info","time":"2026-11-23T15:30:05.000Z","event":"daemon_stopped","work":"a-1"}',
  '<3>{"level":"error","time":"2026-11-23T15:31:00.000Z","event":"submission_stopped",' +
    '"http_status":403,"work":"a-2","what":"old words","next":"old words"}',
  'Started eligd.service.',
  '{"level":"warn","time":"2026-11-23T15:32:00.000Z","event":"mypms_gone","what":"It is gone.",' +
    '"next":"Look for it."}',
];

function logFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'eligd.log');
  writeFileSync(file, `${LINES.join('\n')}\n`);
  return file;
}

test('log prints events as sentences, and other lines as they are', async () => {
  const { code, stdout } = await run(['log', logFile()], { environment: { TZ: 'UTC' } });
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(4);
  expect(lines[1]).toMatch(/^2026-11-2\d \d\d:31:00 !! The service is rejecting our requests/);
  expect(lines[1]).toContain('(http status 403, work a-2) -> Run "eligd status"');
  expect(lines[2]).toBe('Started eligd.service.');
  // An event of a connector that is not loaded has its own words.
  expect(lines[3]).toMatch(/:32:00 ! +It is gone\. -> Look for it\.$/);
});

test('log selects lines by --level and --work', async () => {
  const warnings = await run(['log', logFile(), '--level', 'error']);
  expect(warnings.stdout).not.toContain('It is gone');
  expect(warnings.stdout).toContain('is rejecting our requests');
  const work = await run(['log', logFile(), '--work', 'a-1']);
  expect(work.stdout.trimEnd().split('\n')).toHaveLength(1);
});

test('log reports a missing file in a sentence', async () => {
  const { code, stderr } = await run(['log', '/nonexistent/eligd.log']);
  expect(code).toBe(2);
  expect(stderr).toContain('could not be read');
});

test('lines of one piece of work have the same ID, and others do not', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: { schedule: { pull_seconds: 0.05 } },
  });
  clinic.drop('export.csv', exportOf(visits(3)));
  const lines: { event: string; work: string | undefined }[] = [];
  const daemon = await clinic.daemon(
    { log: (event, fields) => void lines.push({ event, work: fields?.work }) },
    { idle_ms: 30 },
  );
  const stop = new AbortController();
  const running = daemon.run(stop.signal);
  await expect
    .poll(() => lines.map(({ event }) => event), { timeout: 60_000 })
    .toContain('inquiries_sent');
  stop.abort();
  await running;
  await daemon.close();
  const workOf = (name: string) =>
    lines.filter(({ event }) => event === name).map(({ work }) => work);
  const [first, ...others] = workOf('appointment_planned');
  expect(first).toMatch(/^\w+-\d+$/);
  expect(new Set([first, ...others]).size).toBe(1);
  expect(workOf('csv_file_read')).toEqual(workOf('batch_accepted'));
  expect(workOf('inquiries_sent')).not.toContain(first);
});
