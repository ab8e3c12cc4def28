import { expect, test } from 'vitest';
import { ContactLog } from '../../src/domain/service-contact.ts';

const NOW = Date.parse('2030-01-07T15:00:00Z');
const MINUTE = 60_000;
const limited = { class: 'unsent', cause: 'rate_limited', status: 429 };

test('a request to wait is not trouble; ten minutes of nothing else is', () => {
  const log = new ContactLog();
  log.note(null, NOW);
  expect(log.note(limited, NOW + MINUTE)).toBe(false);
  log.note(limited, NOW + 9 * MINUTE);
  expect(log.current().trouble).toBeNull();
  log.note(limited, NOW + 11 * MINUTE);
  log.note(limited, NOW + 12 * MINUTE);
  expect(log.current().trouble).toMatchObject({ kind: 'away', since: NOW + MINUTE });
  expect(log.note(null, NOW + 13 * MINUTE)).toBe(true);
  expect(log.current()).toEqual({ ok_at: NOW + 13 * MINUTE, trouble: null });
});

test('an answer in between starts the ten minutes again', () => {
  const log = new ContactLog();
  log.note(limited, NOW);
  log.note(null, NOW + 5 * MINUTE);
  log.note(limited, NOW + 6 * MINUTE);
  log.note(limited, NOW + 12 * MINUTE);
  expect(log.current().trouble).toBeNull();
});
