/**
 * Shows what an export, or the current data of a server, would cause. It reads and plans on a copy
 * of the database in memory; nothing is sent, and nothing is written.
 */
import { ConnectorError, type PullBatch, type PullCall } from '../../connectors/contract.ts';
import { type AttentionReason, PLANNING_REASONS } from '../domain/attention.ts';
import type { Env } from '../domain/env.ts';
import { EligdError } from '../domain/errors.ts';
import type { InquiryDraft } from '../domain/inquiry.ts';
import { type Cents, priceAt } from '../domain/price.ts';
import type { SituationWord } from '../domain/situation.ts';
import { addDays, localDate, startOfDay } from '../domain/time.ts';
import type { Config } from '../ops/config.ts';
import { createConnectors, type OpenConnector } from '../ops/open-connectors.ts';
import { PayerFile } from '../ops/payer-file.ts';
import { pricesOf } from '../ops/prices.ts';
import { clinicProfile, policyOf } from '../ops/profile.ts';
import type { SecretSource } from '../ops/secrets.ts';
import { planStep } from '../stages/plan/index.ts';
import { planAllAgain } from '../store/calls/plan-due.ts';
import { openScratch } from '../store/engine/scratch.ts';
import type { Store } from '../store/engine/store.ts';
import { acceptBatch } from '../store/intake/intake.ts';
import { type NamedPayer, namedPayersOf } from '../store/views/payers.ts';
import { openReasons, plannedCalls, plannedFor, situationsOf } from '../store/views/preview.ts';

type PreviewOptions = {
  config: Config;
  env: Env;
  secrets: SecretSource;
  /** Absolute path of the export; null: read a connector's server instead. */
  file: string | null;
  /** The connector to use; null: the only one that can read the source. */
  connector: string | null;
};

type Calls = { calls: number; cents: Cents; unpriced: number };

export type Preview = {
  connector: string;
  /** `items`: appointments and claims; several rows of one appointment count once. */
  rows: { items: number; rejected: PullBatch['rejected'] };
  /** The export's visits, by situation. */
  visits: { situation: SituationWord; count: number }[];
  claims: number;
  /** The attention items that it would cause, by reason. */
  attention: { reason: string; count: number }[];
  /** Every coverage that open visits and claims of the export name. */
  payers: NamedPayer[];
  /** The calls that it would cause now, at current prices. */
  calls: Calls;
  /** Calls for its visits that are too far ahead now, as far as eligd knows what it will ask. */
  later: Calls;
};

/** The maximum number of planning steps: far more than any export needs. */
const STEPS_MAX = 10_000;
/** The longest look-ahead that the configuration allows. */
const LOOK_AHEAD_DAYS_MAX = 365;

/** Throws an EligdError when no connector can read the source, or reading fails. */
export async function previewExport(options: PreviewOptions): Promise<Preview> {
  const { config, secrets } = options;
  const env: Env = { ...options.env, log: () => {} };
  const store = await openScratch(config.state.path);
  const nothing = { read: async () => null, write: async () => {} };
  const made = await createConnectors(config, env, { secrets, journal: () => nothing });
  try {
    const chosen = readerOf(made, options);
    const plan = planner(store, config, env);
    // Plan first what is due without the export, so that it is not counted.
    await plan();
    const planned = await plannedCalls(store.db);
    const listed = await openReasons(store.db);
    const read = await readInto(store, chosen, env);
    await plan();
    return {
      connector: chosen.id,
      rows: { items: read.items, rejected: read.rejected },
      visits: await situationsOf(store.db, chosen.id, read.source_ids, env.clock.now()),
      claims: read.claims,
      attention: countReasons(withoutKeys(await openReasons(store.db), listed)),
      payers: await namedPayersOf(store.db, chosen.id, new Set(read.named)),
      calls: priceCalls(withoutKeys(await plannedCalls(store.db), planned), options),
      later: await laterCalls(store, { ...options, env }, { ...chosen, ...read }),
    };
  } finally {
    for (const { connector } of made) await connector.close?.();
    await store.close();
  }
}

/** Runs last, because it plans every visit in the copy as if it were near enough. */
async function laterCalls(
  store: Store,
  { config, env }: Pick<PreviewOptions, 'config' | 'env'>,
  { id, source_ids }: { id: string; source_ids: readonly string[] },
): Promise<Calls> {
  const before = await plannedCalls(store.db);
  await store.write((tx) => planAllAgain(tx, env.clock.now()));
  const policy = { ...config.policy, look_ahead_days: LOOK_AHEAD_DAYS_MAX };
  await planner(store, { ...config, policy }, env)();
  const of_export = await plannedFor(store.db, id, new Set(source_ids));
  const added = [...(await plannedCalls(store.db))].filter(
    ([inquiry]) => of_export.has(inquiry) && !before.has(inquiry),
  );
  return priceCalls(
    added.map(([, draft]) => draft),
    { config, env },
  );
}

/**
 * Returns the calls that tomorrow adds to those planned now: for visits that enter the look-ahead
 * window tomorrow. Priced as if they were sent tomorrow.
 */
