import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse as parseEnv } from 'dotenv';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { generatedFiles } from '../../src/cli/commands/config.ts';
import { loadConfig, parseConfig } from '../../src/ops/config.ts';
import { configSchema } from '../../src/ops/config-schema.ts';
import { inputSchema, isJsonObject, type JsonSchema } from '../../src/ops/json-schema.ts';
import { loadPayers } from '../../src/ops/payers.ts';
import { SECRETS } from '../../src/ops/secrets.ts';

const FOLDER = resolve(import.meta.dirname, '../../config');
const EXAMPLE = join(FOLDER, 'example.yaml');

/**
 * Removes the "#" from the blocks after "For example:", and the line that sets the section to empty
 * or null.
 */
function withExamplesSwitchedOn(source: string): string {
  let is_example = false;
  const lines = source.split('\n').flatMap((line) => {
    if (/^#.*For example:$/.test(line)) is_example = true;
    else if (!line.startsWith('#')) is_example = false;
    else if (is_example && line.startsWith('# ')) return [line.slice(2)];
    const is_example_of = /^(webhook|monitoring|office|alerts|locations|providers|claim_words):/;
    return is_example_of.test(line) ? [] : [line];
  });
  return lines.join('\n');
}

/** Every key that ends in a value, with `*` for the clinic's own names and `[]` for lists. */
function leaves(schema: JsonSchema, path = ''): string[] {
  const option = schema.anyOf?.find(({ type }) => type !== 'null');
  if (option !== undefined) return leaves(option, path);
  if (isJsonObject(schema.additionalProperties) && schema.properties === undefined)
    return leaves(schema.additionalProperties, `${path}.*`);
  if (schema.items?.properties !== undefined) return leaves(schema.items, `${path}[]`);
  const kinds = schema.items?.anyOf ?? schema.items?.oneOf;
  if (kinds !== undefined) return kinds.flatMap((kind) => leaves(kind, `${path}[]`));
  const properties = Object.entries(schema.properties ?? {});
  return properties.length === 0
    ? [path]
    : properties.flatMap(([name, child]) => leaves(child, path === '' ? name : `${path}.${name}`));
}

function written(value: unknown, path = ''): string[] {
  if (Array.isArray(value) && value.some((item) => typeof item === 'object'))
    return value.flatMap((item) => written(item, `${path}[]`));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([name, child]) => {
    const is_own_name = ['locations', 'providers', 'claim_words'].includes(path);
    return written(child, path === '' ? name : `${path}.${is_own_name ? '*' : name}`);
  });
}

describe('config/example.yaml', () => {
  test('config/example.yaml shows every default', async () => {
    const { file: _, ...shown } = await loadConfig(EXAMPLE);
    const { file: __, ...defaults } = await loadConfig(join(FOLDER, 'minimal.yaml'));
    expect(shown).toEqual(defaults);
  });

  test('config/example.yaml has every key, and no other', () => {
    const source = withExamplesSwitchedOn(readFileSync(EXAMPLE, 'utf8'));
    const shown = new Set(written(parseYaml(source)));
    shown.delete('connectors[].folder'); // The csv connector's own key; its folder documents it.
    expect([...shown].toSorted()).toEqual(
      [...new Set(leaves(inputSchema(configSchema)))].toSorted(),
    );
  });

  test('the examples in config/example.yaml load when they are switched on', async () => {
    const config = await parseConfig(
      withExamplesSwitchedOn(readFileSync(EXAMPLE, 'utf8')),
      EXAMPLE,
    );
    expect(config.webhook?.listen).toBe('127.0.0.1:8686');
    expect(Object.keys(config.locations)).toEqual(['North office']);
  });
});

describe('the other examples', () => {
  test('config/minimal.yaml loads', async () => {
    expect((await loadConfig(join(FOLDER, 'minimal.yaml'))).clinic.name).toBe('Riverside Dental');
  });

  test('config/fhir.yaml loads', async () => {
    const { connectors } = await loadConfig(join(FOLDER, 'fhir.yaml'));
    expect(connectors).toMatchObject([
      { id: 'ehr', type: 'fhir', options: { auth: 'private_key_jwt', attention: 'task' } },
    ]);
  });

  test('config/payers.example.csv loads', () => {
    const payers = loadPayers(join(FOLDER, 'payers.example.csv'));
    expect(payers.find('', 'delta dental of illinois')).toMatchObject({
      carrier: 'DELTA_DENTAL_OF_ILLINOIS',
      payor_id: '05030',
    });
  });

  test('config/env.example has every secret, and no other', () => {
    expect(Object.keys(parseEnv(readFileSync(join(FOLDER, 'env.example'))))).toEqual(
      Object.keys(SECRETS),
    );
  });
});

test('the generated files under config/ match the program', async () => {
  for (const [name, text] of Object.entries(await generatedFiles())) {
    const committed = readFileSync(join(FOLDER, name), 'utf8');
    // The formatter may format JSON differently.
    const read = (content: string): unknown =>
      name.endsWith('.json') ? JSON.parse(content) : content;
    expect(read(committed), `config/${name} is old: run "npm run schemas" and commit it`).toEqual(
      read(text),
    );
  }
});
