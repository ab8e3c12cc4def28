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
      'Takes every stage once and ends: reads what is in the drop folder, sends what is due ' +
        'within the rate limit, asks about ' +
        ('every open inquiry, writes answers back. It waits until new files are complete, and ' +
          'never for an answer.'),
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
    what: 'Nothing was sent: the inquiry service could not be reached, or turned us away.',
    why:
      `Its list could not be read at ${new URL(base_url).origin}; the log above says how it ` +
      'failed.',
    next: 'Run "eligd check" to see why. Everything due is kept and goes the next time.',
  });
}

function connectorsAway(ids: readonly string[]): EligdError {
  return new EligdError('temporary', {
    what:
      'Not everything could be read from, or written to, the practice management system: ' +
      `${ids.join(', ')}.`,
    why: 'The log above says why; the rest was done.',
    next: 'Run "eligd check" to see what is wrong. What is missing is tried again the next time.',
  });
}

function stagesFailed(names: readonly string[]): EligdError {
  return new EligdError('failed', {
    what: `A part of the work failed: ${names.join(', ')}.`,
    why: 'The log above says why; the rest was done.',
    next: 'Look at disk space and permissions first. What failed is tried again the next time.',
  });
}
