import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CompiledQuery, Kysely, SqliteDialect } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { draftInquiry } from '../../src/domain/draft.ts';
import { CLOCK_WAITS } from '../../src/domain/due-times.ts';
import { effectiveProvider } from '../../src/domain/provider.ts';
import { failureReadAt, firstAnswerAt } from '../../src/store/answers/answers.ts';
import { claimBatch } from '../../src/store/answers/deliveries.ts';
import { hasWaitingDeliveries } from '../../src/store/answers/delivery-steps.ts';
import { takeKnown } from '../../src/store/answers/inbox.ts';
import { answersOfNeed, termsOfGroup } from '../../src/store/answers/plan-terms.ts';
import { looksAt } from '../../src/store/bookkeeping/access-log.ts';
import { readAlerts } from '../../src/store/bookkeeping/alerts.ts';
import { isOnList, nameNextVisit } from '../../src/store/bookkeeping/attention.ts';
import { readHeads } from '../../src/store/bookkeeping/chain-check.ts';
import { writeLearned } from '../../src/store/bookkeeping/learned-settings.ts';
import { storedOfPatient } from '../../src/store/bookkeeping/legal-holds.ts';
import { stopForOlderCalls } from '../../src/store/bookkeeping/new-database.ts';
import { findSession } from '../../src/store/bookkeeping/office.ts';
import { oldUnneeded } from '../../src/store/bookkeeping/purge.ts';
import { countOldAnswers } from '../../src/store/bookkeeping/purge-answers.ts';
import { oldNamedSubjects } from '../../src/store/bookkeeping/purge-logs.ts';
import { absentCalls, absentLabels } from '../../src/store/calls/absent-calls.ts';
import { spentBetween } from '../../src/store/calls/budget.ts';
import {
  callsAlike,
  hasForgottenCall,
  hasMadeCalls,
  withCalls,
} from '../../src/store/calls/calls.ts';
import { forgetDoubts } from '../../src/store/calls/doubtful-calls.ts';
import {
  dueForPolling,
  dueForSubmission,
  uncertainDue,
  waitingToSend,
} from '../../src/store/calls/due-inquiries.ts';
import {
  byServiceIds,
  moveInquiries,
  openServiceIds,
  unsettledTwin,
} from '../../src/store/calls/inquiries.ts';
import { keepingHolds, keptHolds } from '../../src/store/calls/kept-holds.ts';
import { comingVisits, sampleOfOurs } from '../../src/store/calls/listed-calls.ts';
import {
  dueForPlanning,
  planWaitingAgain,
  replanAppointmentsOf,
} from '../../src/store/calls/plan-due.ts';
import { openTurnaround, turnaround } from '../../src/store/calls/turnarounds.ts';
import type { Db, Tx } from '../../src/store/engine/database.ts';
import { openSqlite, type Raw } from '../../src/store/engine/driver.ts';
import { openStore } from '../../src/store/engine/store.ts';
import type { Tables } from '../../src/store/engine/tables.ts';
import { openWriteQueue } from '../../src/store/engine/write-queue.ts';
import { lastArrivals, noteRepeatedArrival, readBook } from '../../src/store/intake/arrivals.ts';
import { isLatestSource } from '../../src/store/intake/intake.ts';
import { keepMessages } from '../../src/store/intake/keep-messages.ts';
import { takePatientUpdates } from '../../src/store/intake/patients.ts';
import {
  beginReading,
  fileSources,
  lastUnread,
  unreadCounts,
} from '../../src/store/intake/unread-messages.ts';
import { countAttention } from '../../src/store/views/alerts.ts';
import { readTrail } from '../../src/store/views/audit.ts';
import { changesSince } from '../../src/store/views/changes.ts';
import { callsBetween, countDuplicates, plannedDrafts } from '../../src/store/views/cost.ts';
import { listAppointments } from '../../src/store/views/listed-appointments.ts';
import { oldestWaiting } from '../../src/store/views/oldest-waiting.ts';
import { countSituations, lastReads } from '../../src/store/views/overview.ts';
import { namedPayerPages } from '../../src/store/views/payers.ts';
import { visitPages, visitTimes } from '../../src/store/views/schedule.ts';
import { findSubject } from '../../src/store/views/subject.ts';
import { dayCounts } from '../../src/store/views/week.ts';
import { aCoverage, anAppointment, aRule, facts } from '../domain/examples.ts';
import { NOW } from './clinic.ts';

