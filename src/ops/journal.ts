import { fstatSync } from 'node:fs';

/**
 * Returns whether the descriptor writes to the systemd journal, according to `$JOURNAL_STREAM`
 * (systemd.exec(5)).
 */
export function isJournal(
  descriptor: 1 | 2,
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  if (!environment.JOURNAL_STREAM) return false;
  const { dev, ino } = fstatSync(descriptor);
  return environment.JOURNAL_STREAM === `${dev}:${ino}`;
}
