import type { Command } from 'commander';
import { EligdError, type ErrorKind } from '../../domain/errors.ts';
import { checkConfiguration, checkSecrets } from '../checks/configuration.ts';
import { checkConnectors, NO_SECRETS } from '../checks/connectors.ts';
import { badBecause, type CheckedLine, skipped } from '../checks/line.ts';
import { checkService, serviceSkipped } from '../checks/service.ts';
import { checkSight } from '../checks/sight.ts';
import { checkState } from '../checks/state.ts';
import { checkWebhook } from '../checks/webhook.ts';
import type { CliContext } from '../context.ts';
import { printJson } from '../output.ts';
import { commandEnv } from '../service.ts';
import { programVersion } from '../version.ts';

type Versions = { version: string; node: string; platform: string };

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Checks everything that eligd needs: configuration, secrets, payer map, database, disk, ' +
        'the login to the service, the clock, the path of a webhook event through the public ' +
        'address, and each connector. Each problem is listed with its fix. Nothing is changed ' +
        'and no calls are made.',
    )
    .option(
      '--json',
      'as JSON: {"schema", "version", "node", "platform", "ok", "lines": [{"part", "state", ' +
        '"what", "next"}]}',
    )
    .addHelpText(
      'after',
      `
Examples:
  eligd check
  eligd check --config /etc/eligd/eligd.yaml
  eligd check --json

Lines begin with "ok", with "!!" (a problem; the arrow shows what to do), or
with "--" (not checked). Exit code: 0 if nothing is wrong, 78 if the
configuration or secrets are wrong, 75 if only the calling service or a practice
management system cannot be reached, and 1 otherwise.
`,
    )
    .action(async (options: { json?: true }) => {
      const versions = readVersions();
      if (!options.json)
        context.stdout.write(
          `eligd ${versions.version}, Node ${versions.node}, ${versions.platform}\n`,
        );
      const lines: CheckedLine[] = [];
      for await (const found of runChecks(context)) {
        lines.push(...found);
        if (!options.json)
          context.stdout.write(found.map((line) => `${sentence(line)}\n`).join(''));
      }
      if (options.json) {
        const ok = lines.every(({ state }) => state !== 'failed');
        printJson(context.stdout, {
          schema: 'eligd.check/1',
          ...versions,
          ok,
          lines: lines.map(jsonLine),
        });
      }
      endWith(lines);
    });
}

/**
 * Runs the checks in the order in which you would fix problems; each uses the results of the
 * earlier ones.
 */
async function* runChecks(context: CliContext): AsyncGenerator<CheckedLine[]> {
  let config: Awaited<ReturnType<CliContext['config']>>;
  try {
    config = await context.config();
  } catch (error) {
    yield [
      badBecause('configuration', error),
      skipped('the rest', 'Not checked, because it depends on the configuration.'),
    ];
    return;
  }
  yield await checkConfiguration(config);
  const env = await commandEnv(context);
  const secrets = await context.secrets().catch((error: unknown) => badBecause('secrets', error));
  const secret_lines = 'part' in secrets ? [secrets] : await checkSecrets(config, secrets);
  yield secret_lines;
  yield await checkState(config, env.clock.now());
  if ('part' in secrets || secret_lines.some(({ state }) => state === 'failed'))
    yield serviceSkipped();
  else
    yield [
      ...(await checkService({ config, secrets, env })),
      ...(await checkWebhook(config, secrets)),
    ];
  yield await checkConnectors(config, env, 'part' in secrets ? NO_SECRETS : secrets);
  yield checkSight(config);
}

const MARKS = { ok: 'ok', failed: '!!', skipped: '--' } as const;

function sentence(line: CheckedLine): string {
  const told = `${MARKS[line.state]} ${line.part}: ${line.what}`;
  if (line.state !== 'failed') return told;
  // Several errors in one file are listed one per line, and the fix follows them.
  return `${told}${told.includes('\n') ? '\n' : ' '}→ ${line.next}`;
}

function jsonLine(line: CheckedLine) {
  const { part, state, what } = line;
  return { part, state, what, next: line.state === 'failed' ? line.next : null };
}

/**
 * Throws the worst problem: a configuration problem before all others, and "temporary" only if
 * nothing else is wrong.
 */
function endWith(lines: readonly CheckedLine[]): void {
  const kinds = lines.flatMap((line) => (line.state === 'failed' ? [line.kind] : []));
  if (kinds.length === 0) return;
  const kind: ErrorKind = kinds.includes('configuration')
    ? 'configuration'
    : kinds.every((each) => each === 'temporary')
      ? 'temporary'
      : 'failed';
  throw new EligdError(kind, {
    what:
      kinds.length === 1
        ? 'The check found a problem.'
        : `The check found ${kinds.length} problems.`,
    why: 'See the lines marked "!!" above (with --json: "failed").',
    next: 'Follow the step after each arrow, then run "eligd check" again.',
  });
}

function readVersions(): Versions {
  return {
    version: programVersion(),
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
  };
}