const IN_GROUP = draftInquiry(
  {
    appointment: anAppointment(),
    under: {
      coverage: aCoverage({ group_id: 'G-4711' }),
      payer: null,
      provider: effectiveProvider(anAppointment(), facts().clinic),
    },
    questions: aRule(),
    known_codes: new Set(),
    visit: '2026-11-23',
  },
  facts().clinic,
);

let folder: string;
let raw: Raw;
let db: Db;
let asked: CompiledQuery[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eligd-plans-'));
  const path = join(folder, 'eligd.db');
  await (await openStore(path)).close();
  raw = openSqlite(path);
  raw.exec("insert into learned_settings values ('log_key', '00', 0)");
  db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: raw }),
    log: ({ query }) => void asked.push(query),
  });
});
afterAll(async () => {
  await db.destroy();
  rmSync(folder, { recursive: true });
});

/** How SQLite runs the statements that `work` sends, one line per step. */
async function planOf(work: () => Promise<unknown>): Promise<string[]> {
  asked = [];
  await work();
  return asked
    .filter(({ sql }) => /^\s*(select|with|delete|update|insert[^;]*\sselect)\s/i.test(sql))
    .flatMap(
      ({ sql, parameters }) =>
        raw.prepare(`explain query plan ${sql}`).all(...parameters) as { detail: string }[],
    )
    .map(({ detail }) => detail);
}

/** A patient becomes known, or is merged. */
function changeOfPatient(kind: 'described' | 'merged' = 'described'): Promise<unknown> {
  const patient = { id: 'P-1', first_name: '', last_name: '', birth_date: null };
  const update =
    kind === 'described'
      ? { kind, patient, coverages: [] }
      : { kind, from_id: 'P-2', into: patient };
  return openWriteQueue(db).write((tx) =>
    takePatientUpdates({ tx, connector: 'front-desk', now: NOW }, [update], { changed: 0 }),
  );
}

/** As on the first day, with an empty database. */
async function olderCalls(tx: Tx): Promise<void> {
  const state = JSON.stringify({ since: NOW, checked: 5 });
  await writeLearned(tx, 'older_calls_looked_for', state, NOW);
  await stopForOlderCalls(tx, { is_compared: true, now: NOW });
}

