import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { EligdError } from '../../domain/errors.ts';
import { backupName, beforeUpgradeName, rotateBackups } from '../../store/engine/backup.ts';
import { writeBackupAside } from '../../store/engine/backup-thread.ts';
import { contentJson, contentWords } from '../backup-content.ts';
import type { CliContext } from '../context.ts';
import { noteAction } from '../looks.ts';
import { printJson } from '../output.ts';
import { withProgressLine } from '../progress-line.ts';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Copies the database while the daemon runs, then opens and checks the copy. Without ' +
        'FILE, the copy goes into the backup folder (backup.folder), which keeps the newest ' +
        '(backup.keep). The daemon does the same every night.',
    )
    .argument('[file]', 'the file to write; it must not exist')
    .option(
      '--before-upgrade <version>',
      'used by the package: names the copy after the version that is being replaced',
    )
    .option('--json', 'as JSON (docs/json.md, eligd.backup/1)')
    .addHelpText(
      'after',
      '\nExamples:\n  eligd backup\n  eligd backup /mnt/backup/eligd.db\n\nA backup holds ' +
        'patient data: keep it\nwhere only people who may see patient data can read it. ' +
        'If the database is\nencrypted, so is the backup, with the same key ' +
        '(eligd database --help).\n',
    )
    .action(async (file: string | undefined, options: { beforeUpgrade?: string; json?: true }) => {
      const config = await context.config();
      const { clock } = await context.env();
      const now = clock.now();
      if (!existsSync(config.state.path)) {
        if (options.beforeUpgrade !== undefined) return;
        throw new EligdError('configuration', {
          what: `There is no database at ${config.state.path} yet.`,
          why: 'eligd has not run with this configuration.',
          next: 'Use --config FILE to name the right configuration.',
        });
      }
      const name =
        options.beforeUpgrade === undefined
          ? backupName(now)
          : beforeUpgradeName(options.beforeUpgrade, now);
      const to = file === undefined ? join(config.backup.folder, name) : resolve(context.cwd, file);
      const content = await withProgressLine(
        context.stderr,
        () => 'copying and checking the database',
        () => writeBackupAside(config.state.path, to, now),
      );
      if (file === undefined) rotateBackups(config.backup.folder, config.backup.keep);
      // A copy contains every patient, so the audit trail records who took it. Before an upgrade,
      // this version cannot write to the database yet.
      if (options.beforeUpgrade === undefined)
        await noteAction(context, {
          subject: 'database',
          to_state: 'copied',
          reason: `The database was copied to ${to}: “eligd backup”.`,
        });
      if (options.json)
        printJson(context.stdout, { schema: 'eligd.backup/1', file: to, ...contentJson(content) });
      else
        context.stdout.write(`${to} holds ${contentWords(content)}. It was opened and checked.\n`);
    });
}
