import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Heartbeat } from '../../src/domain/health.ts';
import { writeAlerts } from '../../src/store/bookkeeping/alerts.ts';
import { writeHeartbeat } from '../../src/store/bookkeeping/heartbeat.ts';
import { halt } from '../../src/store/calls/halts.ts';
import { closeAppointment } from '../../src/store/calls/links.ts';
import { lockInstance } from '../../src/store/engine/instance-lock.ts';
import { openStore } from '../../src/store/engine/store.ts';
import { keepMessages } from '../../src/store/intake/keep-messages.ts';
import { Clinic, NOW, VISIT } from '../store/clinic.ts';
import { run } from './capture.ts';
import { differences, pathsOf } from './json-page.ts';

let folder: string;
let config: string;
let clinic: Clinic;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  folder = mkdtempSync(join(tmpdir(), 'eligd-status-'));
  config = join(folder, 'eligd.yaml');
  const minimal = readFileSync(resolve(import.meta.dirname, '../../config/minimal.yaml'), 'utf8');
  writeFileSync(config, minimal.replace('./state/eligd.db', './eligd.db'));
  clinic = await Clinic.open(folder);
});
afterEach(async () => {
  await clinic.store.close();
  rmSync(folder, { recursive: true });
  vi.useRealTimers();
});

const eligd = async (...args: string[]) => await run([...args, '--config', config]);

/** One appointment in each situation, and an entry about no appointment. */
async function fill(): Promise<{ delivered: number }> {
  await clinic.appointment('waits', { plan: { due_at: NOW + 86_400_000, wait: 'outside_window' } });
  const held = await clinic.planned('held');
  await clinic.store.write(
    async (tx) =>
      void (await tx
        .updateTable('inquiries')
        .set({ hold_reason: 'vanished' })
        .where('id', '=', held.inquiry)
        .execute()),
  );
  await clinic.open((await clinic.planned('asked')).inquiry);
  const message = { key: 'K', name: 'message 1', reply: '[]', text: 'MSH' };
  await clinic.store.write((tx) =>
    keepMessages({ tx, connector: 'front-desk', now: NOW }, [message], new Map()),
  );
  const delivered = await clinic.planned('delivered');
  await clinic.open(delivered.inquiry);
  await clinic.answer(delivered.inquiry, { deliver_to: [delivered.appointment] });
  await clinic.store.write(
    async (tx) =>
      void (await tx
        .updateTable('deliveries')
        .set({ notes: '["The call was made early."]' })
        .execute()),
  );
  await clinic.deliver('delivered');
  const answered = await clinic.planned('answered');
  await clinic.open(answered.inquiry);
  await clinic.answer(answered.inquiry, { deliver_to: [answered.appointment] });
  const refused = await clinic.planned('refused');
  await clinic.move(refused.inquiry, ['planned', 'sending', 'rejected']);
  await clinic.attention(refused, 'refused');
  const closed = await clinic.appointment('closed');
  await clinic.store.write((tx) => closeAppointment(tx, closed, 'no_coverage', NOW));
  await clinic.store.write((tx) =>
    halt(
      tx,
      { reason: 'account', detail: 'The service answered 403.', next_try_at: NOW + 900_000 },
      { what: 'What of submission_stopped.', next: 'Next of submission_stopped.' },
      NOW,
    ),
  );
  const alert = { name: 'clock_wrong' as const, about: '', detail: '', since: NOW, begun_at: NOW };
  const times = { gone_at: null, ended_at: null, reminded_at: NOW };
  await clinic.store.write((tx) =>
    writeAlerts(tx, { alerts: [{ id: 1, ...alert, ...times }], messages: [], next_id: 1 }, NOW),
  );
  return { delivered: delivered.inquiry };
}

function heartbeat(): Heartbeat {
  const contact = { ok_at: NOW, trouble: null };
  return {
    at: NOW,
    overdue_at: NOW + 60_000,
    started_at: NOW,
    stopped_at: null,
    pid: 1,
    version: '0.1.0',
    hanging: [],
    skew_ms: 0,
    contact: { calls: contact, answers: contact },
    connectors: [{ id: 'front-desk', read_at: NOW, write_at: NOW }],
  };
}

