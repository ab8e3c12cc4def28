import { type Command, InvalidArgumentError } from 'commander';
import { EligdError } from '../../domain/errors.ts';
import type { Config } from '../../ops/config.ts';
import { isLoopback } from '../../ops/config-values.ts';
import type { Subscription } from '../../service/api.ts';
import { isSameUrl } from '../../service/callback-url.ts';
import type { CliContext } from '../context.ts';
import { noteAction } from '../looks.ts';
import { printJson } from '../output.ts';
import { unwrap, withService } from '../service.ts';

const DEFAULT_MINUTES = 5;
const JSON_FORM =
  'as JSON: {"schema", "subscription": {"callback_url", "update_frequency_min"}}; null: none';

type Shown = { callback_url: string; update_frequency_min: number };

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Shows and changes where the service sends webhook events. The account has one ' +
        'subscription or none.',
    )
    .addHelpText(
      'after',
      `
Examples:
  eligd subscription show
  eligd subscription set --minutes 15 \\
    --url https://clinic.example/webhooks/inquiries
  eligd subscription delete
`,
    );
  registerShow(command, context);
  registerSet(command, context);
  registerDelete(command, context);
}

function registerShow(command: Command, context: CliContext): void {
  command
    .command('show')
    .description('Shows the service’s current subscription.')
    .option('--json', JSON_FORM)
    .addHelpText(
      'after',
      '\nExamples:\n  eligd subscription show\n  eligd subscription show --json\n',
    )
    .action(async (options: { json?: true }) => {
      const found = await withService(context, async ({ client, config }) =>
        unwrap(
          await client.getSubscription({ priority: 'urgent' }),
          { what: 'The subscription could not be read.' },
          config,
        ),
      );
      say(context, found === null ? null : shown(found), options);
    });
}

function registerSet(command: Command, context: CliContext): void {
  command
    .command('set')
    .description('Creates or changes the subscription, and shows what the service stored.')
    .option(
      '--url <address>',
      'where the service sends webhook events (default: webhook.public_url of the configuration)',
      webAddress,
    )
    .option(
      '--minutes <number>',
      'minutes between two events (default: webhook.update_frequency_minutes of the ' +
        'configuration)',
      wholeMinutes,
    )
    .option('--json', JSON_FORM)
    .addHelpText(
      'after',
      `
Examples:
  eligd subscription set --url https://clinic.example/webhooks/inquiries
  eligd subscription set --minutes 15 \\
    --url https://clinic.example/webhooks/inquiries
`,
    )
    .action(async (options: { url?: string; minutes?: number; json?: true }) => {
      const { webhook } = await context.config();
      const minutes = options.minutes ?? webhook?.update_frequency_minutes ?? DEFAULT_MINUTES;
      const wanted = wantedAddress(options.url, await context.config());
      const kept = await withService(context, async ({ client, config }) => {
        const result = await client.setSubscription(
          { callback_url: wanted, update_frequency_min: minutes },
          { priority: 'urgent' },
        );
        const attempt = {
          what: 'The subscription could not be set.',
          is_change: true,
          may_show_words: true,
        };
        return shown(unwrap(result, attempt, config));
      });
      await noteAction(context, {
        subject: 'subscription',
        to_state: 'set',
        reason: `Webhook events now go to ${wanted}: “eligd subscription set”.`,
      });
      say(context, kept, options);
      for (const note of receiverNotes(await context.config(), kept.callback_url))
        context.stderr.write(`Note: ${note}\n`);
      if (!isSameUrl(kept.callback_url, wanted) || kept.update_frequency_min !== minutes) {
        context.stderr.write('Note: the service stored something other than what you asked for.\n');
      }
    });
}

function registerDelete(command: Command, context: CliContext): void {
  command
    .command('delete')
    .description(
      'Deletes the subscription, so the service sends no webhook events. eligd keeps polling.',
    )
    .option('--json', JSON_FORM)
    .addHelpText('after', '\nExamples:\n  eligd subscription delete\n')
    .action(async (options: { json?: true }) => {
      await withService(context, async ({ client, config }) => {
        const attempt = { what: 'The subscription could not be deleted.', is_change: true };
        unwrap(await client.deleteSubscription({ priority: 'urgent' }), attempt, config);
      });
      await noteAction(context, {
        subject: 'subscription',
        to_state: 'deleted',
        reason: 'The subscription was deleted: “eligd subscription delete”.',
      });
      say(context, null, options);
    });
}

function say({ stdout }: CliContext, subscription: Shown | null, options: { json?: true }): void {
  if (options.json) printJson(stdout, { schema: 'eligd.subscription/1', subscription });
  else if (subscription === null)
    stdout.write('The service has no subscription; eligd polls for answers instead.\n');
  else {
    const { callback_url, update_frequency_min } = subscription;
    const minutes = update_frequency_min === 1 ? 'minute' : `${update_frequency_min} minutes`;
    stdout.write(`The service sends webhook events to ${callback_url} every ${minutes}.\n`);
  }
}

function shown({ callback_url, update_frequency_min }: Subscription): Shown {
  return { callback_url, update_frequency_min: update_frequency_min ?? DEFAULT_MINUTES };
}

/**
 * Returns notes when nothing receives the events: a program must listen at the address, and the
 * daemon sets the address of its configuration again.
 */
function receiverNotes({ webhook }: Config, callback_url: string): string[] {
  if (webhook === null)
    return ['the configuration has no section "webhook", so eligd does not listen there.'];
  if (isSameUrl(webhook.public_url, callback_url)) return [];
  const then = webhook.take_over
    ? 'the daemon takes it back'
    : 'the daemon leaves it alone and polls for answers';
  return [`webhook.public_url is ${webhook.public_url}; ${then}.`];
}

/**
 * Returns the address to set. The service will send patient data there, so it must meet the rules
 * of service.base_url.
 */
function wantedAddress(given: string | undefined, config: Config): string {
  const url = given ?? config.webhook?.public_url;
  if (url === undefined) {
    throw new EligdError('usage', {
      what: 'The subscription was not set.',
      why: 'Neither --url nor webhook.public_url in the configuration is set.',
      next: 'Use --url to name where the service should send webhook events.',
    });
  }
  if (/^http:/i.test(url) && !isLoopback(url) && !config.service.allow_insecure) {
    throw new EligdError('usage', {
      what: 'The subscription was not set.',
      why:
        'The address is plain http to another machine, so others on the network could read ' +
        'patient data.',
      next:
        'Use an address that begins with https://; for tests, set ' +
        'service.allow_insecure: true.',
    });
  }
  return url;
}

function webAddress(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.hash === '')
    return text;
  throw new InvalidArgumentError(
    'Write a web address, such as https://clinic.example/webhooks/inquiries.',
  );
}

function wholeMinutes(text: string): number {
  const minutes = Number(text);
  if (/^\d{1,5}$/.test(text) && minutes >= 1) return minutes;
  throw new InvalidArgumentError('Write a whole number of minutes, 1 or more.');
}
