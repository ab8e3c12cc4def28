/** A connector outside the tree, in JavaScript and TypeScript, with `eligd/connector`. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEligd } from '../support/process.ts';
import { startService } from '../support/service.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const DAY_MS = 86_400_000;
/** More days than any holiday lasts: the insurance company can be called before the visit. */
const AHEAD_DAYS = 6;

const BODY = `
const config = z.strictObject({ is_away: z.boolean().default(false) });
const visit = {
  source_id: 'V-1', status: 'booked',
  starts_at: new Date(Date.now() + ${AHEAD_DAYS} * ${DAY_MS}).toISOString(),
  patient: { id: 'P-1', first_name: 'Zoe', last_name: 'Quill', birth_date: '1987-02-14' },
  coverages: [
    {
      carrier: 'Delta', payor_id: '05030', member_id: 'M0012345', group_id: '0012345',
      subscriber: null,
    },
  ],
  provider: {
    rendering_npi: '1234567893', billing_npi: '', tax_id: '', is_specialist: null,
    in_network: null,
  },
  location: null, specialty: 'dental', procedure_codes: ['D1110'], diagnosis_codes: [],
  problems: [],
}`;

const CONNECTOR = `
  name: 'mypms',
  config,
  events: {
    mypms_read: { level: 'info', fields: ['connector', 'messages'], means: 'It was read.' },
  },
  create: ({ is_away }, env) => ({
    pull: async ({ accept }) => {
      if (is_away) throw new ConnectorError('transient', { what: 'It is away.', next: 'Wait.' });
      await accept({
        source: { key: 'one', name: 'one', is_last: true, completeness: 'changes' },
        appointments: [visit], rejected: [], cursor: '1',
      });
      env.log('mypms_read', { connector: env.connector_id, messages: 1 });
      env.log('mypms_forgotten');
    },
    deliver: async ({ deliveries }) => deliveries.map(({ key }) => ({ key, outcome: 'delivered' })),
    check: async () => [{ ok: true, what: 'It is there.' }],
  }),
`;

const SOURCES = {
  'index.js': `import { ConnectorError } from 'eligd/connector';
import { z } from 'zod';
${BODY};
export default {${CONNECTOR}};
`,
  'index.ts': `import { ConnectorError, type ConnectorType, type PullBatch } from 'eligd/connector';
import { z } from 'zod';
${BODY} satisfies PullBatch['appointments'][number];
const mypms: ConnectorType<z.infer<typeof config>> = {${CONNECTOR}};
export default mypms;
`,
};

let folder: string;

/** The files that `npm install` of the packed eligd leaves in a folder, without packing. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'eligd-outside-'));
  const eligd = join(folder, 'node_modules/eligd');
  mkdirSync(eligd, { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(eligd, 'package.json'));
  const project = join(ROOT, 'tsconfig.contract.json');
  const out = join(eligd, 'dist/contract');
  execFileSync(process.execPath, [TSC, '--project', project, '--outDir', out]);
  for (const name of ['zod', 'undici', '@types'])
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'package.json'), '{ "name": "mypms", "type": "module" }');
  for (const [file, source] of Object.entries(SOURCES)) writeFileSync(join(folder, file), source);
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true }));

// The compiler reads the contract and zod twice.
test('the contract has the types that a connector needs', { timeout: 120_000 }, () => {
  expect(typecheck('index.ts')).toBe('');
  writeFileSync(join(folder, 'wrong.ts'), SOURCES['index.ts'].replace("'transient'", "'perhaps'"));
  expect(typecheck('wrong.ts')).toContain('"perhaps"');
});

/** The messages of tsc about a file, in strict mode. */
function typecheck(file: string): string {
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024'];
  const more = ['--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
  const args = [TSC, ...options, ...more, '--types', 'node', file];
  return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).stdout;
}

test.each(Object.keys(SOURCES))('%s works with "once"', async (file) => {
  const service = await startService();
  const { stdout, stderr, code } = await once(service.url, file);
  expect(code, stderr).toBe(0);
  expect(
    (await service.ledger()).map(({ external_id }) => external_id),
    stdout + stderr,
  ).toEqual(['V-1']);
  const events = eventsOf(stderr);
  expect(events).toContain('mypms_read');
  expect(events).toContain('event_unknown');
  expect(events).not.toContain('stage_failed');
});

test.each(Object.keys(SOURCES))('a ConnectorError of %s counts as one', async (file) => {
  const service = await startService();
  const events = eventsOf((await once(service.url, file, 'is_away: true')).stderr);
  expect(events).toContain('connector_failed');
  expect(events).not.toContain('stage_failed');
});

async function once(base_url: string, file: string, option = 'is_away: false') {
  const config = join(folder, 'eligd.yaml');
  writeFileSync(
    config,
    `clinic: { name: A, time_zone: America/Chicago, specialty: dental,
  tax_id: "123456789", billing_npi: "1234567893" }
service: { base_url: "${base_url}", auth: oauth, settle_seconds: 0 }
connectors: [{ id: desk, type: ./${file}, ${option} }]
state: { path: ./state/${file}-${option.length}.db }
log: { level: info }
`,
  );
  return await startEligd(['once', '--config', config], {
    ELIGD_SERVICE_USERNAME: 'clinic',
    ELIGD_SERVICE_PASSWORD: 'sandbox',
    ELIGD_LOG_LEVEL: 'info',
  }).ended;
}

function eventsOf(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => (JSON.parse(line) as { event: string }).event);
}
