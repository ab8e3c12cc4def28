import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Writes SHA256SUMS next to `files` (all in one folder), in the format of `sha256sum --check`, and
 * SHA256SUMS.asc, a detached signature with `key` of this user's gpg, or of the gpg with the keys
 * in `home`. Returns both paths. Throws if gpg cannot sign; gpg prints the reason on standard
 * error.
 */
export function sign(
  files: readonly [string, ...string[]],
  key: string,
  home = process.env.GNUPGHOME,
): string[] {
  const sums = join(dirname(files[0]), 'SHA256SUMS');
  const lines = files.map(
    (file) => `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${basename(file)}`,
  );
  writeFileSync(sums, `${lines.join('\n')}\n`);
  const args = ['--batch', '--yes', '--local-user', key, '--armor', '--detach-sign', sums];
  execFileSync('gpg', args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...(home === undefined ? {} : { GNUPGHOME: home }) },
  });
  return [sums, `${sums}.asc`];
}
