import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { builtInTypes } from '../../src/ops/built-in-connectors.ts';
import { parseConfig } from '../../src/ops/config.ts';
import { loadConnectorType } from '../../src/ops/connectors.ts';
import { createEnv } from '../../src/ops/env.ts';
import { createLog } from '../../src/ops/log.ts';
import { createConnectors } from '../../src/ops/open-connectors.ts';
import { openSecrets } from '../../src/ops/secrets.ts';

let root: string;

function addConnector(path: string, source: string): string {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), source);
  return join(root, path);
}

const GOOD = `export default {
  name: 'good',
  config: { safeParse: (data) => ({ success: true, data }) },
  create: (config, env) => ({
    config, id: env.connector_id, zone: env.time_zone,
    path: env.resolvePath('./a'), token: env.secret('token'),
  }),
};`;

const CONFIG = (type: string, option = '') => `
clinic: { name: A, time_zone: America/Chicago, specialty: dental,
  tax_id: "123456789", billing_npi: "1234567893" }
service: { base_url: http://127.0.0.1:1, auth: oauth }
connectors: [{ id: one, type: ${type}${option === '' ? '' : `, ${option}`} }]
state: { path: a.db }
`;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'eligd-connectors-'));
  addConnector('connectors/good/index.ts', GOOD);
  addConnector('connectors/broken/index.ts', "throw new TypeError('no');");
  addConnector('connectors/empty/index.ts', 'export default { name: "empty" };');
  addConnector('connectors/template/index.ts', GOOD);
  addConnector('connectors/template-cursor/index.ts', GOOD);
  mkdirSync(join(root, 'connectors/notes'));
});
afterEach(() => rmSync(root, { recursive: true }));

describe('connectors', () => {
  test('connectors are the folders with an index.ts, except the templates', () => {
    expect(builtInTypes(root)).toEqual(['broken', 'empty', 'good']);
    expect(builtInTypes(join(root, 'nowhere'))).toEqual([]);
  });

  test('connectors are loaded by name and by path', async () => {
    expect((await loadConnectorType('good', root)).name).toBe('good');
    expect((await loadConnectorType(addConnector('mine/connector.js', GOOD), root)).name).toBe(
      'good',
    );
  });

  test.each([
    [
      'god',
      'Connector "god" does not exist. The connectors are: broken, empty or good. Did you mean ' +
        '"good"?',
    ],
    ['banana', 'Use one of these, or the path of your own module.'],
    ['broken', 'failed: TypeError: no.'],
    ['empty', 'does not have name, config, and create.'],
    ['/nowhere/index.ts', 'There is no such file.'],
  ])('a connector is refused with the reason: %s', async (type, told) => {
    const refused = loadConnectorType(type, root);
    await expect(refused).rejects.toThrow(told);
    await expect(refused).rejects.toMatchObject({ kind: 'configuration' });
  });

  test.each([
    ['{ bad_file_read: { level: "info", fields: [], means: "x" } }', 'must begin with "good_"'],
    ['{ good_Jane: { level: "info", fields: [], means: "x" } }', 'lowercase letters'],
    [
      '{ good_seen: { level: "info", fields: ["patient_name"], means: "x" } }',
      'its event "good_seen" has a bad fields.0',
    ],
    [
      '{ good_seen: { level: "warn", fields: [], means: "x" } }',
      'its event "good_seen" has a bad next',
    ],
    ['{ good_seen: null }', 'its event "good_seen" has a bad description'],
    ['7', 'its "events" are not an object'],
  ])('a connector with events that no log may have is refused: %s', async (events, told) => {
    const source = GOOD.replace("name: 'good',", `name: 'good', events: ${events},`);
    const path = addConnector(`mine/${Math.random()}.js`, source);
    await expect(loadConnectorType(path)).rejects.toThrow(told);
  });

  test('connectors log their declared events, and others are marked as unknown', async () => {
    const source = `export default {
      name: 'mypms',
      events: { mypms_read: { level: 'info', fields: ['connector', 'files'], means: 'x' } },
      config: { safeParse: (data) => ({ success: true, data }) },
      create: (config, env) => ({
        pull: async () => {
          env.log('mypms_read', { connector: 'one', files: 3, patient_name: 'Jane Roe' });
          env.log('mypms_lost', { patient_name: 'Jane Roe' });
          env.log('daemon_stopped');
          env.log('Jane Roe');
          env.log();
        },
      }),
    };`;
    const path = addConnector('mine/mypms.js', source);
    const config = await parseConfig(CONFIG(path), join(root, 'eligd.yaml'));
    const lines: string[] = [];
    const log = createLog({ level: 'info', to: { write: (line) => void lines.push(line) } });
    const means = {
      secrets: openSecrets(root, {}),
      journal: () => ({ read: async () => null, write: async () => {} }),
    };
    const [made] = await createConnectors(config, createEnv({ log }), means);
    await made?.connector.pull?.({
      cursor: null,
      accept: async () => {},
      isAccepted: async () => false,
      signal: new AbortController().signal,
    });
    const said = lines
      .map((line) => JSON.parse(line))
      .map(({ event, event_name, files }) => ({ event, event_name, files }));
    expect(said).toEqual([
      { event: 'mypms_read', files: 3 },
      { event: 'event_unknown', event_name: 'mypms_lost' },
      { event: 'event_unknown', event_name: 'daemon_stopped' },
      { event: 'event_unknown', event_name: null },
      { event: 'event_unknown', event_name: null },
    ]);
    expect(lines.join()).not.toContain('Jane Roe');
  });

  test('connectors get their ID, the time zone, and paths relative to the file', async () => {
    const source = CONFIG('./connectors/good/index.ts', 'any: 1');
    const schema = async () => ({ config: (await import('zod')).z.looseObject({}) });
    const config = await parseConfig(source, join(root, 'eligd.yaml'), schema);
    const means = {
      secrets: openSecrets(root, { ELIGD_ONE_TOKEN: 'abc' }),
      journal: () => ({ read: async () => null, write: async () => {} }),
    };
    const [made] = await createConnectors(config, createEnv({ log: () => {} }), means);
    expect(made).toMatchObject({ id: 'one', type: join(root, 'connectors/good/index.ts') });
    expect(made?.connector).toMatchObject({
      config: { any: 1 },
      id: 'one',
      zone: 'America/Chicago',
      path: join(root, 'a'),
    });
    expect(made?.connector).toMatchObject({ token: { name: 'ELIGD_ONE_TOKEN', value: 'abc' } });
  });
});
