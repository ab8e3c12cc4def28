import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AlertBook, type AlertRows } from '../../src/domain/alerts/book.ts';
import { ALERTS, type AlertCondition, type AlertName } from '../../src/domain/alerts/catalog.ts';
import { unreadableDatabase } from '../../src/domain/alerts/conditions.ts';
import { quietUntil } from '../../src/domain/alerts/quiet.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/time.ts';

const CHICAGO = 'America/Chicago';
const MONDAY_NOON = Date.parse('2030-01-07T18:00:00Z');
const NONE: AlertRows = { alerts: [], messages: [], next_id: 0 };
const NO_UNKNOWN: ReadonlySet<AlertName> = new Set();

function bookOf(rows = NONE): AlertBook {
  const targets = [
    { id: 'mail', level: 'soon' as const },
    { id: 'pager', level: 'urgent' as const },
  ];
  return new AlertBook(rows, { targets, quiet_hours: null, time_zone: CHICAGO }, () => 0);
}

const wrong = (name: AlertName, since: number, about = ''): AlertCondition => ({
  name,
  about,
  since,
  detail: '',
});

/** Judges, and sends everything that is due to both targets. */
function round(book: AlertBook, conditions: AlertCondition[], now: number): string[] {
  book.judge({ conditions, unknown: NO_UNKNOWN }, now);
  return ['mail', 'pager'].flatMap((target) => {
    const told = [];
    for (let due = book.due(target, now); due !== null; due = book.due(target, now)) {
      book.sent(due, now);
      told.push(`${target}: ${due.kind} ${book.alert(due.alert)?.name}`);
    }
    return told;
  });
}

describe('one problem', () => {
  const clock = (at: number) => [wrong('clock_wrong', MONDAY_NOON)].filter(() => at >= 0);

  test('a problem sends a message when it begins, once a day, and when it ends', () => {
    const book = bookOf();
    const told: string[] = [];
    for (let minute = 0; minute <= 60 * 60; minute += 1)
      told.push(...round(book, clock(0), MONDAY_NOON + minute * MINUTE_MS));
    for (let minute = 1; minute <= 60; minute += 1)
      told.push(...round(book, [], MONDAY_NOON + 60 * HOUR_MS + minute * MINUTE_MS));
    const of = (target: string) => told.filter((line) => line.startsWith(target));
    expect(of('mail')).toEqual([
      'mail: begin clock_wrong',
      'mail: reminder clock_wrong',
      'mail: reminder clock_wrong',
      'mail: end clock_wrong',
    ]);
    expect(of('pager')).toHaveLength(4);
  });

  test('a problem that comes and goes is one alert', () => {
    const book = bookOf();
    const told = [];
    for (let minute = 0; minute < 120; minute += 1)
      told.push(...round(book, minute % 9 < 5 ? clock(0) : [], MONDAY_NOON + minute * MINUTE_MS));
    expect(told).toEqual(['mail: begin clock_wrong', 'pager: begin clock_wrong']);
  });

  test('a budget that varies around its limit sends one message a day at most', () => {
    const book = bookOf();
    const told: string[] = [];
    for (let hour = 0; hour < 72; hour += 1) {
      const conditions = hour % 4 < 2 ? [wrong('budget_low', MONDAY_NOON)] : [];
      told.push(...round(book, conditions, MONDAY_NOON + hour * HOUR_MS));
    }
    expect(told.filter((line) => line === 'mail: begin budget_low')).toHaveLength(1);
    expect(told).toHaveLength(3);
  });

  test('a problem of unknown state has not ended', () => {
    const book = bookOf();
    round(book, clock(0), MONDAY_NOON);
    book.judge({ conditions: [], unknown: new Set(['clock_wrong']) }, MONDAY_NOON + DAY_MS / 2);
    expect(book.open()).toHaveLength(1);
  });

  test('a problem that is over within minutes sends nothing', () => {
    const book = bookOf();
    const away = [wrong('service_away', MONDAY_NOON)];
    expect(round(book, away, MONDAY_NOON + 5 * MINUTE_MS)).toEqual([]);
    expect(round(book, [], MONDAY_NOON + 20 * MINUTE_MS)).toEqual([]);
    expect(book.open()).toEqual([]);
  });

  test('the next process does not send the same message again', () => {
    const book = bookOf();
    round(book, clock(0), MONDAY_NOON);
    const rows = structuredClone(book.changes());
    book.stored(book.changes());
    expect(book.changes()).toMatchObject({ alerts: [], messages: [] });
    const next = bookOf({
      ...rows,
      messages: rows.messages.filter((each) => each.sent_at === null),
    });
    expect(round(next, clock(0), MONDAY_NOON + HOUR_MS)).toEqual([]);
    expect(next.open()).toHaveLength(1);
  });
});