describe('status', () => {
  test('status shows everything on one page, with what to do', async () => {
    await fill();
    const { code, stdout, stderr } = await eligd('status');
    // No daemon has run on this database, so most answers are no.
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      'Riverside Dental, as of 2026-11-20 09:00 (America/Chicago)',
      '',
      'Next 8 days: 2 incomplete, 4 without an answer yet.',
      '',
      'Running:     no. The daemon has never run on this database. → Start it:',
      '             systemctl start eligd (or "eligd run").',
      'Calls:       no',
      'Answers:     no',
      'Writing:     no',
      'Export:      yes',
      'Backup:      unknown. There has been no backup yet.',
      'Clock:       unknown. eligd is not working.',
      'Alert:       the clock of this computer is wrong, since 2026-11-20 09:00.',
      '',
      '  appointments            7',
      '  waiting                 1   first visit 2026-11-24 09:30; 1: The visit is too',
      '                              far ahead: it is not in the look-ahead window yet.',
      '                              eligd checks the first one 2026-11-21 09:00.',
      '  call planned            1   first visit 2026-11-24 09:30; 1 held: It was',
      '                              missing from two exports, so eligd makes no call.',
      '  being asked             1   first visit 2026-11-24 09:30; 1 call with the',
      '                              service; the longest since 2026-11-20 09:00',
      '                              (inquiry:2)',
      '  being written back      1   first visit 2026-11-24 09:30',
      '  delivered               1   first visit 2026-11-24 09:30',
      '  needs attention         1   first visit 2026-11-24 09:30',
      '  closed                  1   1 no coverage',
      '',
      'Spent:       today 3 calls, this month 3 calls; their cost is unknown.',
      'To write:    1 to write, 0 to try again, 0 need you; the oldest since 2026-11-20',
      '             09:00.',
      'Last read:   front-desk 2026-11-20 09:00',
      'To read:     1 message of front-desk, the oldest since 2026-11-20 09:00. Calls',
      '             for their visits wait.',
      'For you:     2 entries on the attention list (1 refused, 1 submission stopped),',
      '             the oldest since 2026-11-20 09:00.',
      'Next:        See what needs you, and what to do about it: eligd list --attention',
      '',
    ]);
  });

  test('status says why calls are stopped, and exits with 1, while the daemon runs', async () => {
    await fill();
    await clinic.store.write((tx) => writeHeartbeat(tx, heartbeat()));
    const lock = lockInstance(clinic.path);
    try {
      const { code, stdout } = await eligd('status');
      expect(code).toBe(1);
      expect(stdout).toContain('Running:     yes (version 0.1.0)\n');
      expect(stdout).toContain(
        'Calls:       no since 2026-11-20 09:00. The service answered 403. →',
      );
    } finally {
      lock.release();
    }
  });

  test('status of an empty state says where to begin', async () => {
    const { stdout } = await eligd('status');
    expect(stdout).toContain('Last read:   front-desk never');
    expect(stdout).toContain('For you:     nothing.');
    expect(stdout).toContain('eligd check');
  });

  test('status works while the daemon holds its lock', async () => {
    const lock = lockInstance(clinic.path);
    try {
      // The daemon has stored no heartbeat yet: nothing is wrong, and nothing is known.
      expect((await eligd('status')).code).toBe(75);
    } finally {
      lock.release();
    }
  });
});

test.each([['status'], ['list'], ['show', '1'], ['explain', '1']])(
  '%s creates no database if there is none',
  async (...args) => {
    writeFileSync(config, readFileSync(config, 'utf8').replace('./eligd.db', './none/eligd.db'));
    const { code, stdout, stderr } = await eligd(...args.filter((arg) => typeof arg === 'string'));
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toContain(
      `eligd: There is no database at ${join(folder, 'none/eligd.db')} yet.`,
    );
    expect(existsSync(join(folder, 'none'))).toBe(false);
  },
);

