/** Commands of connectors, from folders of `connectors/` and from a clinic's own modules. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { builtInTypes, builtInTypesWithCommands } from '../../src/ops/built-in-connectors.ts';
import { loadConnectorType } from '../../src/ops/connectors.ts';
import { run } from './capture.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'src/main.ts');

const MODULE = `
const config = { safeParse: (data) => ({ success: true, data }) };
const BRAND = Symbol.for('eligd.ConnectorError');
const away = Object.assign(new Error('The PMS is away.'), {
  [BRAND]: true, failure: 'transient', next: 'Try again later.', retry_after_ms: null,
});
const pair = {
  description: 'Pairs eligd with the PMS.',
  options: {
    'pin-code': { value: 'digits', description: 'what the PMS shows', is_required: true },
    mode: { value: 'name', description: 'how', choices: ['live', 'test'], default: 'test' },
  },
  examples: ['eligd mypms pair --pin-code 1234'],
  run: async ({ options, print, tell, resolvePath }) => {
    if (options['pin-code'] === '0') throw away;
    tell('Paired.\\n');
    print(JSON.stringify([options, resolvePath('a')]) + '\\n');
  },
};
export default { name: 'mypms', config, commands: { pair }, create: () => ({}) };
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eligd-commands-'));
  writeFileSync(join(folder, 'mypms.mjs'), MODULE);
  // Incomplete on purpose, because a command may help to complete it.
  writeFileSync(
    join(folder, 'eligd.yaml'),
    'connectors:\n  - { id: desk, type: ./mypms.mjs }\n  - { id: other, type: csv }\n',
  );
});
afterEach(() => rmSync(folder, { recursive: true }));

const inFolder = (...args: string[]) =>
  run(['--config', join(folder, 'eligd.yaml'), ...args], { cwd: folder });

describe('a connector that the configuration names by its path', () => {
  test('a connector by path brings its commands, with options and defaults', async () => {
    expect(await inFolder('mypms', 'pair', '--pin-code', '12')).toEqual({
      code: 0,
      stdout: `${JSON.stringify([{ 'pin-code': '12', mode: 'test' }, join(folder, 'a')])}\n`,
      stderr: 'Paired.\n',
    });
  });

  test('a connector by path has its commands in the help', async () => {
    const { code, stdout } = await inFolder('help', 'mypms');
    expect(code).toBe(0);
    expect(stdout).toContain('Pairs eligd with the PMS.');
    expect(stdout).toContain('eligd mypms pair --pin-code 1234');
  });

  test.each([
    [['pair'], 2, "required option '--pin-code <digits>' not specified"],
    [['pair', '--pin-code', '1', '--mode', 'x'], 2, 'Allowed choices are live, test.'],
    [
      ['pair', '--pin-code', '0'],
      75,
      'eligd: "eligd mypms pair" failed.\nThe PMS is away.\nTry again later.\n',
    ],
  ])('eligd says what is wrong with %j', async (args, expected, told) => {
    const { code, stderr } = await inFolder('mypms', ...args);
    expect(code).toBe(expected);
    expect(stderr).toContain(told);
  });

  test('a connector by path is not found under another name', async () => {
    const { code, stderr } = await inFolder('mypm', 'pair');
    expect(code).toBe(2);
    expect(stderr).toContain("unknown command 'mypm'");
  });
});

describe('the connectors that come with eligd', () => {
  test.each(builtInTypes())('%s has commands exactly when it has a commands.ts', async (type) => {
    const { commands } = await loadConnectorType(type);
    expect(commands !== undefined).toBe(builtInTypesWithCommands().includes(type));
  });

  test.each([
    ['--help', false],
    ['--version', false],
    ['fhir', true],
  ])('"eligd %s" imports one connector: %j', (arg, expected) => {
    const hook = join(folder, 'hook.mjs');
    const log = join(folder, 'imports.txt');
    writeFileSync(
      hook,
      `import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({ load: (url, context, next) => {
  appendFileSync(${JSON.stringify(log)}, url + '\\n');
  return next(url, context);
} });
`,
    );
    execFileSync(process.execPath, ['--import', hook, MAIN, arg, '--help']);
    const imported = execFileSync('cat', [log], { encoding: 'utf8' }).split('\n');
    expect(imported.some((url) => url.endsWith('/src/cli/program.ts'))).toBe(true);
    expect(imported.some((url) => /\/connectors\/[^/]+\//.test(url))).toBe(expected);
  });
});
