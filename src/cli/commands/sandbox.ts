import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { EligdError, errorCode } from '../../domain/errors.ts';
import {
  BEHAVIORS,
  type Behaviors,
  parseBehavior,
  type Sandbox,
  type SandboxOptions,
  startSandbox,
} from '../../sandbox/server.ts';
import type { CliContext } from '../context.ts';
import { fitLine } from '../fitted.ts';
import { printJson } from '../output.ts';
import { stopSignal, untilStopped } from '../stop.ts';

/** The sandbox has only made-up answers, so its credentials are not secret. */
const SANDBOX_CREDENTIALS = {
  username: 'clinic',
  password: 'sandbox',
  project_id: 'sandbox',
  api_key: 'sandbox',
  webhook_secret: 'sandbox',
} as const;

type Options = {
  host: string;
  port: number;
  db: string;
  seed: number;
  speed: number;
  anchorMs?: number;
  behavior?: Partial<Behaviors>;
  json?: true;
};

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Runs a simulated calling service on this machine, with made-up answers. It makes no ' +
        'calls, and nothing leaves the machine. It needs no configuration and runs until Ctrl-C.',
    )
    .option('--port <number>', 'port to listen on; 0: a free port', wholeNumber(0, 65_535), 8700)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--db <file>', 'SQLite file for its inquiries', ':memory:')
    .option(
      '--seed <number>',
      'the same seed gives the same answers',
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
      1,
    )
    .option('--speed <factor>', 'speed of its clock; at 3600, an hour takes a second', factor, 1)
    .option(
      '--anchor-ms <milliseconds>',
      'machine time at which the two clocks agree (default: now)',
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    )
    .option(
      '--behavior <name=value>',
      'how to read what the specification leaves open; repeatable, names below',
      collectBehavior,
      {},
    )
    .option('--json', 'print URL, port, anchor and credentials as JSON')
    .addHelpText('after', () => helpText())
    .action(async (options: Options) => {
      const stop = stopSignal();
      try {
        await serve(options, context, stop.signal);
      } finally {
        stop.release();
      }
    });
}

/** Starts the sandbox, prints its address, and closes it when `stop` is aborted. */
export async function serve(
  options: Options,
  context: Pick<CliContext, 'stdout'>,
  stop: AbortSignal,
): Promise<void> {
  const sandbox = await start(options);
  try {
    announce(sandbox, options, context);
    await untilStopped(stop);
  } finally {
    await sandbox.close();
  }
}

async function start({
  host,
  port,
  db,
  seed,
  speed,
  anchorMs,
  behavior = {},
}: Options): Promise<Sandbox> {
  const wanted: SandboxOptions = {
    host,
    port,
    db,
    seed,
    speed,
    behaviors: behavior,
    credentials: SANDBOX_CREDENTIALS,
  };
  if (db !== ':memory:' && !existsSync(dirname(db)))
    throw new EligdError('failed', noDatabase(db, 'its folder does not exist'));
  try {
    return await startSandbox(anchorMs === undefined ? wanted : { ...wanted, anchor_ms: anchorMs });
  } catch (error) {
    const told = startFailure(errorCode(error), { host, port, db });
    throw told === null ? error : new EligdError('failed', { ...told, cause: error });
  }
}

function startFailure(
  code: string | null,
  { host, port, db }: { host: string; port: number; db: string },
) {
  const what = 'The sandbox did not start.';
  switch (code) {
    case 'EADDRINUSE':
      return {
        what,
        why: `Another program is using port ${port} on ${host}.`,
        next: 'Stop that program, or choose another port with --port (0: a free port).',
      };
    case 'EACCES':
      return {
        what,
        why: `This user may not listen on port ${port}.`,
        next: 'Choose a port above 1023 with --port.',
      };
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return {
        what,
        why: `${host} is not an address of this machine.`,
        next: 'Leave out --host, or use 127.0.0.1.',
      };
    default:
      return code?.startsWith('SQLITE_') === true ? noDatabase(db, code) : null;
  }
}

function noDatabase(db: string, reason: string) {
  return {
    what: 'The sandbox did not start.',
    why: `The database ${db} could not be opened: ${reason}.`,
    next: 'Name a file in an existing, writable folder, or leave out --db.',
  };
}

function announce(
  { url, port, anchor_ms }: Sandbox,
  options: Options,
  { stdout }: Pick<CliContext, 'stdout'>,
): void {
  if (options.json) {
    printJson(stdout, { url, port, anchor_ms, credentials: SANDBOX_CREDENTIALS });
    return;
  }
  const { username, password, project_id, api_key, webhook_secret } = SANDBOX_CREDENTIALS;
  const behaviors = Object.entries(options.behavior ?? {}).map(
    ([name, value]) => `${name}=${value}`,
  );
  const lines = [
    `The sandbox is listening at ${url} (speed ${options.speed}, seed ${options.seed}, ` +
      `database ${options.db}).`,
    ...(behaviors.length > 0 ? [`Behaviors: ${behaviors.join(', ')}`] : []),
    '',
    `In the configuration:   service: { base_url: ${url}, auth: oauth }`,
    `In .env, for oauth:     ELIGD_SERVICE_USERNAME=${username}  ` +
      `ELIGD_SERVICE_PASSWORD=${password}`,
    `In .env, for basic:     ELIGD_SERVICE_PROJECT_ID=${project_id}  ` +
      `ELIGD_SERVICE_API_KEY=${api_key}`,
    `In .env, for webhooks:  ELIGD_WEBHOOK_SECRET=${webhook_secret}`,
    '',
    `What it has received:   curl ${url}/_sandbox/ledger`,
    `How it behaves:         curl ${url}/_sandbox/behaviors`,
    'See src/sandbox/README.md for more. Ctrl-C stops it.',
  ];
  stdout.write(`${lines.join('\n')}\n`);
}

/** The help of a terminal of this width has no broken lines. */
const HELP_COLUMNS = 80;

function helpText(): string {
  const behaviors = Object.entries(BEHAVIORS).flatMap(([name, { values, default: initial }]) => {
    const shown = typeof values === 'string' ? values : values.join(' | ');
    return fitLine(`  ${name}: ${shown} [${initial}]`, HELP_COLUMNS);
  });
  return `
Examples:
  eligd sandbox
  eligd sandbox --db ./sandbox.db --speed 3600
  eligd sandbox --behavior list_paging=page --behavior list_delay_seconds=120

Behaviors (what they mean: src/sandbox/README.md), defaults in brackets:
${behaviors.join('\n')}
`;
}

function wholeNumber(low: number, high: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= low && value <= high) return value;
    throw new InvalidArgumentError(
      `Write a whole number from ${low}${high === Number.MAX_SAFE_INTEGER ? '' : ` to ${high}`}.`,
    );
  };
}

function factor(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('Write a number above 0.');
}

function collectBehavior(text: string, before: Partial<Behaviors> = {}): Partial<Behaviors> {
  try {
    return { ...before, ...parseBehavior(text) };
  } catch (error) {
    throw new InvalidArgumentError(
      error instanceof Error ? error.message : 'This is not a behavior.',
    );
  }
}
