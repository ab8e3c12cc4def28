/** Each kind of data has its own age limit. "Deleted" means gone. A legal hold keeps everything. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, SqliteDialect } from 'kysely';
import { expect, test } from 'vitest';
import { checkChain } from '../../src/store/bookkeeping/chain-check.ts';
import { purge } from '../../src/store/bookkeeping/purge.ts';
import { openSqlite } from '../../src/store/engine/driver.ts';
import { lockInstance } from '../../src/store/engine/instance-lock.ts';
import { openStore } from '../../src/store/engine/store.ts';
import type { Tables } from '../../src/store/engine/tables.ts';
import { openWriteQueue } from '../../src/store/engine/write-queue.ts';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

const NAME = 'Xanthippe Quillfeather';
/** The defaults. Other tests keep files, because their clock is years ahead of the disk's. */
const DEFAULTS = { processed_days: 90, rejected_days: 90, outbox_days: 90 };
const LIMITS = ['answers', 'requests', 'recordings', 'logs'] as const;

/**
 * A week of answered visits, with files and rows as old as the machine's clock says. `corrected`:
 * those whose member ID changes after the call.
 */
async function clinicOf(count: number, corrected: readonly number[] = []) {
  const machine = setMachineClock(Date.now());
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: { retention: DEFAULTS } });
  const named = visits(count, (index) => ({
    patient_name: `${NAME}${index}`,
    member_id: `ACTIVE8800${index}`,
    // After any holiday: the insurance company can be called before the visit.
    appointment_at: new Date(machine.now() + (6 * 24 + index) * 3_600_000)
      .toISOString()
      .slice(0, 16),
  }));
  clinic.drop(`${NAME} 1970-01-01.csv`, exportOf(named));
  clinic.drop('Wendelin Rejected 1980-02-02.csv', 'nothing,of,use\n1,2,3\n');
  await clinic.once();
  if (corrected.length > 0) {
    const changed = corrected.map((index) => ({ ...named[index]!, member_id: `ACTIVE99${index}` }));
    clinic.drop('corrected.csv', exportOf(changed));
    await clinic.once();
  }
  await service.advance({ days: 8 });
  machine.pass({ days: 8 });
  await clinic.once();
  return { machine, service, clinic, named };
}

const database = (clinic: Clinic) => join(clinic.state, 'eligd.db');

function bytesOf(clinic: Clinic): Buffer {
  const names = readdirSync(clinic.state).filter((name) => name.startsWith('eligd.db'));
  return Buffer.concat(names.map((name) => readFileSync(join(clinic.state, name))));
}

const part = (clinic: Clinic, name: string) => join(clinic.folder, 'dropbox', name);
const files = (clinic: Clinic, name: string) =>
  readdirSync(part(clinic, name)).filter((each) => !each.startsWith('.'));

test('purge does not say "Deleted" while a reader keeps the data on the disk', async () => {
  const { clinic, machine } = await clinicOf(3);
  machine.pass({ days: 70 });
  const reader = openSqlite(database(clinic), { readonly: true });
  reader.exec('begin');
  reader.prepare('select count(*) from appointments').get();
  const kept = await clinic.run('purge', '--older-than', '60');
  expect(kept.code).toBe(75);
  expect(kept.stdout).not.toContain('Deleted');
  expect(kept.stderr).toMatch(/deleted data are still in its files[\s\S]*tries again daily/);
  expect(bytesOf(clinic).includes(`${NAME}0`)).toBe(true);
  reader.exec('commit');
  reader.close();
  const gone = await clinic.run('purge', '--older-than', '60');
  expect(gone).toMatchObject({ code: 0, stdout: expect.stringContaining('Deleted: ') });
  expect(bytesOf(clinic).includes(NAME)).toBe(false);
  expect(bytesOf(clinic).includes('Wendelin')).toBe(false);
});

