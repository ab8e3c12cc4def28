import type { Command } from 'commander';
import { createDaemon } from '../../daemon/index.ts';
import { EligdError } from '../../domain/errors.ts';
import { serviceCredentials } from '../../ops/secrets.ts';
import { countSituations } from '../../store/views/overview.ts';
import type { CliContext } from '../context.ts';
import { printJson } from '../output.ts';
import { withProgressLine } from '../progress-line.ts';
import { commandEnv } from '../service.ts';
import { stopSignal } from '../stop.ts';
import { summaryLine } from '../summary.ts';
import { programVersion } from '../version.ts';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Runs every stage once, then stops: reads what is in the drop folder, sends what is due ' +
        'within the rate limit, asks about every open inquiry, and writes answers back. It waits ' +
        'for new files to be complete, but never for an answer.',
    )
    .option('--json', 'print the counts as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  eligd once\n  eligd once --config config/eligd.yaml --json\n',
    )
    .action(async ({ json }: { json?: true }) => {
      const config = await context.config();
      const secrets = await context.secrets();
      const credentials = serviceCredentials(secrets, config.service.auth);
      const env = await commandEnv(context);
      const stop = stopSignal();
      try {
        const daemon = await createDaemon({
          config,
          credentials,
          secrets,
          env,
          version: programVersion(),
        });
        try {
          const result = await withProgressLine(
            context.stderr,
            async () => summaryLine(await countSituations(daemon.store.db, env.clock.now())),
            () => daemon.once(stop.signal),
          );
          const counts = await countSituations(daemon.store.db, env.clock.now());
          if (json) printJson(context.stdout, { schema: 'eligd.once/1', ...counts });
          else context.stdout.write(`${summaryLine(counts)}\n`);
          if (!json && config.mode === 'observe')
            context.stdout.write('Observe mode: eligd made no calls (mode: observe).\n');
          if (result.is_service_away) throw serviceAway(config.service.base_url);
          if (result.failed_stages.length > 0) throw stagesFailed(result.failed_stages);
          if (result.connectors_away.length > 0) throw connectorsAway(result.connectors_away);
        } finally {
          await daemon.close();
        }
      } finally {
        stop.release();
      }
    });
}

function serviceAway(base_url: string): EligdError {
  return new EligdError('temporary', {
    what: 'Nothing was sent: the service could not be reached, or it rejected our requests.',
    why:
      `Its list could not be read at ${new URL(base_url).origin}; the log above says how it ` +
      'failed.',
    next: 'Run "eligd check" to see why. Everything that is due is kept and sent next time.',
  });
}

function connectorsAway(ids: readonly string[]): EligdError {
  return new EligdError('temporary', {
    what:
      'Some data could not be read from or written to the practice management system: ' +
      `${ids.join(', ')}.`,
    why: 'The log above says why. Everything else was done.',
    next: 'Run "eligd check" to see what is wrong. eligd tries the rest again next time.',
  });
}

function stagesFailed(names: readonly string[]): EligdError {
  return new EligdError('failed', {
    what: `Some of the work failed: ${names.join(', ')}.`,
    why: 'The log above says why. Everything else was done.',
    next: 'Check disk space and permissions first. eligd tries again next time.',
  });
}
