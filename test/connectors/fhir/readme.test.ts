import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fhirConfigSchema } from '../../../connectors/fhir/config.ts';
import { DEFAULT_SYSTEMS } from '../../../connectors/fhir/systems.ts';
import { appointmentStateReader } from '../../../src/domain/appointment-states.ts';

const FOLDER = join(import.meta.dirname, '../../../docs');
const readme = (await readFile(join(FOLDER, 'fhir.md'), 'utf8')).replaceAll(/ +/g, ' ');

/** The rows of the table under a heading, as cells. */
function rows(heading: string, first: string): string[][] {
  const section = readme.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const lines = section.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const start = lines.findIndex(([name]) => name === first);
  const length = lines.slice(start).findIndex((cells) => cells.length === 0);
  return lines.slice(start + 2, length < 0 ? undefined : start + length);
}

const codes = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]);

/** http://hl7.org/fhir/R4/valueset-appointmentstatus.html */
const R4 = [
  'proposed',
  'pending',
  'booked',
  'arrived',
  'fulfilled',
  'cancelled',
  'noshow',
  'entered-in-error',
  'checked-in',
  'waitlist',
];
const stateOf = appointmentStateReader({});

describe('the page about FHIR', () => {
  it('docs/fhir.md has every setting with its default, and no other', () => {
    const settings = rows('Settings', 'key').map(([key, value]) => [
      codes(key)[0],
      codes(value)[0],
    ]);
    const { properties = {} } = z.toJSONSchema(fhirConfigSchema, { io: 'input' });
    expect(settings.map(([key]) => key)).toEqual(Object.keys(properties));
    const defaults: Record<string, unknown> = fhirConfigSchema.parse({
      base_url: 'http://127.0.0.1',
      auth: 'none',
    });
    for (const [key = '', value] of settings) {
      if (key === 'base_url' || key === 'auth' || key === 'systems') continue;
      const shown = defaults[key];
      expect(value, key).toBe(
        shown === undefined
          ? 'none'
          : typeof shown === 'object'
            ? JSON.stringify(shown)
            : String(shown),
      );
    }
  });

  it('docs/fhir.md has every system that identifies something', () => {
    const shown = rows('Mapping', 'key').map(([key, value]) => [codes(key)[0], codes(value)]);
    expect(Object.fromEntries(shown)).toEqual(DEFAULT_SYSTEMS);
  });

  it('docs/fhir.md has every status that is not booked', () => {
    const [status] = rows('Mapping', 'eligd').filter(([name]) => name === 'status');
    const [cancelled = '', completed = ''] = status?.[1]?.split(': canceled') ?? [];
    const words = (means: string) => R4.filter((word) => stateOf(word) === means).toSorted();
    expect(codes(cancelled).toSorted()).toEqual(words('cancelled'));
    expect(codes(completed).toSorted()).toEqual(words('completed'));
  });

  it('docs/fhir.md links a page for each family of servers', async () => {
    for (const name of await readdir(join(FOLDER, 'fhir-servers')))
      expect(readme).toContain(`(fhir-servers/${name})`);
  });

  it('every setting also describes itself', () => {
    const { properties = {} } = z.toJSONSchema(fhirConfigSchema, { io: 'input' });
    for (const [key, value] of Object.entries(properties))
      expect(typeof value === 'object' && value.description, key).toBeTruthy();
  });
});