test('purge does not rewrite a large database while eligd runs', async () => {
  const { clinic, machine } = await clinicOf(1);
  const raw = openSqlite(database(clinic));
  raw.exec('create table large (content blob); insert into large values (zeroblob(260000000))');
  raw.close();
  machine.pass({ days: 70 });
  const daemon = lockInstance(database(clinic));
  const kept = await clinic.run('purge', '--older-than', '60');
  expect(kept).toMatchObject({ code: 75, stdout: expect.stringMatching(/^Removed, but /) });
  expect(kept.stderr).toMatch(/stop eligd, run "eligd purge", and start eligd again/);
  daemon.release();
  const gone = await clinic.run('purge', '--older-than', '60');
  expect(gone).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Deleted: /) });
});

test('a purge that is tried again and deletes nothing does not rewrite again', async () => {
  const { clinic, machine } = await clinicOf(1);
  // SQLite counts each rewriting as a change of the schema.
  const rewritten = async () => {
    expect((await clinic.run('purge', '--older-than', '60')).code).toBe(0);
    const raw = openSqlite(database(clinic), { readonly: true });
    const count = raw.pragma('schema_version', { simple: true }) as number;
    raw.close();
    return count;
  };
  const first = await rewritten();
  machine.pass({ hours: 1 });
  expect(await rewritten()).toBe(first);
  machine.pass({ hours: 24 });
  expect(await rewritten()).toBe(first + 1);
  machine.pass({ days: 70 });
  const deleted = await rewritten();
  expect(deleted).toBe(first + 2);
});

test('purge deletes drop folder files by age and keeps those that people read', async () => {
  const { clinic, machine } = await clinicOf(2);
  const before = { outbox: files(clinic, 'outbox'), records: files(clinic, 'outbox/records') };
  expect(before.records).not.toEqual([]);
  machine.pass({ days: 70 });
  expect((await clinic.run('purge')).code).toBe(0);
  expect(files(clinic, 'processed')).toHaveLength(1);
  machine.pass({ days: 21 });
  const dry = JSON.parse((await clinic.run('purge', '--dry-run', '--json')).stdout);
  const counts = Object.fromEntries(
    dry.kinds.map(({ kind, count }: { kind: string; count: number }) => [kind, count]),
  );
  expect(counts).toMatchObject({ processed: 1, visits: 0, answers: 0, logs: 0 });
  expect(counts.rejected).toBeGreaterThan(0);
  expect(files(clinic, 'processed')).toHaveLength(1);
  const { stdout } = await clinic.run('purge');
  const gone = counts.processed + counts.rejected + counts.outbox;
  expect(stdout).toContain(`Also: ${gone} files in drop folders.`);
  for (const name of ['processed', 'rejected', 'outbox/records'])
    expect(files(clinic, name)).toEqual([]);
  const stays = before.outbox.filter((name) => !/^(eligibility|claims)-/.test(name));
  expect(files(clinic, 'outbox')).toEqual(stays);
  expect(stays).toContain('attention.csv');
});

test('raw answers, requests, and recordings are deleted before the visit', async () => {
  const { clinic, machine } = await clinicOf(3);
  const raw = openSqlite(database(clinic), { readonly: true });
  const one = (text: string) => raw.prepare(text).pluck().get() as number;
  const links = 'select count(*) from records where instr(record, \'_url":"http\') > 0';
  expect(one(links)).toBeGreaterThan(0);
  expect(one("select count(*) from answers where raw <> 'null'")).toBe(3);
  machine.pass({ days: 100 });
  await clinic.run('purge');
  expect(one('select count(*) from calls where body is not null')).toBe(0);
  expect(one("select count(*) from answers where raw <> 'null'")).toBe(3);
  machine.pass({ days: 270 });
  await clinic.run('purge');
  expect(one("select count(*) from answers where raw <> 'null'")).toBe(0);
  expect(one(links)).toBe(0);
  expect(one('select count(*) from appointments')).toBe(3);
  raw.close();
  // The record still has the answer.
  const shown = JSON.parse((await clinic.run('show', '9001', '--patients', '--json')).stdout);
  expect(shown.inquiries[0].answer.record.calls[0].transcript_url).toBeNull();
  expect(shown.inquiries[0].answer.verdicts).not.toEqual([]);
});

