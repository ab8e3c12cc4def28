import { uptime } from 'node:os';
import type { Command } from 'commander';
import { createDaemon, type Daemon } from '../../daemon/index.ts';
import type { DaemonOptions } from '../../daemon/parts.ts';
import type { Env } from '../../domain/env.ts';
import { EligdError } from '../../domain/errors.ts';
import { applyCertificateSwitch } from '../../ops/environment.ts';
import { readFees } from '../../ops/fees.ts';
import { logLevel } from '../../ops/log.ts';
import { readPayers } from '../../ops/payer-file.ts';
import { serviceCredentials } from '../../ops/secrets.ts';
import { createNotifier, type Notifier } from '../../ops/systemd.ts';
import type { CliContext } from '../context.ts';
import { logsAsMuch, RestartWatch, requireSameDatabase } from '../reload.ts';
import { afterPause } from '../start-pause.ts';
import { stopSignal } from '../stop.ts';
import { programVersion } from '../version.ts';

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Runs the daemon in the foreground until Ctrl-C or SIGTERM: reads appointments, has ' +
        'payers called, and writes answers back. The log goes to standard output. Only one ' +
        'daemon can use a database. On SIGHUP, it checks its files and applies them, or rejects ' +
        'them and keeps the previous ones.',
    )
    .addHelpText('after', '\nExamples:\n  eligd run\n  eligd run --config /etc/eligd/eligd.yaml\n')
    .action(async () => await runUntilStopped(context));
}

/**
 * Runs the daemon, and restarts it with the new files after each SIGHUP if the files are valid.
 * Rows of the database are the only handoff, so a stop between two steps loses nothing.
 */
async function runUntilStopped(context: CliContext): Promise<void> {
  let wanted = Promise.withResolvers<'reload'>();
  const stop = stopSignal(() => wanted.resolve('reload'));
  const notifier = untilStop(createNotifier(context.environment), stop.signal);
  try {
    let world: World | null = await worldOf(context);
    let previous: World | null = null;
    const watch = new RestartWatch(context.environment, world);
    while (world !== null) {
      const reload = new AbortController();
      const options = { ...world, notifier };
      const daemon = await startedOr(context, previous, options).catch(async (error: unknown) => {
        const { path } = options.config.state;
        throw await afterPause(error, context, { state_path: path, notifier, signal: stop.signal });
      });
      if (daemon === null) {
        world = previous;
        previous = null;
        continue;
      }
      if (previous !== null) tellApplied(context, watch, previous, world);
      const current = world;
      previous = world;
      world = null;
      try {
        const end = AbortSignal.any([stop.signal, reload.signal]);
        const ended = daemon.run(end).then((): 'ended' => 'ended');
        while (world === null && (await Promise.race([ended, wanted.promise])) === 'reload') {
          wanted = Promise.withResolvers();
          world = await reloaded(context, current);
        }
        reload.abort();
        await ended;
      } finally {
        await daemon.close();
      }
      if (stop.signal.aborted) return;
    }
  } finally {
    stop.release();
  }
}

type World = Omit<DaemonOptions, 'notifier'>;

async function worldOf(context: CliContext): Promise<World> {
  const config = await context.config();
  const secrets = await context.secrets();
  const credentials = serviceCredentials(secrets, config.service.auth);
  const env = await context.env({ log_to: 'stdout' });
  const booted_at = env.clock.now() - uptime() * 1000;
  return { config, credentials, secrets, env, booted_at, version: programVersion() };
}

/**
 * Reads the files again. Returns null and logs the reason when they have errors, or when only a
 * restart can apply them.
 */
async function reloaded(context: CliContext, current: World): Promise<World | null> {
  try {
    const world = await worldOf(context.again());
    requireSameDatabase(current, world);
    readPayers(world.config);
    readFees(world.config);
    return world;
  } catch (error) {
    refuse(error, current.env);
    return null;
  }
}

/** Logs that the reload from `before` to `after` was applied, and what it could not change. */
function tellApplied(
  { environment }: CliContext,
  watch: RestartWatch,
  before: World,
  after: World,
): void {
  const level = ({ config }: World) => logLevel(config.log.level, environment);
  // A log that shows only warnings from now on must not hide that the reload was applied.
  const { env } = logsAsMuch(level(after), level(before)) ? after : before;
  env.log('reload_applied');
  for (const reason of watch.reasons(before, after)) env.log('restart_needed', { reason });
}

/**
 * Creates the daemon of a world. If it cannot start and there is a `previous` world to return to,
 * logs why and returns null: some connectors object to their settings only at the start.
 */
async function startedOr(
  { environment, stderr }: CliContext,
  previous: World | null,
  options: DaemonOptions,
): Promise<Daemon | null> {
  const { allow_insecure } = options.config.service;
  const warning = applyCertificateSwitch(environment, allow_insecure);
  // The first start has printed it when it read the configuration.
  if (previous !== null && warning !== null) stderr.write(warning);
  try {
    return await createDaemon(options);
  } catch (error) {
    if (previous === null) throw error;
    refuse(error, options.env);
    return null;
  }
}

function refuse(error: unknown, env: Env): void {
  if (!(error instanceof EligdError)) throw error;
  env.log('reload_refused', { reason: `${error.what} ${error.why} ${error.next}` });
}

/** Hides a reload from systemd: it is not a stop. */
function untilStop(notifier: Notifier, stop: AbortSignal): Notifier {
  return {
    ...notifier,
    tell: async (...assignments) => {
      if (assignments.includes('STOPPING=1') && !stop.aborted) return;
      await notifier.tell(...assignments);
    },
  };
}