describe('list', () => {
  test('list shows open appointments with why and until, without names', async () => {
    await fill();
    const { code, stdout } = await eligd('list');
    expect(code).toBe(0);
    expect(stdout.split('\n')[0]).toMatch(/^appointment +visit +payer +situation +until +why$/);
    expect(stdout).toMatch(
      /^waits +2026-11-24 09:30 +Delta Dental +waiting +2026-11-21 09:00 +The visit is too far/m,
    );
    expect(stdout).not.toMatch(/closed|Roe|W123/);
  });

  test('list shows names on request, filters, and says what it left out', async () => {
    await fill();
    expect((await eligd('list', '--patients')).stdout).toContain('Jane Roe');
    const { stdout } = await eligd('list', '--situation', 'closed');
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
    expect((await eligd('list', '--limit', '2')).stdout).toMatch(
      /… and 4 more; --limit shows them\.\n$/,
    );
    await clinic.store.write((tx) => closeAppointment(tx, 1, 'past', NOW));
    expect((await eligd('list', '--situation', 'waiting')).stdout).toBe(
      'No appointment or inquiry matches.\n',
    );
  });

  test('list shows the attention list with remedies, also without an appointment', async () => {
    await fill();
    const { stdout } = await eligd('list', '--attention');
    expect(stdout).toContain(
      'appointment refused, visit 2026-11-24 09:30 (refused, since 2026-11-20 09:00)\n  What ' +
        'of refused.\n  → Next of refused.\n',
    );
    expect(stdout).toContain('the installation (submission_stopped, since 2026-11-20 09:00)');
    expect(stdout).not.toContain('Roe');
    expect((await eligd('list', '--attention', '--patients')).stdout).toContain('Jane Roe');
  });

  test.each([
    [['--situation', 'wating'], 'Allowed choices are waiting, planned'],
    [['--connector', 'front-dsk'], 'Did you mean --connector front-desk?'],
    [['--limit', '0'], 'Write a whole number from 1'],
    [['--attention', '--situation', 'asking'], 'cannot be used with'],
  ])('list refuses %j', async (args, told) => {
    const { code, stderr } = await eligd('list', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(told);
  });
});

describe('show', () => {
  test('show prints everything about an appointment, and names only on request', async () => {
    const { delivered } = await fill();
    const { code, stdout } = await eligd('show', 'delivered');
    expect(code).toBe(0);
    expect(stdout).toContain('Appointment delivered of front-desk, visit 2026-11-24 09:30');
    expect(stdout).toContain('Coverage 1: Delta Dental, payer ID 12345');
    expect(stdout).toMatch(
      new RegExp(`inquiry:${delivered} +1 +answered +service-${delivered} +SUCCESS`),
    );
    expect(stdout).not.toMatch(/Roe|W123|1980-02-03|Gold/);
    const { stdout: named } = await eligd('show', 'delivered', '--patients');
    expect(named).toMatch(/Jane Roe, born 1980-02-03[\s\S]*member ID W123, group G9/);
    expect(named).toMatch(/plan name: +Gold/);
  });

  test('show accepts the connector, a row, or the service’s ID with the plain ID', async () => {
    const { delivered } = await fill();
    for (const id of ['front-desk:delivered', `inquiry:${delivered}`, `service-${delivered}`])
      expect((await eligd('show', id)).stdout).toContain('Appointment delivered');
  });

  test('show suggests the nearest ID for one that does not exist', async () => {
    await clinic.appointment('12045');
    const { code, stdout, stderr } = await eligd('show', '12054');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('No appointment or inquiry has the ID 12054.');
    expect(stderr).toContain('The closest one is 12045.');
  });

  test('show asks which one is meant when two connectors have the ID', async () => {
    await clinic.appointment('7');
    await clinic.appointment('7', { connector: 'ehr' });
    const { code, stderr } = await eligd('explain', '7');
    expect(code).toBe(1);
    expect(stderr).toContain('Write ehr:7 or front-desk:7.');
  });
});

describe('explain', () => {
  test('explain prints a saved appointment’s history from its beginning', async () => {
    await fill();
    const { stdout } = await eligd('explain', 'delivered');
    expect(stdout.split('\n').map((line) => line.replace('2026-11-20 09:00  ', ''))).toEqual([
      'Appointment delivered of front-desk, visit 2026-11-24 09:30',
      '  Visit delivered:',
      '    Incomplete on 11/24: D1110: unknown.',
      '    D1110: unknown. The insurance company was not asked about D1110.',
      '    From what the insurance company said on the phone; not a guarantee of payment.',
      '',
      'Read from the practice management system.',
      'Inquiry 3: a call was planned. The visit is within the look-ahead window.',
      'Inquiry 3: eligd began to send it to the service. Reason of sending.',
      'Inquiry 3: the service accepted it and phones the insurance company. Reason of open.',
      'Inquiry 3: the answer arrived. Reason of answered.',
      'The answer will be written to outbox/ through connector front-desk.',
      'The answer was written to outbox/ through connector front-desk (batch 20261120T150000Z-1).',
      '',
      'Now: Incomplete. D1110: unknown. The insurance company was not asked about D1110. The ' +
        'newest answer was written to outbox/.',
      'For you: Call the insurance company if you need to know it before the visit.',
      '',
    ]);
  });

  test('explain says why a visit that was far ahead was not planned earlier', async () => {
    const starts_at = new Date(VISIT + 30 * 86_400_000).toISOString();
    await clinic.appointment('far', { starts_at, plan: { due_at: NOW, wait: 'outside_window' } });
    vi.setSystemTime(VISIT + 25 * 86_400_000);
    const { stdout } = await eligd('explain', 'far');
    expect(stdout).toContain(
      '2026-12-17 00:00  The visit is now within 7 days (policy.look_ahead_days)',
    );
  });

  test('explain says what you must do', async () => {
    await fill();
    const { stdout } = await eligd('explain', 'refused');
    expect(stdout).toContain('the service rejected it; no call is made. Reason of rejected.');
    expect(stdout).toContain(
      'Now: needs attention. What of refused.\nFor you: What of refused. Next of refused.\n',
    );
  });

  test('explain says who an inquiry is for, and why an appointment is closed', async () => {
    await fill();
    expect((await eligd('explain', 'inquiry:2')).stdout).toMatch(
      /^Inquiry 2\n[\s\S]*Now: appointment asked being asked\./,
    );
    expect((await eligd('explain', 'closed')).stdout).toContain(
      'Closed. The practice management system has no insurance',
    );
  });
});

describe('docs/json.md', () => {
  test.each([
    ['eligd.status/1', [['status']]],
    ['eligd.list/1', [['list', '--situation', 'closed'], ['list']]],
    ['eligd.attention/1', [['list', '--attention']]],
    [
      'eligd.show/1',
      [
        ['show', 'delivered'],
        ['show', 'refused'],
        ['show', 'inquiry:3'],
        ['show', 'delivered', '--patients'],
      ],
    ],
    [
      'eligd.explain/1',
      [
        ['explain', 'delivered'],
        ['explain', 'refused'],
        ['explain', 'inquiry:3'],
      ],
    ],
  ])('docs/json.md documents %s as it is', async (schema, commands) => {
    await fill();
    const real = new Set<string>();
    for (const args of commands) {
      const { code, stdout } = await eligd(...args, '--json');
      expect(code).toBe(args[0] === 'status' ? 1 : 0);
      const value = JSON.parse(stdout);
      expect(value.schema).toBe(schema);
      if (!args.includes('--patients')) expect(stdout).not.toMatch(/Roe|W123|1980-02-03|Gold/);
      for (const path of pathsOf(value)) real.add(path);
    }
    expect(differences(schema, real)).toEqual({ undocumented: [], unseen: [] });
  });

  test('docs/json.md promises patients’ data with --patients only', async () => {
    await fill();
    const { stdout } = await eligd('show', 'delivered', '--json', '--patients');
    expect(JSON.parse(stdout).appointments[0]).toMatchObject({
      patient: 'Jane Roe',
      birth_date: '1980-02-03',
      coverages: [{ member_id: 'W123', group_id: 'G9' }],
    });
  });
});

test('reading leaves the database unchanged', async () => {
  await fill();
  await clinic.store.close();
  const before = readFileSync(clinic.path);
  for (const args of [
    ['status'],
    ['list'],
    ['list', '--attention'],
    ['show', 'delivered'],
    ['explain', 'delivered'],
  ])
    expect((await eligd(...args)).code).toBe(args[0] === 'status' ? 1 : 0);
  expect(readFileSync(clinic.path).equals(before)).toBe(true);
  await (await openStore(clinic.path)).close();
});