describe('the claim of', () => {
  const claim = { now: NOW, limit: 100, specialty: 'dental' as const };
  test.each([
    [
      'inquiries to send',
      () => dueForSubmission(db, claim),
      'inquiries USING INDEX inquiries_due (state=? AND specialty=?)',
    ],
    [
      'inquiries to look for',
      () => uncertainDue(db, NOW, 100),
      'inquiries USING INDEX inquiries_lookup (state=? AND lookup_at<?)',
    ],
    [
      'inquiries to ask about',
      () => dueForPolling(db, NOW, 100),
      'inquiries USING INDEX inquiries_poll (state=? AND poll_at<?)',
    ],
    [
      'inquiries whose answers a list may hold',
      () => openServiceIds(db, 'dental'),
      'inquiries USING COVERING INDEX inquiries_due (state=? AND specialty=?)',
    ],
    [
      'the call of an inquiry',
      () => dueForPolling(db, NOW, 100),
      'calls USING INDEX calls_current (inquiry=?)',
    ],
    [
      'the inquiries under IDs of the service',
      () => byServiceIds(db, ['S-1', 'S-2']),
      'calls USING INDEX sqlite_autoindex_calls_1 (service_id=?)',
    ],
    [
      'the inquiry that was sent last',
      () => sampleOfOurs(db, 'dental'),
      'calls USING INDEX calls_sent (sent_at>?)',
    ],
    [
      'whether calls of a specialty were made',
      () => hasMadeCalls(db, 'dental'),
      'calls USING INDEX calls_sent (sent_at>?)',
    ],
    [
      'waits of inquiries that are withdrawn',
      () => openWriteQueue(db).write((tx) => forgetDoubts(tx, [1, 2])),
      'doubtful_calls USING PRIMARY KEY (inquiry=?)',
    ],
    [
      'the visits that wait for the clock',
      () =>
        openWriteQueue(db).write((tx) =>
          planWaitingAgain(tx, { waits: CLOCK_WAITS, after: NOW, due_at: NOW }),
        ),
      'appointments USING INDEX appointments_plan_due (plan_due_at>?)',
    ],
    [
      'the visits whose labels are queried after a loss',
      () => comingVisits(db, NOW),
      'appointments USING INDEX appointments_day (starts_at>?)',
    ],
    [
      'the first answer of an inquiry',
      () => firstAnswerAt(db, 1),
      'answers USING INDEX sqlite_autoindex_answers_1 (inquiry=? AND revision=?)',
    ],
    [
      'what was learned of a payer',
      () => turnaround(db, 'dental|benefits|DELTA'),
      'turnarounds USING COVERING INDEX turnarounds_payer (payer=?)',
    ],
    [
      'what was learned of a payer in payer hours',
      () => openTurnaround(db, 'dental|benefits|DELTA'),
      'turnarounds USING COVERING INDEX turnarounds_open (payer=?)',
    ],
    [
      'the answers about a need',
      () =>
        openWriteQueue(db).write((tx) =>
          answersOfNeed(tx, 'need', { time_zone: 'America/Chicago' }),
        ),
      'inquiries USING INDEX sqlite_autoindex_inquiries_1 (need_base=?)',
    ],
    [
      'what is known of a group’s plan',
      () =>
        openWriteQueue(db).write((tx) =>
          termsOfGroup(tx, IN_GROUP, { benefit_year: 2026, day: '2026-11-20' }),
        ),
      'plan_terms USING PRIMARY KEY (plan_key=? AND benefit_year=?)',
    ],
    [
      'appointments to plan',
      () => dueForPlanning(db, NOW, 100),
      'INDEX appointments_plan_due (plan_due_at<?)',
    ],
    [
      'appointments of a patient',
      () => changeOfPatient(),
      'appointments USING INDEX appointments_patient (patient_key>? AND patient_key<?)',
    ],
    [
      'inquiries of a patient',
      () => changeOfPatient('merged'),
      'inquiries USING INDEX sqlite_autoindex_inquiries_1 (need_base>? AND need_base<?)',
    ],
    [
      'the newest source',
      () => isLatestSource(db, 'front-desk', 'sha256:1'),
      'sources USING INDEX sources_completed (connector=? AND completed_at>?)',
    ],
    [
      'the newest arrival',
      () =>
        openWriteQueue(db).write((tx) => noteRepeatedArrival(tx, 'front-desk', 'sha256:1', NOW)),
      'arrivals USING INDEX arrivals_at (connector=?)',
    ],
    [
      'the last arrivals',
      () => lastArrivals(db, 'front-desk'),
      'arrivals USING INDEX arrivals_at (connector=? AND at>?)',
    ],
    [
      'the books around an export',
      () => {
        const about = { connector: 'front-desk', arrivals: [], time_zone: 'America/Chicago' };
        return readBook(db, about, NOW);
      },
      'appointments_upcoming (connector=? AND starts_at>? AND starts_at<?)',
    ],
    [
      'calls that any need may have',
      () => openWriteQueue(db).write((tx) => withCalls(tx, [{ id: 1, match_key: 'KEY' }])),
      'calls USING COVERING INDEX calls_unreadable',
    ],
    [
      'absent calls that the service may list by now',
      () => absentLabels(db, 'dental', ['KEY']),
      'calls USING INDEX calls_match (match_key=?)',
    ],
    [
      'absent calls of every specialty',
      () => openWriteQueue(db).write((tx) => absentCalls(tx)),
      'calls USING INDEX sqlite_autoindex_calls_1 (service_id=?)',
    ],
    [
      'listed calls under labels whose requests are unreadable',
      () =>
        openWriteQueue(db).write((tx) =>
          callsAlike(tx, { specialty: 'dental', match_keys: ['KEY'], labels: ['A-1'], of: [] }),
        ),
      'calls USING INDEX calls_unreadable (match_key=? AND external_id=?)',
    ],
    [
      'listed calls under labels whose requests lack fields',
      () => {
        const match_keys = ['CLAIMS_STATUS|W1|2018-01-02|123456789|CN1|2026-01-02'];
        return openWriteQueue(db).write((tx) =>
          callsAlike(tx, { specialty: 'dental', match_keys, labels: ['A-1'], of: [] }),
        );
      },
      'calls USING INDEX calls_match (match_key=?)',
    ],
    [
      'a call that the service has forgotten',
      () => openWriteQueue(db).write((tx) => hasForgottenCall(tx, 1)),
      'calls USING INDEX calls_inquiry (inquiry=?)',
    ],
    [
      'when eligd read that a call had failed',
      () => openWriteQueue(db).write((tx) => failureReadAt(tx, 1)),
      'records USING INDEX records_inquiry (inquiry=?)',
    ],
    [
      'whether an answer about a damaged visit waits to be written',
      () => openWriteQueue(db).write((tx) => hasWaitingDeliveries(tx, 1)),
      'deliveries USING COVERING INDEX deliveries_appointment (appointment=? AND state=?)',
    ],
    [
      'the visits on a page that keep a hold',
      () => keepingHolds(db, [1, 2]),
      'kept_holds USING PRIMARY KEY (appointment=?)',
    ],
    [
      'the holds that a visit keeps',
      () => keptHolds(db, 1),
      'kept_holds USING PRIMARY KEY (appointment=?)',
    ],
    [
      'the call under way that the service could not tell from another one',
      () => {
        const one = { id: 1, external_id: 'A-1', match_key: 'BENEFITS|W1' };
        return openWriteQueue(db).write((tx) => unsettledTwin(tx, one));
      },
      'inquiries USING INDEX inquiries_unsettled (external_id=? AND match_key=?)',
    ],
    [
      'an attention item about an inquiry',
      () => openWriteQueue(db).write((tx) => isOnList(tx, 'inquiry:1')),
      'attention USING INDEX attention_open (subject=?)',
    ],
    [
      'the visit of the items about an inquiry',
      () => openWriteQueue(db).write((tx) => nameNextVisit(tx, 'inquiry', 1, NOW)),
      'attention USING INDEX attention_inquiry (inquiry=?)',
    ],
    [
      'the items that show a visit',
      () => openWriteQueue(db).write((tx) => nameNextVisit(tx, 'appointment', 1, NOW)),
      'attention USING INDEX attention_appointment (appointment=?)',
    ],
    [
      'the visits of a further call that was not made',
      () => openWriteQueue(db).write((tx) => replanAppointmentsOf(tx, [1, 2])),
      'appointments USING INTEGER PRIMARY KEY (rowid=?)',
    ],
    [
      'calls of an older database',
      () => openWriteQueue(db).write((tx) => olderCalls(tx)),
      'calls_match (match_key=?)',
    ],
    [
      'deliveries to write',
      () => openWriteQueue(db).write((tx) => claimBatch(tx, 'front-desk', NOW, 100)),
      'deliveries USING INDEX deliveries_due (connector=? AND state=? AND due_at<?)',
    ],
  ])('the statement for %s uses its index and scans no table', async (_, work, step) => {
    const plan = await planOf(work);
    expect(plan.join('\n')).toContain(step);
    expect(plan.filter((detail) => /^SCAN \w+$/.test(detail))).toEqual([]);
  });

  test.each([
    ['inquiries to send', () => dueForSubmission(db, claim)],
    ['inquiries to look for', () => uncertainDue(db, NOW, 100)],
    ['appointments to plan', () => dueForPlanning(db, NOW, 100)],
    ['the visits whose labels are queried after a loss', () => comingVisits(db, NOW)],
    ['whether calls of a specialty were made', () => hasMadeCalls(db, 'dental')],
  ])('the statement for %s needs no sorting, so it stops at its limit', async (_, work) => {
    expect((await planOf(work)).filter((detail) => detail.includes('TEMP B-TREE'))).toEqual([]);
  });
});

