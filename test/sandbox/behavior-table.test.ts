import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BEHAVIORS, CLAIM_SCENARIOS, parseBehavior, SCENARIOS } from '../../src/sandbox/server.ts';
import { bench } from './harness.ts';

describe('the table of behaviors', () => {
  it('the table of behaviors matches README.md, and so do the scenarios', () => {
    const readme = readFileSync(new URL('../../src/sandbox/README.md', import.meta.url), 'utf8');
    const rows = [...readme.matchAll(/^\|(.*)\|$/gm)].map(([, row]) =>
      (row ?? '').split(' | ').map((cell) => cell.trim()),
    );
    const section = (from: string, to: string) => {
      const start = rows.findIndex(([cell]) => cell === from);
      return rows.slice(
        start + 2,
        rows.findIndex(([cell]) => cell === to),
      );
    };
    const documentedScenarios = (table: object) =>
      Object.entries(table).map(([name, means]) => [`\`${name}\``, means]);
    expect(section('beginning', 'claim number')).toEqual(documentedScenarios(SCENARIOS));
    expect(section('claim number', 'behavior')).toEqual(documentedScenarios(CLAIM_SCENARIOS));
    const documented = Object.entries(BEHAVIORS).map(([name, spec]) => [
      `\`${name}\``,
      spec.kind === 'number' ? spec.values : spec.values.map((value) => `\`${value}\``).join(', '),
      `\`${spec.default}\``,
      spec.means,
    ]);
    expect(section('behavior', 'route')).toEqual(documented);
  });

  it('the table reads name=value', () => {
    expect(parseBehavior('echo=nulls')).toEqual({ echo: 'nulls' });
    expect(parseBehavior('bulk_max=25')).toEqual({ bulk_max: 25 });
    expect(parseBehavior('unknown_id=404')).toEqual({ unknown_id: '404' });
  });

  it.each([
    ['echo', 'write name=value'],
    ['ehco=nulls', 'the nearest one is "echo"'],
    ['echo=null', 'takes as_sent, nulls, defaults, trimmed_upper; not "null"'],
    ['bulk_max=many', 'takes a number, 0 or more, not "many"'],
    ['list_page_size=0', 'takes a number, 1 or more'],
    ['bulk_max=', 'takes a number'],
  ])('the table refuses %s with a sentence', (text, sentence) => {
    expect(() => parseBehavior(text)).toThrow(sentence);
  });

  it('the admin route refuses with the same words, and nothing changes', async () => {
    const on = await bench();
    const { status, body } = await on.call('POST', '/_sandbox/behaviors', {
      echo: 'nulls',
      ehco: 1,
    });
    expect([status, body.detail[0].msg]).toEqual([422, expect.stringContaining('nearest')]);
    expect((await on.call('GET', '/_sandbox/behaviors')).body.echo).toBe('as_sent');
  });
});
