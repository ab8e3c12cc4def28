/** The view of a person at a terminal: tables that fit, colors, progress, completion. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { allCommands } from '../../src/cli/program.ts';
import { withProgressLine } from '../../src/cli/progress-line.ts';
import { makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, type Visit, visits } from '../support/visits.ts';
import { probe, run } from './capture.ts';

function terminal(columns = 80) {
  let text = '';
  const stdout = { write: (part: string) => (text += part), isTTY: true, columns };
  return { stdout, shown: () => text };
}

describe('list', () => {
  let clinic: ReturnType<typeof makeClinic>;

  /** Visits of yesterday, today, tomorrow, and Friday; the machine's clock is Monday, 09:00. */
  beforeEach(async () => {
    setMachineClock();
    const service = await startService();
    clinic = makeClinic({ base_url: service.url });
    const days = ['2030-01-06', '2030-01-07', '2030-01-08', '2030-01-11'];
    const change = (index: number): Partial<Visit> => ({
      appointment_id: `an-appointment-${index}`,
      appointment_at: `${days[index]}T15:30`,
      ...(index === 2 ? { member_id: '' } : {}),
      ...(index === 3 ? { carrier: 'MetLife Dental', payor_id: '65978' } : {}),
    });
    clinic.drop('export.csv', exportOf(visits(4, change)));
    await clinic.once();
  });

  const list = async (...args: string[]) => {
    const to = terminal();
    const { code } = await run(['list', '--config', clinic.file, ...args], {
      stdout: to.stdout,
      environment: {},
      cwd: clinic.folder,
    });
    expect(code).toBe(0);
    return to.shown();
  };
  const ids = async (...args: string[]) => {
    const { stdout } = await clinic.run('list', '--json', ...args);
    return (JSON.parse(stdout) as { appointments: { id: string }[] }).appointments.map(
      ({ id }) => id.at(-1) ?? '',
    );
  };

  test('list fits 80 columns and keeps IDs complete', async () => {
    for (const args of [[], ['--patients'], ['--attention'], ['--attention', '--patients']]) {
      const lines = stripVTControlCharacters(await list(...args)).split('\n');
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      expect(lines.join('\n')).toContain('an-appointment-2');
    }
  });

  test('the output of every other command fits 80 columns, too', async () => {
    clinic.drop('long.csv', exportOf(visits(40, () => ({ carrier: 'C'.repeat(60) }))));
    await clinic.once();
    const shown = ['an-appointment-1', 'an-appointment-3'].flatMap((id) => [
      ['show', id],
      ['show', id, '--patients'],
      ['explain', id],
      ['explain', id, '--patients'],
    ]);
    const others =
      'status|cost|payers|check|alert test|audit show|purge --dry-run|inquiry list|once';
    const wide: string[] = [];
    for (const args of [...shown, ...others.split('|').map((each) => each.split(' '))]) {
      const [out, err] = [terminal(), terminal()];
      await run([...args, '--config', clinic.file], {
        stdout: out.stdout,
        stderr: err.stdout,
        environment: {},
        cwd: clinic.folder,
      });
      const said = stripVTControlCharacters(out.shown() + err.shown());
      expect(said).not.toBe('');
      // A path is a word: it stays whole, so that it can be copied.
      for (const line of said.split('\n'))
        if (line.length > 80 && line.trim().includes(' ')) wide.push(`${args.join(' ')}: ${line}`);
    }
    expect(wide).toEqual([]);
  }, 60_000);

  test('list shows coming visits first, whatever the limit', async () => {
    expect(await ids('--situation', 'closed')).toEqual(['0']);
    expect(await ids()).toEqual(['1', '2', '3']);
    expect(await ids('--limit', '1')).toEqual(['1']);
  });

  test('list filters by day, payer, and attention', async () => {
    expect(await ids('--today')).toEqual(['1']);
    expect(await ids('--from', '2030-01-08')).toEqual(['2', '3']);
    expect(await ids('--from', '2030-01-07', '--to', '2030-01-08')).toEqual(['1', '2']);
    expect(await ids('--payer', 'metlife')).toEqual(['3']);
    expect(await ids('--payer', '65978')).toEqual(['3']);
    expect(await ids('--payer', '6597')).toEqual([]);
    expect(await ids('--needs-me')).toEqual(['2']);
    const { code, stderr } = await clinic.run('list', '--from', '11/23/2026');
    expect(code).toBe(2);
    expect(stderr).toContain('Write the date as 2026-11-23.');
  });

  test('list is colored on a terminal, and not with NO_COLOR', async () => {
    const red = '\u001b[31mneeds';
    expect(await list()).toContain(red);
    const to = terminal();
    await run(['list', '--config', clinic.file], {
      stdout: to.stdout,
      environment: { NO_COLOR: '1' },
      cwd: clinic.folder,
    });
    expect(to.shown()).toContain('needs');
    expect(to.shown()).not.toContain('\u001b');
    expect((await clinic.run('list')).stdout).not.toContain('\u001b');
  });
});