test('whether a specialty has inquiries to send is found without reading all of them', async () => {
  const plan = await planOf(() => waitingToSend(db, NOW));
  const tables = plan.filter((detail) => /\binquiries\b/.test(detail));
  expect(tables.map((detail) => detail.replace('COVERING ', ''))).toEqual([
    'SEARCH inquiries USING INDEX inquiries_due (state=?)',
    ...Array.from(
      { length: 3 },
      () => 'SEARCH inquiries USING INDEX inquiries_due (state=? AND specialty=?)',
    ),
  ]);
});

test('a change of many states reads no row but those that change', async () => {
  const ids = Array.from({ length: 64 }, (_, index) => index + 1);
  const step = { from: 'planned', to: 'withdrawn', reason: '' } as const;
  const plan = await planOf(() =>
    openWriteQueue(db).write((tx) => moveInquiries(tx, ids, step, NOW)),
  );
  expect(plan.filter((detail) => /^(SCAN|SEARCH)/.test(detail))).toEqual([
    'SCAN 64 CONSTANT ROWS',
    'SCAN given',
    'SEARCH inquiries USING INTEGER PRIMARY KEY (rowid=?)',
  ]);
});

test('the last read of each connector is found without reading the others', async () => {
  const steps = (await planOf(() => lastReads(db))).filter((detail) => /sources/.test(detail));
  expect(steps.length).toBeGreaterThan(2);
  for (const step of steps)
    expect(step).toMatch(/^SEARCH sources USING COVERING INDEX sources_completed/);
});

