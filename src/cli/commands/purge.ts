import { type Command, InvalidArgumentError } from 'commander';
import {
  type Limits,
  leftOver,
  limitsOf,
  type OldKind,
  type PurgeReport,
  previewPurge,
  purgeAll,
} from '../../daemon/purge.ts';
import { EligdError } from '../../domain/errors.ts';
import { DAY_MS, localDate } from '../../domain/time.ts';
import type { Config } from '../../ops/config.ts';
import { createConnectors } from '../../ops/open-connectors.ts';
import { connectorJournal } from '../../store/bookkeeping/journal.ts';
import { openStore } from '../../store/engine/store.ts';
import { actorOf } from '../actor.ts';
import type { CliContext, Output } from '../context.ts';
import { printJson, printTable } from '../output.ts';
import { commandEnv } from '../service.ts';
import { isoTime } from '../times.ts';

/** Younger answers may still serve other visits or be written back. */
const DAYS_MIN = 60;

type Options = { olderThan?: number; dryRun?: true; json?: true };

export function register(command: Command, context: CliContext): void {
  command
    .description(
      'Permanently deletes data past its retention time (retention:): visits with everything ' +
        'that eligd knows about them, older parts of answers, files in drop folders, database ' +
        'copies left by upgrades and restores, and old entries of the audit trail. It says ' +
        'whether the bytes are gone. The daemon does the same daily. Other backups keep what ' +
        'they hold, and the practice management system is not changed.',
    )
    .option('--older-than <days>', 'days since the visit (default: retention.days)', wholeDays)
    .option('--dry-run', 'show what would be deleted, and delete nothing')
    .option('--json', 'as JSON (docs/json.md, eligd.purge/1 and eligd.purge_preview/1)')
    .addHelpText(
      'after',
      '\nExamples:\n  eligd purge --dry-run\n  eligd purge\n  eligd purge --older-than ' +
        '90\n\nData of a patient on legal hold is kept: see "eligd legal-hold --help".\n',
    )
    .action((options: Options) => work(context, options));
}

async function work(context: CliContext, options: Options): Promise<void> {
  const config = await context.config();
  const env = await commandEnv(context);
  const now = env.clock.now();
  const limits = limitsOf(config, now);
  if (options.olderThan !== undefined) limits.visits = now - options.olderThan * DAY_MS;
  if (Object.values(limits).every((limit) => limit === null)) throw nothingIsOld();
  const store = await openStore(config.state.path);
  try {
    const means = {
      secrets: await context.secrets(),
      journal: (id: string) => connectorJournal(store, id, env.clock),
    };
    const connectors = await createConnectors(config, env, means);
    const place = { config, connectors };
    try {
      if (options.dryRun) {
        showPreview(context.stdout, await previewPurge(place, store.db, limits), {
          limits,
          config,
          as_json: options.json === true,
        });
        return;
      }
      const by = actorOf(context.environment);
      const report = await purgeAll(place, store, { limits, now, by });
      const older_than_days = options.olderThan ?? config.retention.days;
      if (options.json) printJson(context.stdout, reportJson(report, older_than_days));
      else context.stdout.write(reportLines(report).join('\n'));
      const left = leftOver(report);
      if (left !== null) throw left;
    } finally {
      for (const { connector } of connectors) await connector.close?.();
    }
  } finally {
    await store.close();
  }
}

function nothingIsOld(): EligdError {
  return new EligdError('usage', {
    what: 'Nothing was deleted.',
    why: 'Every limit under retention: is null, so eligd keeps everything.',
    next: 'Name an age in days: eligd purge --older-than 400',
  });
}

function reportJson(report: PurgeReport, older_than_days: number | null) {
  const { left_files, rewritten, ...counts } = report;
  return {
    schema: 'eligd.purge/1',
    older_than_days,
    ...counts,
    left_files,
    is_gone: leftOver(report) === null,
    is_wal_empty: rewritten !== 'busy',
    is_rewritten: rewritten === 'done',
  };
}

function reportLines(report: PurgeReport): string[] {
  const { appointments, inquiries, copies, answers, requests, recordings } = report;
  const { files, log_entries } = report;
  const done =
    leftOver(report) === null ? 'Deleted' : 'Removed, but some of it is still on the disk';
  const others = [
    [answers, 'stored answers'],
    [requests, 'requests'],
    [recordings, 'recording addresses in records'],
    [files, 'files in drop folders'],
    [log_entries, 'entries of the audit trail and the access log'],
  ] as const;
  return [
    `${done}: ${appointments} appointments, ${inquiries} inquiries and ${copies} old database ` +
      'copies.',
    ...others.flatMap(([count, what]) => (count === 0 ? [] : [`Also: ${count} ${what}.`])),
    '',
  ];
}

const KINDS: readonly (readonly [OldKind, string])[] = [
  ['visits', 'visits and claims'],
  ['answers', 'stored answers'],
  ['requests', 'requests'],
  ['recordings', 'recording addresses'],
  ['processed', 'files in processed/'],
  ['rejected', 'files in rejected/'],
  ['outbox', 'files in outbox/'],
  ['copies', 'database copies'],
  ['logs', 'entries of both logs'],
];

type Counts = Awaited<ReturnType<typeof previewPurge>>;

function showPreview(
  to: Output,
  counts: Counts,
  { limits, config, as_json }: { limits: Limits; config: Config; as_json: boolean },
): void {
  const limitOf = (kind: OldKind) => (kind === 'copies' ? limits.visits : limits[kind]);
  if (as_json) {
    printJson(to, {
      schema: 'eligd.purge_preview/1',
      kinds: KINDS.map(([kind]) => ({
        kind,
        count: counts[kind].count,
        oldest_at: isoTime(counts[kind].oldest),
        before: isoTime(limitOf(kind)),
      })),
    });
    return;
  }
  const day = (at: number | null) => (at === null ? null : localDate(at, config.clinic.time_zone));
  to.write('What "eligd purge" would delete. Nothing was deleted.\n\n');
  printTable(
    to,
    [
      { title: 'what' },
      { title: 'how many', align: 'right' },
      { title: 'oldest', is_whole: true },
      { title: 'goes before', is_whole: true },
    ],
    KINDS.map(([kind, name]) => [
      name,
      counts[kind].count,
      day(counts[kind].oldest),
      day(limitOf(kind)),
    ]),
  );
}

function wholeDays(text: string): number {
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= DAYS_MIN) return days;
  throw new InvalidArgumentError(`Write a whole number of days from ${DAYS_MIN}.`);
}
