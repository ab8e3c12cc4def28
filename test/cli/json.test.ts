import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TURNAROUND_CALLS_MIN } from '../../src/domain/turnaround.ts';
import { keepTurnaround } from '../../src/store/calls/turnarounds.ts';
import { openStore } from '../../src/store/engine/store.ts';
import { bench } from '../sandbox/harness.ts';
import { install } from './installation.ts';
import { differences, pathsOf } from './json-page.ts';

const EXPORT =
  'appointment_id,appointment_at,status,patient_id,carrier,member_id\nA-1,2020-01-02 ' +
  '09:00,booked,1,,\nA-2,2020-01-02 09:00,cancelled,2,,\nA-3,2099-01-02 09:00,booked,3,Cygna,7\n';

/** Enough calls to a payer for eligd to use what it learned. */
async function learn(path: string): Promise<void> {
  const store = await openStore(path);
  const took = { took_ms: 7_200_000, open_ms: 3_600_000 };
  for (let calls = 0; calls < TURNAROUND_CALLS_MIN; calls += 1)
    await store.write((tx) => keepTurnaround(tx, 'dental|benefits|CIGNA', took, 0));
  await store.close();
}

describe('docs/json.md', () => {
  test('docs/json.md documents the output of the commands that contact the service', async () => {
    const { sandbox, create, advance } = await bench();
    const id = await create('dental', { external_id: 'A-1' });
    await advance({ days: 30 });
    const clinic = install(sandbox.url, 'oauth', '', ', allow_insecure: false');
    mkdirSync(join(clinic.folder, 'dropbox/inbox'), { recursive: true, mode: 0o700 });
    writeFileSync(join(clinic.folder, 'dropbox/inbox/a.csv'), EXPORT);
    const url = ['--url', 'https://clinic.example/hook'];
    const commands = [
      ['once'],
      ['payers'],
      ['check'],
      ['inquiry', 'list'],
      ['inquiry', 'get', id],
      ['verification', id],
      ['subscription', 'set', ...url],
      ['purge'],
      ['backup', join(clinic.folder, 'copy.db')],
      ['restore', join(clinic.folder, 'copy.db')],
    ];
    for (const command of commands) {
      if (command[0] === 'payers') await learn(join(clinic.folder, 'state/eligd.db'));
      const { stdout, stderr, code } = await clinic.run([...command, '--json']);
      const value = JSON.parse(stdout) as { schema: string };
      expect(
        { command, code, ...differences(value.schema, new Set(pathsOf(value))) },
        stderr,
      ).toMatchObject({
        undocumented: [],
        unseen: [],
      });
    }
  }, 60_000);
});