export async function callsOfTomorrow({
  config,
  env,
}: Pick<PreviewOptions, 'config' | 'env'>): Promise<Preview['calls']> {
  const store = await openScratch(config.state.path);
  const { time_zone } = config.clinic;
  const tomorrow = addDays(localDate(env.clock.now(), time_zone), 1);
  const begin = startOfDay(tomorrow, time_zone);
  const later: Env = { ...env, log: () => {}, clock: { ...env.clock, now: () => begin } };
  try {
    await planner(store, config, { ...env, log: () => {} })();
    const planned = await plannedCalls(store.db);
    await planner(store, config, later)();
    const added = withoutKeys(await plannedCalls(store.db), planned);
    return priceCalls(added, { config, env: later });
  } finally {
    await store.close();
  }
}

type Source = (call: Pick<PullCall, 'accept' | 'signal'>) => Promise<void>;
type Reader = { id: string; read: Source };

/** Returns the connector that reads the file, or whose server is read. */
function readerOf(
  made: readonly OpenConnector[],
  { file, connector: wanted }: Pick<PreviewOptions, 'file' | 'connector'>,
): Reader {
  const readers = made.flatMap(({ id, connector }): Reader[] => {
    const { readFile, readSource } = connector;
    if (file !== null)
      return readFile === undefined ? [] : [{ id, read: (call) => readFile(file, call) }];
    return readSource === undefined ? [] : [{ id, read: readSource }];
  });
  const fitting = readers.filter(({ id }) => wanted === null || id === wanted);
  const [first] = fitting;
  if (first !== undefined && fitting.length === 1) return first;
  throw new EligdError('usage', unclear(readers, file));
}

function unclear(readers: readonly Reader[], file: string | null) {
  const source = file === null ? 'a server' : 'export files';
  if (readers.length === 0)
    return {
      what: `No connector in the configuration reads ${source}.`,
      why:
        file === null
          ? 'Without a file, a preview reads the server of a connector.'
          : 'A preview reads a file as a drop folder would.',
      next:
        (file === null ? 'Name a file, or use' : 'Use') +
        ' mode: observe in the configuration: eligd then reads and plans, and sends nothing.',
    };
  return {
    what: 'More than one connector can read the source.',
    why: `These connectors read ${source}: ${readers.map(({ id }) => id).join(', ')}.`,
    next: 'Use --connector ID to name one.',
  };
}

function planner(store: Store, config: Config, env: Env): () => Promise<void> {
  const facts = {
    is_clock_trusted: true,
    clinic: clinicProfile(config),
    policy: policyOf(config),
    payers: new PayerFile(config),
  };
  const deps = {
    store,
    env,
    facts: () => facts,
    external_id_template: config.service.external_id,
    log_key: 'preview',
    onPlanned: () => {},
  };
  return async () => {
    for (let steps = 0; steps < STEPS_MAX; steps += 1) if ((await planStep(deps)).did === 0) return;
  };
}

type Read = {
  items: number;
  rejected: PullBatch['rejected'];
  source_ids: string[];
  claims: number;
  /** Source IDs of visits and claims. */
  named: string[];
};

async function readInto(store: Store, { id, read: readAll }: Reader, env: Env): Promise<Read> {
  const ids = new Set<string>();
  const claims = new Set<string>();
  const rejected: Read['rejected'] = [];
  const reading = readAll({
    signal: new AbortController().signal,
    accept: async (batch) => {
      rejected.push(...batch.rejected);
      for (const { source_id } of batch.appointments) ids.add(source_id);
      for (const { source_id } of batch.claims ?? []) claims.add(source_id);
      await store.write((tx) => acceptBatch(tx, id, batch, env.clock.now()));
    },
  });
  await reading.catch((error: unknown) => {
    if (!(error instanceof ConnectorError)) throw error;
    const why = 'It was not read.';
    throw new EligdError('failed', { what: error.message, why, next: error.next, cause: error });
  });
  return {
    rejected,
    named: [...ids, ...claims],
    items: ids.size + claims.size,
    source_ids: [...ids],
    claims: claims.size,
  };
}

function withoutKeys<Value>(
  all: ReadonlyMap<number, Value>,
  before: ReadonlyMap<number, Value>,
): Value[] {
  return [...all].filter(([id]) => !before.has(id)).map(([, value]) => value);
}

/** Counts the reasons from planning; unreadable rows are reported one by one. */
function countReasons(reasons: readonly string[]): Preview['attention'] {
  const planning = reasons.filter((reason) => PLANNING_REASONS.includes(reason as AttentionReason));
  return [...Map.groupBy(planning, (reason) => reason)].map(([reason, same]) => ({
    reason,
    count: same.length,
  }));
}

function priceCalls(
  drafts: readonly (InquiryDraft | null)[],
  { config, env }: Pick<PreviewOptions, 'config' | 'env'>,
): Preview['calls'] {
  const prices = pricesOf(config, new PayerFile(config));
  const at = { at: env.clock.now(), time_zone: config.clinic.time_zone };
  const cents = drafts.map((draft) =>
    draft === null ? null : priceAt(prices, draft, at).price_cents,
  );
  return {
    calls: cents.length,
    cents: cents.reduce<number>((sum, each) => sum + (each ?? 0), 0),
    unpriced: cents.filter((each) => each === null).length,
  };
}