test('counting situations reads the appointments once, and all else by index', async () => {
  const plan = await planOf(() => countSituations(db, NOW));
  expect(plan.filter((detail) => /^SCAN appointments/.test(detail))).toHaveLength(1);
  expect(plan.filter((detail) => /^SCAN (i|l|d|n|newer|t)$/.test(detail))).toEqual([]);
});

test('the IDs of webhooks are found by the index of IDs', async () => {
  const plan = await planOf(() => openWriteQueue(db).write((tx) => takeKnown(tx)));
  expect(plan).toEqual([
    'SCAN inbox_unknown',
    'SEARCH calls USING INDEX sqlite_autoindex_calls_1 (service_id=?)',
  ]);
});

test('spending is summed from the index alone, at every send and every scrape', async () => {
  const plan = await planOf(() => spentBetween(db, NOW, NOW + 1));
  expect(plan).toEqual(['SEARCH calls USING COVERING INDEX calls_sent (sent_at>? AND sent_at<?)']);
});

test('costs are read by an index of the day of the call', async () => {
  const calls = (await planOf(() => callsBetween(db, NOW, NOW + 1))).join('\n');
  expect(calls).toBe(
    'SEARCH calls USING INDEX calls_sent (sent_at>? AND sent_at<?)\n' +
      'SEARCH inquiries USING INTEGER PRIMARY KEY (rowid=?)',
  );
  const duplicates = (await planOf(() => countDuplicates(db, NOW, NOW + 1))).join('\n');
  expect(duplicates).toContain('INDEX calls_sent');
  expect(duplicates).toContain('INDEX calls_inquiry (inquiry=?)');
  const planned = (await planOf(() => plannedDrafts(db))).join('\n');
  expect(planned).toBe('SEARCH inquiries USING INDEX inquiries_due (state=?)');
});

