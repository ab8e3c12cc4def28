import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectorSuite } from '../../connectors/conformance/suite.ts';
import template from '../../connectors/template/index.ts';

connectorSuite('template', {
  type: template,
  makePms: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'eligd-template-'));
    for (const part of ['in', 'out']) await mkdir(join(folder, part));
    return {
      config: { folder },
      offer: async ({ name, appointments, broken_items = 0 }) => {
        const items: unknown[] = appointments.map((one) => ({
          id: one.source_id,
          start: one.starts_at,
          cancelled: one.status === 'cancelled',
          patient: one.patient,
          insurance: one.coverages,
        }));
        for (let i = 0; i < broken_items; i += 1) items.splice(i + 1, 0, { id: '', start: 'soon' });
        await writeFile(join(folder, 'in', `${name}.json`), JSON.stringify(items));
      },
      unacknowledged: async () => (await readdir(join(folder, 'in'))).length,
      written: async () => {
        const names = (await readdir(join(folder, 'out'))).sort();
        return Promise.all(
          names.map(async (name) => [name, await readFile(join(folder, 'out', name), 'utf8')]),
        );
      },
      close: () => rm(folder, { recursive: true }),
    };
  },
});