test('a problem that follows from another one raises no alert', () => {
  const book = bookOf();
  const then = MONDAY_NOON - HOUR_MS;
  const conditions = [
    wrong('connector_cannot_read', then, 'front-desk'),
    wrong('connector_cannot_write', then, 'front-desk'),
    wrong('export_missing', then, 'front-desk'),
    wrong('export_missing', then, 'other'),
  ];
  book.judge({ conditions, unknown: NO_UNKNOWN }, MONDAY_NOON);
  expect(book.open().map(({ name, about }) => `${name} ${about}`)).toEqual([
    'connector_cannot_read front-desk',
    'export_missing other',
  ]);
});

test('a problem that follows from one that has just ended raises no alert either', () => {
  const book = bookOf();
  const then = MONDAY_NOON - HOUR_MS;
  const read = wrong('connector_cannot_read', then, 'front-desk');
  const write = wrong('connector_cannot_write', then, 'front-desk');
  const told = [
    ...round(book, [read, write], MONDAY_NOON),
    ...round(book, [write], MONDAY_NOON + 5 * MINUTE_MS),
    ...round(book, [], MONDAY_NOON + 9 * MINUTE_MS),
    ...round(book, [], MONDAY_NOON + 30 * MINUTE_MS),
  ];
  expect(told.filter((line) => line.includes('cannot_write'))).toEqual([]);
  expect(told.filter((line) => line.startsWith('mail'))).toEqual([
    'mail: begin connector_cannot_read',
    'mail: end connector_cannot_read',
  ]);
});

test.each([
  ['webhook_silent', 'subscription_elsewhere'],
  ['purge_missing', 'backup_missing'],
  ['database_unusable', 'database_damaged'],
] as const)('%s raises no separate alert next to %s', (consequence, cause) => {
  const book = bookOf();
  const both = [wrong(consequence, MONDAY_NOON), wrong(cause, MONDAY_NOON)];
  const told = round(book, both, MONDAY_NOON + HOUR_MS);
  expect(told.filter((line) => line.startsWith('mail'))).toEqual([`mail: begin ${cause}`]);
});

test.each([
  ['SQLITE_CORRUPT', 'database_damaged'],
  ['SQLITE_NOTADB', 'database_damaged'],
  ['SQLITE_READONLY', 'database_unusable'],
])('a database that says %s is the alert %s', (code, name) => {
  expect(unreadableDatabase(MONDAY_NOON, code).conditions).toMatchObject([{ name }]);
});

test('a target for urgent alerts gets nothing else', () => {
  expect(round(bookOf(), [wrong('disk_low', MONDAY_NOON)], MONDAY_NOON)).toEqual([
    'mail: begin disk_low',
  ]);
});

describe('quiet hours', () => {
  const night = { from: '18:00', to: '07:00', weekends: true };
  test.each([
    ['at noon', '2030-01-07T12:00', null],
    ['in the evening', '2030-01-07T22:00', '2030-01-08T07:00'],
    ['in the small hours', '2030-01-08T03:00', '2030-01-08T07:00'],
    ['at the end', '2030-01-08T07:00', null],
    ['on Friday evening', '2030-01-11T18:00', '2030-01-14T07:00'],
    ['on Sunday', '2030-01-13T12:00', '2030-01-14T07:00'],
    ['before the clock is set forward', '2030-03-09T22:00', '2030-03-11T07:00'],
  ])('%s', (_, at, until) => {
    const instant = (wall: string) => instantOf(wall);
    expect(quietUntil(night, CHICAGO, instant(at))).toBe(until === null ? null : instant(until));
  });
});

/** The instant of a wall time in Chicago. */
function instantOf(wall: string): number {
  const guess = Date.parse(`${wall}:00Z`);
  const shown = (at: number) =>
    new Date(at).toLocaleString('sv-SE', { timeZone: CHICAGO }).slice(0, 16).replace(' ', 'T');
  return [5, 6].map((hours) => guess + hours * HOUR_MS).find((at) => shown(at) === wall) ?? guess;
}

test('docs/alerts.md lists every alert as the code has it', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/alerts.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (urgent|soon) \| (.*) \|$/gm)];
  expect(
    Object.fromEntries(rows.map(([, name = '', level, title]) => [name, [level, title]])),
  ).toEqual(
    Object.fromEntries(
      Object.entries(ALERTS).map(([name, { level, title }]) => [name, [level, title]]),
    ),
  );
});