describe('the help', () => {
  /** What a terminal of 80 columns would show if eligd broke no line afterwards. */
  async function helpOf(words: readonly string[]): Promise<string> {
    let text = '';
    const stdout = { write: (part: string) => (text += part), columns: 80 };
    const { code } = await run([...words, '--help'], { stdout });
    expect(code).toBe(0);
    return text;
  }

  /** A command and every command below it. */
  async function everyHelp(words: readonly string[]): Promise<Map<string, string>> {
    const text = await helpOf(words);
    const [, list = ''] = text.split('\nCommands:\n');
    const names = [...(list.split('\n\n')[0] ?? '').matchAll(/^ {2}([a-z][a-z-]*)/gm)];
    const below = names.flatMap(([, name = '']) => (name === 'help' ? [] : [[...words, name]]));
    const found = new Map([[words.join(' '), text]]);
    for (const each of below)
      for (const [name, help] of await everyHelp(each)) found.set(name, help);
    return found;
  }

  test('the help of every command fits 80 columns', async () => {
    const all = await everyHelp([]);
    expect([...all.keys()]).toEqual(
      expect.arrayContaining([...allCommands().map(({ name }) => name), 'subscription set']),
    );
    const wide = [...all].flatMap(([name, text]) =>
      text
        .split('\n')
        .filter((line) => [...line].length > 80)
        .map((line) => `${name}: ${line}`),
    );
    expect(wide).toEqual([]);
  });
});

describe('a line that is too long for the terminal', () => {
  const shown = async (text: string, isTTY: boolean) => {
    const to = terminal(60);
    const commands = probe(({ stdout }) => stdout.write(text));
    await run(['probe'], { stdout: { ...to.stdout, isTTY } }, commands);
    return to.shown().split('\n');
  };

  test('a long line breaks at spaces and continues below its own text', async () => {
    const text =
      '2026-11-23 12:40  Inquiry 1: a call was planned. The visit is within the window.\n' +
      '!! clock: The clock of this machine is behind. → Set it ("timedatectl set-ntp true").\n' +
      'short\n';
    expect(await shown(text, true)).toEqual([
      '2026-11-23 12:40  Inquiry 1: a call was planned. The visit',
      '                  is within the window.',
      '!! clock: The clock of this machine is behind. → Set it',
      '   ("timedatectl set-ntp true").',
      'short',
      '',
    ]);
  });

  test('a pipe gets lines unchanged, and no word is ever broken', async () => {
    const path = `/srv/${'a'.repeat(70)}`;
    expect(await shown(`See ${path} for more.\n`, true)).toEqual(['See', path, 'for more.', '']);
    expect(await shown(`See ${path} for more.\n`, false)).toEqual([`See ${path} for more.`, '']);
  });
});

describe('the progress line', () => {
  const work = (ms: number) => async () => {
    await new Promise((done) => setTimeout(done, ms));
    return 'done';
  };

  test('the progress line appears after two seconds, fits, and disappears at the end', async () => {
    const to = terminal(30);
    const told = () => '12,000 of 20,000 appointments were read';
    expect(await withProgressLine(to.stdout, told, work(3_500))).toBe('done');
    const [, line = ''] = to.shown().split('\r\u001b[K');
    expect(line).toMatch(/^\d s: 12,000 of 20,000/);
    expect(line.length).toBeLessThan(30);
    expect(to.shown().endsWith('\r\u001b[K')).toBe(true);
  });

  test('the progress line is not written into a pipe', async () => {
    let text = '';
    await withProgressLine({ write: (part) => (text += part) }, () => 'x', work(2_500));
    expect(text).toBe('');
  });
});

describe('completion', () => {
  const made = async (form: string) => (await run(['completion', form])).stdout;

  test.each(['bash', 'zsh', 'fish', 'man'])('completion for %s has every command', async (form) => {
    const text = (await made(form)).replaceAll('\\-', '-');
    for (const { name } of allCommands()) expect(text).toContain(name);
    for (const flag of ['needs-me', 'before-upgrade', 'take-over'].slice(0, 2))
      expect(text).toContain(flag);
  });

  test('completion for zsh and fish shows the apostrophe of a summary', async () => {
    const { summary } = allCommands().find(({ name }) => name === 'verification') ?? {};
    const plain = summary?.replaceAll('’', "'");
    expect(plain).toContain("service's checks");
    const zsh = (await made('zsh')).split('\n').find((line) => line.includes('verification:'));
    const words = spawnSync('bash', ['-c', `${zsh}\nprintf '%s\\n' "\${commands[@]}"`], {
      encoding: 'utf8',
    });
    expect(words.stdout.split('\n')).toContain(`verification:${plain}`);
    expect(await made('fish')).toContain(`-d '${plain?.replaceAll("'", "\\'")}'`);
  });

  test('completion for bash completes commands, options, and their values', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'eligd-completion-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'eligd.bash');
    writeFileSync(file, await made('bash'));
    const complete = (...words: string[]) => {
      const array = words.map((word) => `'${word}'`).join(' ');
      const script =
        `source ${file}; COMP_WORDS=(${array}); COMP_CWORD=${words.length - 1}; ` +
        `_eligd; echo "\${COMPREPLY[*]}"`;
      return spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.trim();
    };
    expect(complete('eligd', 'stat')).toBe('status');
    expect(complete('eligd', 'list', '--needs')).toBe('--needs-me');
    expect(complete('eligd', 'list', '--situation', 'w')).toBe('waiting');
    expect(complete('eligd', '--config', 'x.yaml', 'subscription', 'd')).toBe('delete');
    expect(complete('eligd', 'completion', 'f')).toBe('fish');
  });
});