test('a legal hold keeps everything about a patient until it ends', async () => {
  const { clinic, machine, named } = await clinicOf(3);
  const id = named[1]!.patient_id!;
  expect((await clinic.run('legal-hold', 'add', 'nobody')).code).toBe(1);
  expect((await clinic.run('legal-hold', 'add', id, '--reason', 'Audit')).code).toBe(0);
  expect((await clinic.run('legal-hold', 'list')).stdout).toMatch(/front-desk:.*Audit/);
  machine.pass({ days: 3_000 });
  expect((await clinic.run('purge')).stdout).toContain('Deleted: 2 appointments, 2 inquiries');
  expect(bytesOf(clinic).includes(`${NAME}1`)).toBe(true);
  expect(bytesOf(clinic).includes(`${NAME}0`)).toBe(false);
  expect(files(clinic, 'processed')).toHaveLength(1);
  const shown = JSON.parse((await clinic.run('show', '9002', '--patients', '--json')).stdout);
  expect(shown.inquiries[0].answer.record.calls[0].transcript_url).toMatch(/^http/);
  expect((await clinic.run('audit', 'verify')).code).toBe(0);

  expect((await clinic.run('legal-hold', 'remove', id)).code).toBe(0);
  expect((await clinic.run('legal-hold', 'remove', id)).code).toBe(1);
  expect((await clinic.run('purge')).stdout).toContain('Deleted: 1 appointments, 1 inquiries');
  for (const name of [NAME, 'Wendelin']) expect(bytesOf(clinic).includes(name)).toBe(false);
  expect(files(clinic, 'processed')).toEqual([]);
  const trail = JSON.parse((await clinic.run('audit', 'show', '--json')).stdout).entries;
  const holds = trail.filter(({ what }: { what: string }) => what.startsWith('legal_hold'));
  expect(holds.map(({ what }: { what: string }) => what)).toEqual(['legal_hold_ended']);
  expect((await clinic.run('audit', 'verify')).code).toBe(0);
});

test('a legal hold also keeps the call under a former member ID', async () => {
  const { clinic, machine, named } = await clinicOf(2, [0, 1]);
  const hold = ['legal-hold', 'add', named[1]!.patient_id!, '--reason', 'Audit'];
  expect((await clinic.run(...hold)).code).toBe(0);
  machine.pass({ days: 3_000 });
  expect((await clinic.run('purge')).stdout).toContain('Deleted: 1 appointments, 2 inquiries');
  expect(['ACTIVE88000', 'ACTIVE990'].some((id) => bytesOf(clinic).includes(id))).toBe(false);
  const raw = openSqlite(database(clinic), { readonly: true });
  const kept = (text: string) => raw.prepare(text).pluck().get();
  expect(kept("select count(*) from answers where raw like '%ACTIVE88001%'")).toBe(1);
  expect(kept('select count(*) from calls where body is not null')).toBe(2);
  expect((await clinic.run('audit', 'verify')).code).toBe(0);
});

/** The counts that a purge reports, by the kinds of its preview. */
async function purgedOf(clinic: Clinic) {
  const report = JSON.parse((await clinic.run('purge', '--json')).stdout);
  const { appointments, answers, requests, recordings, copies, log_entries, files: all } = report;
  return { visits: appointments, answers, requests, recordings, copies, logs: log_entries, all };
}

async function previewOf(clinic: Clinic) {
  const { kinds } = JSON.parse((await clinic.run('purge', '--dry-run', '--json')).stdout);
  const { processed, rejected, outbox, ...counts } = Object.fromEntries(
    kinds.map(({ kind, count }: { kind: string; count: number }) => [kind, count]),
  );
  return { ...counts, all: processed + rejected + outbox };
}

