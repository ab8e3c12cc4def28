import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/ops/config.ts';
import { run } from './capture.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eligd-config-'));
  file = join(folder, 'eligd.yaml');
  copyFileSync(resolve(import.meta.dirname, '../../config/minimal.yaml'), file);
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('config show', () => {
  test('config show prints a configuration with the same meaning', async () => {
    const { code, stdout, stderr } = await run(['config', 'show', '--config', file]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const shown = join(folder, 'shown.yaml');
    writeFileSync(shown, stdout);
    expect({ ...(await loadConfig(shown)), file }).toEqual(await loadConfig(file));
  });

  test('config show says where secrets are set, and not their values', async () => {
    writeFileSync(join(folder, '.env'), 'ELIGD_SERVICE_USERNAME=hunter1\n', { mode: 0o600 });
    const environment = { ELIGD_SERVICE_PASSWORD: 'hunter2' };
    const { stdout } = await run(['config', 'show', '--config', file], { environment });
    expect(stdout).toContain(`#   ELIGD_SERVICE_USERNAME: set from ${join(folder, '.env')}`);
    expect(stdout).toContain('#   ELIGD_SERVICE_PASSWORD: set from the environment');
    expect(stdout).not.toContain('hunter');
  });

  test('config show prints the same as JSON', async () => {
    const { stdout } = await run(['config', 'show', '--json', '--config', file]);
    expect(JSON.parse(stdout)).toMatchObject({
      config: {
        clinic: { name: 'Riverside Dental' },
        connectors: [{ id: 'front-desk', type: 'csv', folder: './dropbox' }],
      },
      secrets: [
        { name: 'ELIGD_SERVICE_USERNAME', state: 'missing' },
        { name: 'ELIGD_SERVICE_PASSWORD', state: 'missing' },
      ],
      notes: [],
    });
  });

  test('config show exits with 78 and a line for each error', async () => {
    writeFileSync(file, 'clinic: { nmae: x }\n');
    const { code, stdout, stderr } = await run(['config', 'show', '--config', file]);
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toContain('- line 1, clinic.nmae: is not a known key. Did you mean "name"?');
  });
});

describe('config schema', () => {
  test('config schema prints JSON Schema with the keys of the included connectors', async () => {
    const { code, stdout } = await run(['config', 'schema']);
    const schema: {
      properties: {
        connectors: { items: { anyOf: { properties: Record<string, { const?: string }> }[] } };
      };
    } = JSON.parse(stdout);
    expect(code).toBe(0);
    const csv = schema.properties.connectors.items.anyOf.find(
      ({ properties }) => properties.type?.const === 'csv',
    );
    expect(csv?.properties).toHaveProperty('folder');
  });
});
