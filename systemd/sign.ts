import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Writes SHA256SUMS next to `files` (which lie in one folder), as `sha256sum --check` reads it, and
 * SHA256SUMS.asc, a detached signature by `key` of this user's gpg, or of the gpg whose keys lie in
 * `home`. Returns both paths. Throws where gpg cannot sign; gpg has said why on standard error.
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
