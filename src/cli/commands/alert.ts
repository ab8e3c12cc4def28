import { hostname } from 'node:os';
import { type Command, Option } from 'commander';
import type { Alert } from '../../domain/alerts/book.ts';
import { EligdError } from '../../domain/errors.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { type AlertSender, alertSenders } from '../../ops/alert-targets.ts';
import { type AlertText, alertText } from '../../ops/alert-text.ts';
import {
  type AlertPlace,
  alertPlace,
  lastGoodPlace,
  readFailure,
  writeFailure,
} from '../../ops/daemon-failure.ts';
import { realClock } from '../../ops/env.ts';
import { shippedFile } from '../../ops/project.ts';
import { openSecrets } from '../../ops/secrets.ts';
import type { CliContext } from '../context.ts';

/** During a shorter failure, systemd restarts the daemon before anyone needs to know. */
const FAILING_FOR_MS = 15 * MINUTE_MS;
/** A restart does not help against an invalid configuration (EXIT_CODES.configuration). */
const FINAL_STATUS = '78';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Sends the alert targets (alerts.targets) a test message, or the message that the daemon ' +
        'is not running.',
    )
    .addHelpText('after', '\nExamples:\n  eligd alert test\n  eligd alert failed\n');
  registerTest(command, context);
  registerFailed(command, context);
}

function registerTest(command: Command, context: CliContext): void {
  command
    .command('test')
    .description('Sends a test message to every target, and shows which targets accepted it.')
    .argument('[target]', 'test only the target with this ID')
    .addHelpText('after', '\nExamples:\n  eligd alert test\n  eligd alert test it-mail\n')
    .action(async (target: string | undefined) => {
      const place = alertPlace(await context.config());
      const senders = sendersOf(place, context).filter(
        ({ id }) => target === undefined || id === target,
      );
      if (senders.length === 0) throw noTarget(target);
      const text = testText(place, realClock.now());
      const failures = await sendToAll(senders, text, (id) =>
        context.stdout.write(`ok ${id}: it accepted the test message.\n`),
      );
      for (const { what, why, next } of failures)
        context.stdout.write(`!! ${what} ${why} → ${next}\n`);
      if (failures.length > 0)
        throw new EligdError('failed', {
          what: `${failures.length} of ${senders.length} targets did not accept the message.`,
          why: 'See the lines marked "!!" above.',
          next: 'Follow the step after each arrow, then run the command again.',
        });
    });
}

function registerFailed(command: Command, context: CliContext): void {
  command
    .command('failed')
    .description(
      'Used by the systemd unit when the daemon has stopped with an error: tells every target ' +
        'that eligd cannot run. Sends one message: at once if the configuration is wrong, ' +
        'otherwise after 15 minutes of failed starts.',
    )
    .addOption(new Option('--status <code>', 'exit status of the daemon').hideHelp())
    .addHelpText('after', '\nExamples:\n  eligd alert failed\n')
    .action(async (options: { status?: string }) => {
      const { environment } = context;
      const { SERVICE_RESULT, EXIT_STATUS, MONITOR_EXIT_STATUS } = environment;
      if (SERVICE_RESULT === 'success') return;
      const place = await placeOf(context);
      const now = realClock.now();
      const { first_at, told_at } = readFailure(place.state_path, environment);
      if (told_at !== null) return;
      const status = options.status ?? EXIT_STATUS ?? MONITOR_EXIT_STATUS ?? FINAL_STATUS;
      const since = first_at ?? now;
      const is_due = status === FINAL_STATUS || now - since >= FAILING_FOR_MS;
      if (!is_due) {
        writeFailure(place.state_path, environment, { first_at: since, told_at: null });
        return;
      }
      const text = failedText(place, { since, now, status });
      const senders = sendersOf(place, context);
      const failures = await sendToAll(senders, text, () => {});
      // One accepted message is enough to inform people, so the next failed start sends none.
      const was_told = failures.length < senders.length;
      writeFailure(place.state_path, environment, {
        first_at: since,
        told_at: was_told ? now : null,
      });
      const [failure] = failures;
      if (failure !== undefined) throw failure;
    });
}

/** Returns the alerts of the configuration, or the last valid ones. */
async function placeOf(context: CliContext): Promise<AlertPlace> {
  try {
    return alertPlace(await context.config());
  } catch (error) {
    const { STATE_DIRECTORY } = context.environment;
    const kept = STATE_DIRECTORY ? lastGoodPlace(STATE_DIRECTORY) : null;
    if (kept === null) throw error;
    return kept;
  }
}

function sendersOf({ alerts, folder }: AlertPlace, { environment }: CliContext): AlertSender[] {
  return alertSenders(alerts.targets, { secrets: openSecrets(folder, environment), folder });
}

async function sendToAll(
  senders: readonly AlertSender[],
  text: AlertText,
  onSent: (id: string) => void,
): Promise<EligdError[]> {
  const failures: EligdError[] = [];
  await Promise.all(
    senders.map(async ({ id, send }) => {
      try {
        await send(text);
        onSent(id);
      } catch (error) {
        if (!(error instanceof EligdError)) throw error;
        failures.push(error);
      }
    }),
  );
  return failures;
}

function testText({ clinic: { name, time_zone } }: AlertPlace, now: number): AlertText {
  const subject = `eligd at ${name}: this is a test`;
  const at = new Date(now).toISOString();
  const body = `This is a test of "eligd alert test". Nothing is wrong. (${at}, ${time_zone})\n`;
  const document = { schema: 'eligd.alert/1', kind: 'test', clinic: name, host: hostname(), at };
  return { subject, body, document };
}

function failedText(
  { clinic: { name, time_zone } }: AlertPlace,
  { since, now, status }: { since: number; now: number; status: string },
): AlertText {
  const alert: Alert = {
    id: 0,
    name: 'daemon_failed',
    about: '',
    detail: `The daemon stopped with exit status ${status}.`,
    since,
    begun_at: now,
    gone_at: null,
    ended_at: null,
    reminded_at: now,
  };
  return alertText(alert, 'begin', { clinic: name, time_zone, host: hostname() });
}

function noTarget(target: string | undefined): EligdError {
  return new EligdError('configuration', {
    what: target === undefined ? 'There is no target to test.' : `There is no target "${target}".`,
    why: 'The configuration has none under alerts.targets.',
    next: `Add one; ${shippedFile('docs/alerts.md')} shows how.`,
  });
}
