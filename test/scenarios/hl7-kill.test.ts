import { expect, test } from 'vitest';
import { soak } from '../soak/hl7-kill.ts';

test('a daemon that is killed while it receives loses and repeats nothing (G3)', async () => {
  const {
    duration_ms: _,
    sent_again,
    unread_when_killed,
    ...result
  } = await soak({ messages: 3000, connections: 8, kills: 2 });
  expect(result).toEqual({
    kills: 2,
    acknowledged: 3000,
    stored_messages: 3000,
    stored_appointments: 3000,
    lost: [],
    twice: 0,
  });
  expect(sent_again).toBeGreaterThan(0);
  expect(unread_when_killed).toBeGreaterThan(0);
}, 60_000);