test('unread messages are found by their connector in order, and counted by index', async () => {
  const kept = [{ key: 'K', name: 'M', reply: '', text: 'T' }];
  const context = (tx: Tx) => ({ tx, connector: 'lab', now: NOW });
  await openWriteQueue(db).write((tx) =>
    keepMessages({ tx, connector: 'lab', now: NOW }, kept, new Map()),
  );
  const read = async () => {
    await lastUnread(db, 'lab');
    await openWriteQueue(db).write((tx) => beginReading(context(tx), { is_single: false }));
  };
  const plan = (await planOf(read)).join('\n');
  expect(plan).toContain('unread_messages USING INDEX unread_messages_connector (connector=?');
  expect(plan).toContain('unread_messages USING COVERING INDEX unread_messages_connector');
  expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
  const counted = (await planOf(() => unreadCounts(db))).join('\n');
  expect(counted).toMatch(
    /^.*SCAN unread_messages USING COVERING INDEX unread_messages_connector/m,
  );
  expect(counted).not.toMatch(/SCAN unread_messages$|TEMP B-TREE/m);
  const unread = { id: 1, key: 'K', name: 'M', text: 'T', received_at: NOW };
  const file = (tx: Tx) => fileSources(tx, 'lab', [unread]);
  const filed = (await planOf(() => openWriteQueue(db).write(file))).join('\n');
  expect(filed).toBe('SEARCH unread_messages USING INTEGER PRIMARY KEY (rowid=?)');
  const known = new Map([['K', { id: 1, key: 'K', bytes: 1 }]]);
  const again = (tx: Tx) => keepMessages({ tx, connector: 'lab', now: NOW }, kept, known);
  const found = (await planOf(() => openWriteQueue(db).write(again))).join('\n');
  expect(found).toContain(
    'unread_messages USING INDEX unread_messages_failed (connector=? AND key=?',
  );
  expect(found).toContain('unread_messages USING INTEGER PRIMARY KEY (rowid=?)');
  expect(found).not.toMatch(/SCAN/);
});

test('the oldest waiting appointment reads no delivery by its state', async () => {
  const plan = (await planOf(() => oldestWaiting(db))).join('\n');
  expect(plan).toContain('INDEX deliveries_appointment (appointment=? AND state=?)');
  expect(plan).not.toContain('deliveries_state');
});

describe('alerts and scrapes', () => {
  test.each([
    ['open alerts and messages', () => readAlerts(db), 'alert_messages USING INDEX'],
    [
      'what happened since the last scrape',
      () => changesSince(db, { audit: 0, record: 0 }),
      'audit USING INTEGER PRIMARY KEY (rowid>?)',
    ],
    [
      'entries of the attention list by reason',
      () => countAttention(db),
      'attention USING INDEX attention_',
    ],
  ])('the query for %s uses the index of open rows', async (_, work, step) => {
    const plan = await planOf(work);
    expect(plan.join('\n')).toContain(step);
    expect(plan.filter((detail) => /^SCAN \w+$/.test(detail))).toEqual([]);
  });
});

