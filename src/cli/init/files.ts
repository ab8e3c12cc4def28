import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EligdError, errorCode } from '../../domain/errors.ts';
import { OWN_PROCESS } from '../../ops/project.ts';
import { requireTrusted } from '../../ops/trusted-files.ts';
import type { CliContext } from '../context.ts';
import { EXIT_CODES } from '../exit.ts';

/** Writes the configuration, and `.env` with the secrets next to it. */
export function writeInstallation(
  file: string,
  text: string,
  secrets: ReadonlyMap<string, string>,
): void {
  const lines = [...secrets].map(([name, value]) => `${name}=${envValue(value)}\n`);
  writeNew(join(dirname(file), '.env'), lines.join(''), 0o600);
  writeNew(file, text, 0o600);
}

/** Quotes a value for dotenv with a kind of quote that it does not contain. */
function envValue(value: string): string {
  if (/^[\w.+/=@:-]+$/.test(value)) return value;
  const quote = ["'", '"', '`'].find((each) => !value.includes(each));
  if (quote !== undefined && !(quote === '"' && value.includes('\\')))
    return `${quote}${value}${quote}`;
  throw new EligdError('usage', {
    what: 'A secret contains all three kinds of quotes, so it cannot go into a .env file.',
    why: 'It would be read back as a different secret.',
    next: 'Ask for a different secret, or pass it as a systemd credential (eligd init --system).',
  });
}

/**
 * Writes a new file that has its mode from the first byte on. Throws if it exists, and if others
 * can change its folder or own a link on its path.
 */
export function writeNew(file: string, content: string | Buffer, mode: number): void {
  requireTrusted(file, { role: 'new file' });
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, content, { mode, flag: 'wx' });
  } catch (error) {
    const code = errorCode(error);
    throw new EligdError('failed', {
      what: `${file} could not be written.`,
      why:
        code === 'EEXIST'
          ? 'It already exists, and eligd does not replace it.'
          : `The system reported ${code ?? 'an unknown error'}.`,
      next:
        code === 'EEXIST'
          ? 'Move it away, then run this command again.'
          : 'Check the permissions and the free disk space.',
      cause: error,
    });
  }
}

/**
 * Runs `eligd check` as a separate process. Throws when something is wrong with the installation; a
 * temporarily unavailable service is only reported.
 */
export async function runCheck(
  context: CliContext,
  file: string,
  secrets: Readonly<Record<string, string>>,
  asUser: (args: readonly string[]) => [program: string, ...args: string[]] = asSelf,
): Promise<void> {
  const [program, ...args] = asUser(['check', '--config', file]);
  const child = spawn(program, args, {
    cwd: '/',
    env: { PATH: context.environment.PATH, LANG: context.environment.LANG, ...secrets },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.on('data', (text: Buffer) => void context.stdout.write(text.toString()));
  child.stderr.on('data', (text: Buffer) => void context.stderr.write(text.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code === EXIT_CODES.done || code === EXIT_CODES.temporary) return;
  throw new EligdError(code === EXIT_CODES.configuration ? 'configuration' : 'failed', {
    what: 'Everything is written, but eligd cannot work yet.',
    why: 'See the lines marked "!!" above.',
    next:
      `Follow the step after each arrow (the configuration is ${file}), then run "eligd check" ` +
      'again.',
  });
}

function asSelf(args: readonly string[]): [program: string, ...args: string[]] {
  return [...OWN_PROCESS, ...args];
}
