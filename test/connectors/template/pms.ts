/** The PMS of the template, played by the test: a folder with files of appointments. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestPms } from '../../../connectors/conformance/harness.ts';

export async function makePms(): Promise<TestPms> {
  const folder = await mkdtemp(join(tmpdir(), 'eligd-template-'));
  for (const part of ['in', 'out']) await mkdir(join(folder, part));
  const drop = (name: string, text: string) => writeFile(join(folder, 'in', `${name}.json`), text);
  return {
    config: { folder },
    offer: async ({ name, appointments, broken_items = [] }) => {
      const items: unknown[] = appointments.map((one) => ({
        id: one.source_id,
        start: one.starts_at,
        cancelled: one.status === 'cancelled',
        patient: one.patient,
        insurance: one.coverages,
      }));
      for (const [index, start] of broken_items.entries())
        items.splice(index + 1, 0, { id: '', start });
      await drop(name, JSON.stringify(items));
    },
    offerGarbage: (text) => drop('garbage', text),
    unacknowledged: async () => (await readdir(join(folder, 'in'))).length,
    written: async () => {
      const names = (await readdir(join(folder, 'out'))).sort();
      return Promise.all(
        names.map(async (name) => [name, await readFile(join(folder, 'out', name), 'utf8')]),
      );
    },
    close: () => rm(folder, { recursive: true }),
  };
}
