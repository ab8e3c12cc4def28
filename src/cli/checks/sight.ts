import { existsSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import type { Config } from '../../ops/config.ts';
import { foldersShown, INSTALLED } from '../installed.ts';
import { bad, type CheckedLine } from './line.ts';

/**
 * Returns a line for each folder of the configuration that the installed daemon cannot see, and for
 * each BindPaths= folder that is missing. The daemon has its own root directory, so a folder that a
 * command finds outside may be missing for the daemon.
 */
export function checkSight(
  config: Config,
  shown: readonly string[] = foldersShown(),
): CheckedLine[] {
  if (config.file !== INSTALLED.config_file) return [];
  const seen = [
    dirname(INSTALLED.config_file),
    dirname(INSTALLED.state_path),
    '/usr',
    '/etc/ssl',
    ...shown,
  ];
  const hidden = absolutePaths([
    config.state,
    config.backup,
    config.policy.payers,
    config.policy.fees,
    config.connectors,
  ]).filter((path) => !seen.some((each) => path === each || path.startsWith(each + sep)));
  return [
    ...hidden.map((path) =>
      bad(
        'service',
        'configuration',
        `The daemon cannot see ${path}: it sees only its own folders.`,
        `Add the line BindPaths="${path}" to ${INSTALLED.drop_in}, then run "systemctl ` +
          'daemon-reload" and "systemctl restart eligd".',
      ),
    ),
    ...shown
      .filter((path) => !existsSync(path))
      .map((path) =>
        bad(
          'service',
          'configuration',
          'The daemon cannot start (226/NAMESPACE): a BindPaths= line of its unit names ' +
            `${path}, which does not exist.`,
          `Mount it, create it (install -d -o ${INSTALLED.user} -m 700 ${path}), or change the ` +
            `line in ${INSTALLED.drop_in}.`,
        ),
      ),
  ];
}

function absolutePaths(value: unknown): string[] {
  if (typeof value === 'string') return value.startsWith('/') ? [value] : [];
  return typeof value === 'object' && value !== null
    ? Object.values(value).flatMap(absolutePaths)
    : [];
}
