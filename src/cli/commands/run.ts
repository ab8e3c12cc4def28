import type { Command } from 'commander';
import { createDaemon } from '../../daemon/index.ts';
import { serviceCredentials } from '../../ops/secrets.ts';
import { createNotifier } from '../../ops/systemd.ts';
import type { CliContext } from '../context.ts';
import { stopSignal } from '../stop.ts';
import { programVersion } from '../version.ts';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Runs the daemon in the foreground until Ctrl-C or SIGTERM: reads appointments, has ' +
        'payers asked, writes answers back. ' +
        'The log goes to standard output. Only one may run on a database.',
    )
    .addHelpText('after', '\nExamples:\n  eligd run\n  eligd run --config /etc/eligd/eligd.yaml\n')
    .action(async () => {
      const config = await context.config();
      const secrets = await context.secrets();
      const credentials = serviceCredentials(secrets, config.service.auth);
      const env = await context.env({ log_to: 'stdout' });
      const stop = stopSignal();
      try {
        const daemon = await createDaemon({
          config,
          credentials,
          secrets,
          env,
          version: programVersion(),
          notifier: createNotifier(context.environment),
        });
        try {
          await daemon.run(stop.signal);
        } finally {
          await daemon.close();
        }
      } finally {
        stop.release();
      }
    });
}
