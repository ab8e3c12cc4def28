/**
 * G6 over a whole run with failures: no value of the export is in a log line, on the terminal, or
 * in an address.
 */
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { datesAsSpelled, leaks, strangeInLine } from '../support/leaks.ts';
import { makeExport, type PmsRow, readExport } from '../support/pms-export.ts';
import { startEligd } from '../support/process.ts';
import { recordingProxy } from '../support/recording-proxy.ts';
import { startService } from '../support/service.ts';

const DAY_MS = 86_400_000;

/**
 * Values of the export that appear nowhere by chance, in the spellings in which they could leak.
 */
function secretsOf(rows: readonly PmsRow[]): Set<string> {
  const found = new Set<string>();
  for (const { names, dob, coverages } of rows) {
    for (const name of names) if (name.length >= 4) found.add(name);
    for (const spelled of datesAsSpelled(dob)) found.add(spelled);
    for (const { member_id } of coverages) if (member_id.length >= 8) found.add(member_id);
  }
  return found;
}

test('no name, birth date, or member ID is in the debug log or on the terminal', async () => {
  const service = await startService();
  const proxy = await recordingProxy(service.url);
  const clinic = makeClinic({
    base_url: proxy.url,
    config: { policy: { attempts: 2, attempt_pause_hours: 0 } },
  });
  const tomorrow = new Date(Date.now() + 1.5 * DAY_MS).toISOString().slice(0, 10);
  const bytes = makeExport({ shape: 'opendental', count: 70, from: tomorrow });
  const rows = readExport('opendental', bytes);
  const secrets = secretsOf(rows);
  // A file name may contain a patient's name, and eligd reports a bad row or a broken file without
  // its content.
  clinic.drop('Kowalski Priya.csv', bytes);
  clinic.drop('Adeyemi.csv', 'AptNum,AptDateTime\nKowalski,"not a time\n');
  clinic.drop('Nguyen.pdf', 'x');
  await service.fault(
    { method: 'POST', path: 'batch', skip: 1, when: 'after', action: 'reset' },
    { method: 'POST', path: 'batch', skip: 3, when: 'before', action: 'html' },
    {
      method: 'GET',
      path: 'dental/inquiries/',
      skip: 3,
      times: 2,
      when: 'before',
      action: 'truncate',
    },
    {
      method: 'GET',
      path: 'dental/inquiries/',
      skip: 9,
      when: 'before',
      action: 'status',
      status: 500,
    },
  );
  // The service's reason for a refusal may repeat the request.
  await service.fault({
    method: 'POST',
    path: 'batch',
    when: 'before',
    action: 'status',
    status: 422,
    body: {
      detail: [
        {
          loc: ['body', 0, 'member_id'],
          msg: `Unknown: ${[...secrets].join(', ')}`,
          type: 'value_error',
        },
      ],
    },
  });
  const outputs: string[] = [];
  const round = async (...command: string[]) => {
    const { ended } = startEligd([...command, '--config', clinic.file], {
      ELIGD_LOG_LEVEL: 'debug',
    });
    const { stdout, stderr } = await ended;
    outputs.push(stdout, stderr);
  };
  await round('once');
  await service.advance({ days: 12 });
  // The list fails as well, so eligd reads each answer individually.
  await service.fault({
    method: 'GET',
    path: 'dental/inquiries$',
    when: 'before',
    action: 'status',
    status: 500,
  });
  await round('once');
  await service.advance({ days: 2 });
  await round('once');
  await service.revokeTokens();
  await service.fault({ times: 1000, when: 'before', action: 'reset' });
  await round('once');
  await round('status');
  await round('check');

  // Checks the test itself: there are many secrets, the search finds them, and the run was
  // complete.
  expect(secrets.size).toBeGreaterThan(120);
  expect(leaks(bytes.toString('utf8'), secrets).length).toBeGreaterThan(60);
  expect(clinic.written().length).toBeGreaterThan(50);
  const said = outputs.join('\n');
  for (const event of [
    'inquiries_sent',
    'inquiry_uncertain',
    'inquiry_refused',
    'poll_failed',
    'answer_received',
    'csv_file_read',
  ])
    expect(said).toContain(`"event":"${event}"`);
  expect(proxy.urls.some((url) => url.includes('external_id='))).toBe(true);

  // The log has only events of the catalog, each with its own fields.
  const lines = said.split('\n').filter((line) => line.startsWith('{"level"'));
  expect(lines.length).toBeGreaterThan(50);
  expect(lines.flatMap(strangeInLine)).toEqual([]);

  expect(leaks(said, secrets)).toEqual([]);
  expect(leaks(proxy.urls.join('\n'), secrets)).toEqual([]);
  expect(leaks(proxy.headers.join('\n'), secrets)).toEqual([]);
}, 60_000);
