/** The demo, as a new user runs it. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { deliverySchema } from '../../src/records/delivery.ts';
import { readCsv } from '../support/csv-text.ts';

const ROOT = join(import.meta.dirname, '../..');
const TIMEOUT_MS = 180_000;

const eligd = async (...args: string[]) => {
  const command = [join(ROOT, 'src/main.ts'), ...args];
  return (await promisify(execFile)(process.execPath, command, { cwd: ROOT })).stdout;
};

/** Each procedure of a visit with its standing and reasons, from the JSON next to the CSV. */
function standings(outbox: string, id: string): string[] {
  const documents = readdirSync(join(outbox, 'records')).map((name) =>
    deliverySchema.parse(JSON.parse(readFileSync(join(outbox, 'records', name), 'utf8'))),
  );
  const found = documents.find(({ appointment }) => appointment.id === id);
  return (found?.procedures ?? []).map(({ code, standing, reasons }) =>
    [code, standing, ...reasons.map((reason) => reason.code)].join(' '),
  );
}

/** The demo's visits that need an action, and how its list says so. */
const TO_ACT_ON: [id: string, reason: string, says: RegExp][] = [
  ['7033', 'maximum_used_up', /Needs attention\. .*the maximum is used up/],
  ['7034', 'not_eligible', /Needs attention\. .*The plan is NOT ACTIVE/],
  ['7035', 'not_covered', /Needs attention\. .*Not covered/],
  ['7036', 'out_of_network', /Needs attention\. .*Out of network, and the plan pays nothing/],
];

test(
  'the demo lists the visits that need an action',
  async () => {
    const told = await eligd('demo', '--exit');
    const folder = /^eligd demo, in (.+)$/m.exec(told)?.[1] ?? '';
    const outbox = join(folder, 'dropbox/outbox');
    try {
      const listed = readCsv(readFileSync(join(outbox, 'attention.csv'), 'utf8'));
      const as_of = listed[0]?.as_of ?? '';
      const visits = readCsv(
        readFileSync(join(folder, 'dropbox/processed/appointments.csv'), 'utf8'),
      );
      for (const [id, reason, says] of TO_ACT_ON) {
        expect(await eligd('explain', id, '--config', join(folder, 'eligd.yaml'))).toMatch(says);
        // On a slow machine, a visit may be over at the end of the demo, and no longer listed.
        const at = visits.find((line) => line.appointment_id === id)?.appointment_at ?? '';
        if (at > as_of.replace('T', ' '))
          expect(listed).toContainEqual(expect.objectContaining({ appointment_id: id, reason }));
      }
      const written = readdirSync(outbox).filter((name) => name.startsWith('eligibility-'));
      const lines = written.flatMap((name) => readCsv(readFileSync(join(outbox, name), 'utf8')));
      // The crown of 7033 costs what the practice charges for it.
      expect(lines.find((line) => line.appointment_id === '7033')?.collect).toBe('$1,380.00');
      const with_answer = lines.filter(({ outcome }) => outcome === 'successful');
      expect(with_answer.filter(({ collect }) => collect === '')).toEqual([]);
      expect(standings(outbox, '7033')).toEqual(['D2740 not_payable maximum_used_up']);
      expect(standings(outbox, '7036')[0]).toMatch(/^D6010 not_payable out_of_network/);
      // Its days are short, but its work takes as long as on any machine.
      expect(readFileSync(join(folder, 'eligd.log'), 'utf8')).not.toMatch(/hangs/);
    } finally {
      if (folder !== '') rmSync(folder, { recursive: true, force: true });
    }
  },
  TIMEOUT_MS,
);
