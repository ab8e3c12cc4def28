import { type Command, InvalidArgumentError } from 'commander';
import { EligdError } from '../../domain/errors.ts';
import { DAY_MS } from '../../domain/time.ts';
import { purge } from '../../store/bookkeeping/purge.ts';
import { deleteOldCopies } from '../../store/engine/backup.ts';
import { openStore } from '../../store/engine/store.ts';
import type { CliContext } from '../context.ts';
import { printJson } from '../output.ts';

/** Younger than this, answers still serve other visits and may still be written back. */
const DAYS_MIN = 60;

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Deletes for good what eligd knows of visits that are long over: appointments, ' +
        'inquiries, answers, records, story; and the ' +
        ('copies of the database that upgrades and restores have left, when they are as old. ' +
          'The daemon does it daily by retention.days. Other ') +
        ('backups keep what they hold until they are deleted; the practice management system ' +
          'is not touched.'),
    )
    .option('--older-than <days>', 'days since the visit (default: retention.days)', wholeDays)
    .option('--json', 'as JSON (docs/json.md, eligd.purge/1)')
    .addHelpText('after', '\nExamples:\n  eligd purge\n  eligd purge --older-than 90\n')
    .action(async (options: { olderThan?: number; json?: true }) => {
      const config = await context.config();
      const days = options.olderThan ?? config.retention.days;
      if (days === null) {
        throw new EligdError('usage', {
          what: 'Nothing was deleted.',
          why: 'retention.days is null, so eligd keeps everything.',
          next: 'Say how old what goes must be: eligd purge --older-than 400',
        });
      }
      const now = (await context.env()).clock.now();
      const store = await openStore(config.state.path);
      try {
        const before = now - days * DAY_MS;
        const { audit_days } = config.retention;
        const logs = audit_days === null ? null : now - audit_days * DAY_MS;
        const purged = await purge(store, { visits: before, logs }, now);
        const copies = deleteOldCopies(config.state.path, config.backup.folder, before);
        if (options.json)
          printJson(context.stdout, {
            schema: 'eligd.purge/1',
            older_than_days: days,
            ...purged,
            copies,
          });
        else
          context.stdout.write(
            `Deleted: ${purged.appointments} appointments, ${purged.inquiries} inquiries and ` +
              `${copies} old copies of the database.\n`,
          );
      } finally {
        await store.close();
      }
    });
}

function wholeDays(text: string): number {
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= DAYS_MIN) return days;
  throw new InvalidArgumentError(`Write a whole number of days from ${DAYS_MIN}.`);
}
