/** The page and the example match the code, in both directions. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { hl7ConfigSchema } from '../../../connectors/hl7/config.ts';
import hl7 from '../../../connectors/hl7/index.ts';
import { CLAIM_ROW_FIELDS, ROW_FIELDS } from '../../../connectors/hl7/out/z-segments.ts';
import { DEFAULT_PATHS } from '../../../connectors/hl7/v2/fields.ts';
import { loadConfig } from '../../../src/ops/config.ts';

const ROOT = join(import.meta.dirname, '../../..');
const README = readFileSync(join(ROOT, 'docs/hl7.md'), 'utf8');
const EXAMPLE = join(ROOT, 'config/hl7.yaml');

/** The rows of the first table below `heading`, each as its cells. */
function tableBelow(heading: string): string[][] {
  const lines = README.slice(README.indexOf(heading)).split('\n');
  const start = lines.findIndex((line) => line.startsWith('|'));
  const rest = lines.slice(start + 2);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return rest.slice(0, end < 0 ? undefined : end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const codes = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code);

describe('docs/hl7.md', () => {
  test('docs/hl7.md has every value with its paths in their order', () => {
    const documented = tableBelow('## Where eligd finds each value').map(([value, paths]) => [
      codes(value)[0],
      codes(paths),
    ]);
    expect(documented).toEqual(Object.entries(DEFAULT_PATHS));
  });

  test.each([...Object.entries(ROW_FIELDS), ['ZCM', CLAIM_ROW_FIELDS] as const])(
    'docs/hl7.md describes every field of %s by its number',
    (name, fields) => {
      const documented = tableBelow(`**${name}**`).map(([number, field]) => [
        Number(number),
        codes(field)[0],
      ]);
      expect(documented).toEqual(fields.map((field, index) => [index + 1, field]));
    },
  );
});

describe('config/hl7.yaml', () => {
  test('config/hl7.yaml loads, with every required key and every default', async () => {
    const { connectors } = await loadConfig(EXAMPLE);
    const shown = connectors[0]?.options as Record<string, unknown>;
    const { listen, folder, send_to } = shown;
    expect(hl7ConfigSchema.parse({ listen, folder, send_to })).toEqual(shown);
    const optional = ['listen_tls', 'send_tls', 'send_proxy'];
    const keys = Object.keys((hl7.config as typeof hl7ConfigSchema).shape);
    const source = readFileSync(EXAMPLE, 'utf8');
    expect(keys.filter((key) => !optional.includes(key)).toSorted()).toEqual(
      Object.keys(shown).toSorted(),
    );
    for (const key of optional) expect(source).toContain(`# ${key}:`);
  });

  test('the TLS parts of config/hl7.yaml load when they are switched on', () => {
    const source = readFileSync(EXAMPLE, 'utf8').replaceAll(
      /^ {4}# ((?:listen|send)_tls:| {2}\w+_file:| {2}server_name:)/gm,
      '    $1',
    );
    const {
      id: _,
      type: __,
      ...options
    } = (parse(source) as { connectors: Record<string, unknown>[] }).connectors[0]!;
    const parsed = hl7ConfigSchema.parse(options);
    expect(parsed.listen_tls?.clients_file).toBeDefined();
    expect(parsed.send_tls?.server_name).toBeDefined();
  });

  test.each([
    [{}, 'listen'],
    [{ listen: '127.0.0.1:6661' }, 'send_to'],
    [{ listen: '6661', folder: './x' }, 'listen'],
    [{ listen: '127.0.0.1:6661', folder: './x', allow: ['10.0.0.0/33'] }, 'allow'],
    [{ folder: './x', fields: { member_id: 'IN1.49' } }, 'fields'],
    [{ folder: './x', fields: { memberid: 'IN1-49' } }, 'fields'],
    [{ folder: './x', send_to: 'h:1', send_tls: { key_file: 'k' } }, 'send_tls'],
    [{ folder: './x', send_to: 'h:1', header: { accept_acknowledgment: 'NE' } }, 'header'],
  ])('the configuration is refused as %j, at %s', (config, key) => {
    const { error } = hl7ConfigSchema.safeParse(config);
    expect(error?.issues.map(({ path }) => path[0])).toContain(key);
  });
});
