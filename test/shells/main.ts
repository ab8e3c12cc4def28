/**
 * `npm run test:shells`: zsh and fish run eligd's completion. It is separate from the suite, which
 * runs on every computer; .ci/run installs both shells.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../cli/capture.ts';

const CASES: readonly [line: string[], offered: string][] = [
  [['stat'], 'status'],
  [['list', '--needs'], '--needs-me'],
  [['list', '--situation', 'wait'], 'waiting'],
  [['--config', 'x.yaml', 'subscription', 'd'], 'delete'],
  [['completion', 'f'], 'fish'],
  [['payers', 'm'], 'map'],
];

const folder = mkdtempSync(join(tmpdir(), 'eligd-shells-'));

/** The shell's suggestions for the last word, one per line. */
const OFFERED: Readonly<Record<'zsh' | 'fish', (file: string, line: readonly string[]) => string>> =
  {
    // The function that the completion system calls, with its arguments.
    zsh: (file, line) =>
      shell('zsh', '-f', [
        '_files() { :; }',
        `_describe() { for each in "\${(@P)2}"; do print -r -- "\${each%%:*}"; done; }`,
        `words=(eligd ${line.map((word) => `'${word}'`).join(' ')}); CURRENT=$#words`,
        `source '${file}'`,
      ]),
    fish: (file, line) =>
      shell('fish', '--no-config', [`source '${file}'`, `complete -C 'eligd ${line.join(' ')}'`]),
  };

function shell(name: string, bare: string, lines: readonly string[]): string {
  const { error, status, stdout, stderr } = spawnSync(name, [bare, '-c', lines.join('\n')], {
    encoding: 'utf8',
  });
  if (error !== undefined) throw new Error(`${name} cannot be run: ${error.message}`);
  if (status !== 0 || stderr !== '') throw new Error(`${name} ended with ${status}: ${stderr}`);
  return stdout;
}

const wrong: string[] = [];
try {
  for (const name of ['zsh', 'fish'] as const) {
    const file = join(folder, `eligd.${name}`);
    writeFileSync(file, (await run(['completion', name])).stdout);
    for (const [line, offered] of CASES) {
      const words = OFFERED[name](file, line).split(/\n|\t.*\n?/);
      if (!words.includes(offered))
        wrong.push(`${name}: "${line.join(' ')}" offers no ${offered}.`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
process.stdout.write(
  [...wrong, `${CASES.length * 2 - wrong.length} of ${CASES.length * 2}\n`].join('\n'),
);
process.exitCode = wrong.length === 0 ? 0 : 1;
