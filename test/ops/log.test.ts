import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { EVENTS as CSV } from '../../connectors/csv/events.ts';
import { EVENTS as FHIR } from '../../connectors/fhir/events.ts';
import { EVENTS as HL7 } from '../../connectors/hl7/events.ts';
import { type FieldsOf, LOG_FIELDS } from '../../src/domain/env.ts';
import { EVENTS, type EventName } from '../../src/domain/events.ts';
import { isJournal } from '../../src/ops/journal.ts';
import { createLog, logLevel, prettyLine } from '../../src/ops/log.ts';

function capture(options: { level?: 'debug' | 'info' | 'warn' | 'error'; pretty?: boolean } = {}) {
  const lines: string[] = [];
  const to = { write: (line: string) => void lines.push(line) };
  return {
    lines,
    log: createLog({
      level: options.level ?? 'info',
      pretty: options.pretty ?? false,
      to,
      now: () => 0,
    }),
  };
}

describe('the log', () => {
  test('a log line has time, level, event, and fields as one line of JSON', () => {
    const { lines, log } = capture();
    log('daemon_started', { version: '1.2.3', attempts: 3 });
    expect(lines).toEqual([
      '{"level":"info","time":"1970-01-01T00:00:00.000Z","event":"daemon_started",' +
        '"version":"1.2.3","attempts":3}\n',
    ]);
  });

  test('the log drops fields that are not listed and values that are not plain', () => {
    const { lines, log } = capture();
    const smuggled = {
      patient_name: 'Jane Roe',
      event: 'x',
      level: 'y',
      reason: { name: 'Jane Roe' },
      path: ['Jane Roe'],
      count: 7,
      attempts: 1,
    };
    log('daemon_started', smuggled as unknown as FieldsOf<'daemon_started'>);
    expect(JSON.parse(lines[0]!)).toEqual({
      level: 'info',
      time: '1970-01-01T00:00:00.000Z',
      event: 'daemon_started',
      attempts: 1,
    });
  });

  test('the log shortens a value that is too long to be a listed one', () => {
    const { lines, log } = capture();
    log('daemon_started', { path: 'x'.repeat(5000) });
    expect(lines[0]!.length).toBeLessThan(500);
  });

  test('the log leaves out lines below its level', () => {
    const { lines, log } = capture({ level: 'error' });
    log('daemon_started');
    log('webhook_exposed');
    expect(lines).toEqual([]);
  });

  test('a warning or an error has the catalog’s meaning and next step', () => {
    const { lines, log } = capture();
    log('stage_failed', { stage: 'plan', error_code: 'SQLITE_FULL' });
    expect(JSON.parse(lines[0]!)).toMatchObject({
      what: EVENTS.stage_failed.means,
      next: EVENTS.stage_failed.next,
    });
  });

  test('each line for the journal begins with the priority of syslog', () => {
    const lines: string[] = [];
    const log = createLog({
      level: 'debug',
      priorities: true,
      to: { write: (line) => void lines.push(line) },
    });
    for (const [event, { level }] of Object.entries(EVENTS)) {
      log(event as EventName);
      expect(lines.pop()).toMatch(
        { debug: /^<7>\{/, info: /^<6>\{/, warn: /^<4>\{/, error: /^<3>\{/ }[level],
      );
    }
    expect(isJournal(1, {})).toBe(false);
    expect(isJournal(1, { JOURNAL_STREAM: '0:0' })).toBe(false);
  });

  test('the catalog has only allowed fields, and every allowed field', () => {
    const events = [EVENTS, CSV, FHIR, HL7].flatMap((each) => Object.values(each));
    expect([...new Set(events.flatMap(({ fields }) => fields))].sort()).toEqual(
      LOG_FIELDS.toSorted(),
    );
  });

  test.each([
    ['made_up', 'made_up'],
    ['Jane Roe, 1987-02-14', null],
    ['jane', null],
  ])('the log says that it does not know the event "%s", and never throws', (event, event_name) => {
    const { lines, log } = capture();
    log(event as EventName, { reason: 'Jane Roe' } as object);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 'warn',
      event: 'event_unknown',
      event_name,
    });
    expect(lines.join()).not.toContain('Jane Roe');
  });

  test('no field is called count or total, which could mean anything', () => {
    const vague = ['count', 'total'];
    expect(LOG_FIELDS.filter((name) => vague.includes(name))).toEqual([]);
  });

  test('the log is readable in a terminal, in one line whatever a value contains', () => {
    const { lines, log } = capture({ pretty: true });
    log('daemon_started', { version: '1.2.3', path: 'two\nlines' });
    expect(stripVTControlCharacters(lines[0]!)).toBe(
      '00:00:00.000 info  daemon_started version=1.2.3 path="two\\nlines"\n',
    );
    expect(prettyLine('{"level":"warn","time":"1970-01-01T00:00:00.000Z","event":"e"}')).toContain(
      'e',
    );
  });

  test('the environment overrides the configured log level', () => {
    expect(logLevel('info', {})).toBe('info');
    expect(logLevel('info', { ELIGD_LOG_LEVEL: 'DEBUG' })).toBe('debug');
    expect(logLevel('warn', { ELIGD_LOG_LEVEL: 'loud' })).toBe('warn');
  });
});
