import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { allCommands } from '../../src/cli/program.ts';
import { EligdError } from '../../src/domain/errors.ts';
import { probe, run } from './capture.ts';

const MAIN = resolve(import.meta.dirname, '../../src/main.ts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eligd-cli-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('an exit code', () => {
  test('the exit code is 0 for help, the version, and a command that succeeds', async () => {
    expect(await run(['--help'])).toMatchObject({ code: 0, stderr: '' });
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(
      await run(
        ['probe'],
        {},
        probe(() => {}),
      ),
    ).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test.each([
    ['an unknown command', ['sandbx'], "unknown command 'sandbx'\n(Did you mean sandbox?)"],
    [
      'an unknown option',
      ['sandbox', '--prot', '1'],
      "unknown option '--prot'\n(Did you mean --port?)",
    ],
    ['a bad value', ['sandbox', '--port', '70000'], 'Write a whole number from 0 to 65535.'],
    [
      'a bad behavior',
      ['sandbox', '--behavior', 'list_pagin=page'],
      'the nearest one is "list_paging"',
    ],
    ['no command at all', [], 'Usage: eligd'],
  ])('the exit code is 2 for %s', async (_, args, told) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(told);
  });

  test.each([
    ['failed', 1],
    ['usage', 2],
    ['temporary', 75],
    ['configuration', 78],
  ] as const)(
    'the exit code of an error of the kind %s is %i, with three lines and no stack',
    async (kind, expected) => {
      const fail = probe(() => {
        throw new EligdError(kind, { what: 'It broke.', why: 'It was old.', next: 'Buy another.' });
      });
      expect(await run(['probe'], { environment: { ELIGD_DEBUG: '1' } }, fail)).toEqual({
        code: expected,
        stdout: '',
        stderr: 'eligd: It broke.\nIt was old.\nBuy another.\n',
      });
    },
  );

  test('the exit code of a bug is 1, with a sentence that repeats no message', async () => {
    const defect = probe(() => {
      throw new TypeError('Jane Roe is not a function');
    });
    const { code, stderr } = await run(['probe'], {}, defect);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^eligd: This is a bug in eligd \(TypeError\);.*\n$/);
    expect(stderr).not.toContain('Jane');
    expect((await run(['probe'], { environment: { ELIGD_DEBUG: '1' } }, defect)).stderr).toContain(
      'program.test.ts',
    );
  });
});

describe('the configuration file', () => {
  const seen = async (args: string[], environment: Record<string, string> = {}) => {
    let file = '';
    const look = probe((context) => {
      file = context.configFile();
    });
    const result = await run(args, { cwd: folder, environment, uses_local_config: true }, look);
    return { ...result, file };
  };

  test('--config names the configuration, before or after the command', async () => {
    expect((await seen(['probe', '--config', 'a.yaml'])).file).toBe(join(folder, 'a.yaml'));
    expect((await seen(['--config', 'a.yaml', 'probe'], { ELIGD_CONFIG: 'b.yaml' })).file).toBe(
      join(folder, 'a.yaml'),
    );
  });

  test('without --config, the configuration is $ELIGD_CONFIG, else config/eligd.yaml', async () => {
    mkdirSync(join(folder, 'config'));
    writeFileSync(join(folder, 'config/eligd.yaml'), '');
    expect((await seen(['probe'], { ELIGD_CONFIG: 'b.yaml' })).file).toBe(join(folder, 'b.yaml'));
    expect((await seen(['probe'])).file).toBe(join(folder, 'config/eligd.yaml'));
  });

  test('if there is no configuration, the error names the three places', async () => {
    const { code, stderr } = await seen(['probe']);
    expect(code).toBe(78);
    for (const place of [
      '$ELIGD_CONFIG',
      join(folder, 'config/eligd.yaml'),
      '/etc/eligd/eligd.yaml',
      '--config FILE',
    ]) {
      expect(stderr).toContain(place);
    }
  });
});

describe('help', () => {
  test('help lists every command', async () => {
    const { stdout } = await run(['--help']);
    for (const { name, summary } of allCommands()) {
      expect(stdout).toContain(`  ${name} `);
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(summary);
    }
  });

  test.each([
    ...allCommands()
      .filter(({ name }) => name !== 'config')
      .map(({ name }) => [name]),
    ['config', 'show'],
    ['config', 'schema'],
    ['fhir', 'keygen'],
  ])('help of %s %s has examples', async (...words) => {
    const { code, stdout } = await run([
      ...words.filter((word) => typeof word === 'string'),
      '--help',
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain('Examples:');
    expect(stdout).toContain('--config <file>');
  });
});

describe('the process', () => {
  test('the process prints help and exits with the code', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--help']);
    expect(stdout).toContain('Usage: eligd');
    await expect(promisify(execFile)(process.execPath, [MAIN, 'nonsense'])).rejects.toMatchObject({
      code: 2,
    });
  });

  test('the process exits quietly when its output is closed', async () => {
    const child = spawn(process.execPath, [MAIN, 'config', 'schema'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.stdout.destroy();
    const code = await new Promise((done) => child.on('close', done));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