describe('the daily purge, the audit trail, and the access log', () => {
  const about = { subjects: ['appointment:1'], looked_at: ['x'], patients: ['y'] };
  test.each([
    ['answers', () => countOldAnswers(db, 'answers', NOW), 'INDEX answers_whole'],
    ['requests', () => countOldAnswers(db, 'requests', NOW), 'INDEX calls_whole'],
    ['recordings', () => countOldAnswers(db, 'recordings', NOW), 'INDEX records_linked'],
    [
      'names of files in the trail',
      () => openWriteQueue(db).write((tx) => oldNamedSubjects(tx, NOW)),
      'INDEX audit_subject (subject>? AND subject<?)',
    ],
    [
      'calls that no visit needs',
      () => oldUnneeded(db, NOW).execute(),
      'INDEX inquiries_due (state=? AND specialty=? AND visit_at<?)',
    ],
    [
      'the visits of a patient on hold',
      () => storedOfPatient(db, { connector: 'front-desk', patient_id: 'P-1' }),
      'INDEX appointments_patient (patient_key>? AND patient_key<?)',
    ],
    [
      'the calls of a patient on hold',
      () => storedOfPatient(db, { connector: 'front-desk', patient_id: 'P-1' }),
      'INDEX sqlite_autoindex_inquiries_1 (need_base>? AND need_base<?)',
    ],
    ['what people did', () => readTrail(db, { from: 0, before: NOW }, 9), 'INDEX audit_actor'],
    ['looks', () => readTrail(db, { from: 0, before: NOW }, 9), 'INDEX access_log_at'],
    [
      'what became of a patient',
      () => readTrail(db, { from: 0, before: NOW, about }, 9),
      'INDEX audit_subject',
    ],
    ['the ends of the chains', () => readHeads(db), 'SCAN audit'],
  ])('the purge and the logs find %s by an index', async (_, work, step) => {
    expect((await planOf(work)).join('\n')).toContain(step);
  });

  test('no other statement of the purge and the logs scans a table', async () => {
    const work = async () => {
      for (const kind of ['answers', 'requests', 'recordings'] as const)
        await countOldAnswers(db, kind, NOW);
      await readTrail(db, { from: 0, before: NOW, about }, 9);
    };
    expect((await planOf(work)).filter((step) => /^SCAN (?!l\b|h\b)\w+$/.test(step))).toEqual([]);
  });
});

describe('the commands that read', () => {
  const open = 'INDEX appointments_open';
  test.each([
    ['the list', () => listAppointments(db, {}, 50, NOW), open],
    ['what waits', () => listAppointments(db, { situation: 'waiting' }, 50, NOW), open],
    ['a visit', () => findSubject(db, 'front-desk:A-1'), 'appointments_upcoming (connector>?'],
    ['closed visits', () => countSituations(db, NOW), 'COVERING INDEX appointments_closed'],
    ['open visits', () => countSituations(db, NOW), open],
    [
      'named payers',
      () => Array.fromAsync(namedPayerPages(db)),
      `${open} (closed_reason=? AND connector>?)`,
    ],
  ])('the commands find %s by index', async (_, work, step) => {
    const plan = await planOf(work);
    expect(plan.join('\n')).toContain(step);
    expect(plan.filter((detail) => /^SCAN appointments$/.test(detail))).toEqual([]);
  });

  test('a page of named payers needs no sorting', async () => {
    const plan = await planOf(() => Array.fromAsync(namedPayerPages(db)));
    expect(plan.filter((detail) => detail.includes('TEMP B-TREE'))).toEqual([]);
  });
});

describe('the office page scans no table', () => {
  test.each([
    [
      'a day',
      () => Array.fromAsync(visitPages(db, { from: NOW, to: NOW + 1 }, NOW)),
      'INDEX appointments_day',
    ],
    ['the days', () => visitTimes(db, { from: NOW, to: NOW + 1 }), 'INDEX appointments_day'],
    ['the week', () => dayCounts(db, { from: NOW, to: NOW + 1 }, NOW), 'INDEX appointments_day'],
    ['a session', () => findSession(db, 'x'), 'office_sessions USING INDEX'],
    [
      'who looked',
      () => looksAt(db, { connector: 'c', source_id: 'A-1' }, 20),
      'INDEX access_log_subject',
    ],
  ])('the office page reads by index for %s', async (_, work, step) => {
    const plan = await planOf(work);
    expect(plan.join('\n')).toContain(step);
    const whole = plan.filter((detail) => /^SCAN (?!halts)\w+$/.test(detail));
    expect(whole).toEqual([]);
  });
});