test('a dry run counts what the purge after it deletes, whatever the age and holds', async () => {
  const { clinic, machine, named } = await clinicOf(4, [0, 2]);
  const id = named[2]!.patient_id!;
  // Answers alone; then the visits too, with one on hold, then the logs, then everything.
  const rounds = [
    { days: 110 },
    { days: 270 },
    { days: 500, hold: 'add' },
    { days: 2_300 },
    { days: 1, hold: 'remove' },
    { days: 3_000 },
  ];
  const seen: Record<string, number> = {};
  for (const { days, hold } of rounds) {
    machine.pass({ days });
    if (hold !== undefined)
      expect((await clinic.run('legal-hold', hold, id, ...holdReason(hold))).code).toBe(0);
    const preview = await previewOf(clinic);
    expect(await purgedOf(clinic)).toEqual(preview);
    for (const [kind, count] of Object.entries(preview))
      seen[kind] = (seen[kind] ?? 0) + Number(count);
  }
  for (const kind of ['visits', 'answers', 'requests', 'recordings', 'logs', 'all'])
    expect(seen[kind], kind).toBeGreaterThan(0);
});

test('a dry run counts no answer to a former member ID that goes with its visit', async () => {
  const { clinic, machine } = await clinicOf(1, [0]);
  machine.pass({ days: 3_000 });
  const preview = await previewOf(clinic);
  expect(preview).toMatchObject({ visits: 1, answers: 0, requests: 0, recordings: 0 });
  expect(await purgedOf(clinic)).toEqual(preview);
});

const holdReason = (hold: string) => (hold === 'add' ? ['--reason', 'Audit'] : []);

test('a purge that dies at any statement is completed by the next one', async () => {
  const { clinic, machine } = await clinicOf(3);
  machine.pass({ days: 3_000 });
  const path = database(clinic);
  const dead = join(clinic.folder, 'dead');
  mkdirSync(dead, { mode: 0o700 });
  let copies = 0;
  const keep = () => {
    copies += 1;
    // The state that a power failure leaves at this moment.
    for (const ending of ['', '-wal'])
      if (existsSync(path + ending))
        copyFileSync(path + ending, join(dead, `${copies}.db${ending}`));
  };
  const raw = openSqlite(path);
  raw.pragma('wal_autocheckpoint = 0');
  raw.pragma('foreign_keys = on');
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: raw }), log: keep });
  const now = machine.now();
  const limits = { visits: now, ...Object.fromEntries(LIMITS.map((kind) => [kind, now])) };
  const whole = limits as Parameters<typeof purge>[1];
  const queue = openWriteQueue(db);
  await purge({ db, ...queue, close: async () => {} }, whole, now);
  await db.destroy();
  expect(copies).toBeGreaterThan(30);
  const seen = new Set<number>();
  for (let copy = 1; copy <= copies; copy += 1) {
    const store = await openStore(join(dead, `${copy}.db`));
    for (const log of ['audit', 'access_log'] as const)
      expect((await checkChain(store.db, log, [])).fault).toBeNull();
    const rows = async (table: 'appointments' | 'inquiries' | 'answers' | 'records') =>
      (await store.db.selectFrom(table).select('id').execute()).length;
    const counts = [
      await rows('appointments'),
      await rows('inquiries'),
      await rows('answers'),
      await rows('records'),
    ];
    // Either everything of a visit or nothing.
    expect(new Set(counts).size, counts.join(' ')).toBe(1);
    seen.add(counts[0] ?? -1);
    await purge(store, whole, now + 1);
    expect(await rows('appointments')).toBe(0);
    for (const log of ['audit', 'access_log'] as const)
      expect((await checkChain(store.db, log, [])).fault).toBeNull();
    await store.close();
  }
  expect([...seen].toSorted()).toEqual([0, 3]);
}, 60_000);
