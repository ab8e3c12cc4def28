/**
 * The sandbox with every reading of the specification, one by one and in random pairs with faults:
 * the practice sends a file, and the answers must arrive once, for the right patients, and with the
 * values of the simplest reading.
 */
import { BEHAVIORS, type BehaviorName, type Behaviors } from '../../src/sandbox/server.ts';
import { exportOf, visits } from '../support/visits.ts';
import { calledTwice, type Row, type Tally } from './tally.ts';
import { HOUR_MS, MINUTE_MS, World, type Written } from './world.ts';

const VISITS = visits(4);
const ROUNDS_MAX = 10;

/** Numeric readings, with values that make a difference. */
const AMOUNTS: Partial<Record<BehaviorName, readonly number[]>> = {
  bulk_max: [1, 3],
  list_page_size: [2],
  list_truncate: [2],
  list_delay_seconds: [240],
  token_lifetime_seconds: [120],
  rate_limit_per_minute: [10],
  subscription_minutes_min: [10],
  webhook_repeat: [2],
  webhook_lost_percent: [50, 100],
  webhook_max_bytes: [2000],
  webhook_strangers: [2],
  verification_after_minutes: [0, 600],
  success_null_first_seconds: [1800],
  revise_after_hours: [2],
  reopen_after_hours: [2],
  date_skew_seconds: [-900, 900],
};

/** Other readings that a reading needs to make a difference. */
const BESIDE: Partial<Record<BehaviorName, Partial<Behaviors>>> = {
  list_page_size: { list_paging: 'page' },
  bulk_max_status: { bulk_max: 2 },
  rate_limit_status: { rate_limit_per_minute: 10 },
  retry_after: { rate_limit_per_minute: 10 },
};

/** The answers change later, or their content depends on the reading. */
const OTHER_VALUES: readonly BehaviorName[] = ['revise_after_hours', 'reopen_after_hours'];

/** How long payers take, which no reading of the specification decides. */
const OF_PAYERS: readonly BehaviorName[] = ['payer_hours', 'payer_turnaround_hours'];

type Fault = { method: string; path: string; skip: number; times: number } & (
  | { when: 'before' | 'after'; action: 'reset' | 'truncate' | 'html' }
  | { when: 'before' | 'after'; action: 'status'; status: number }
);

type Reading = { name: string; behaviors: Partial<Behaviors> };

const isHook = (name: string) => /^webhook_|^subscription_/.test(name);

export function readings(): Reading[] {
  const names = (Object.keys(BEHAVIORS) as BehaviorName[]).filter(
    (name) => !OF_PAYERS.includes(name),
  );
  return names.flatMap((name) => {
    const spec = BEHAVIORS[name];
    const values =
      spec.kind === 'choice'
        ? (spec.values as readonly string[]).filter((value) => value !== spec.default)
        : (AMOUNTS[name] ?? []);
    if (spec.kind === 'number' && AMOUNTS[name] === undefined)
      throw new Error(`test/peers/readings.ts has no value for ${name}.`);
    return values.map((value) => ({
      name: `${name}=${value}`,
      behaviors: { ...BESIDE[name], [name]: value } as Partial<Behaviors>,
    }));
  });
}

/** `count` pairs of readings, each with faults, drawn by `random`. */
export function pairs(count: number, random: () => number): Row[] {
  const all = readings();
  const pick = <Value>(from: readonly Value[]) => from[Math.floor(random() * from.length)] as Value;
  return Array.from({ length: count }, () => {
    const first = pick(all);
    const other = pick(all.filter(({ name }) => !sameSwitch(name, first.name)));
    const faults = Array.from({ length: 2 }, () => faultBy(pick, random));
    const told = faults.map(({ when, action }) => `${action} ${when}`).join(', ');
    return {
      group: 'pairs',
      name: `${first.name} + ${other.name}, ${told}`,
      run: () => wholeJob({ ...first.behaviors, ...other.behaviors }, faults),
    };
  });
}

const sameSwitch = (one: string, other: string) => one.split('=')[0] === other.split('=')[0];

function faultBy(pick: <V>(from: readonly V[]) => V, random: () => number): Fault {
  const at = pick([
    { method: 'POST', path: 'inquiries' },
    { method: 'GET', path: 'inquiries' },
    { method: 'POST', path: 'token' },
  ]);
  const where = { ...at, skip: Math.floor(random() * 3), times: 1 };
  const when = pick(['before', 'after'] as const);
  const action = pick(['reset', 'truncate', 'html', 'status'] as const);
  return action === 'status'
    ? { ...where, when, action, status: pick([500, 502, 503, 408]) }
    : { ...where, when, action };
}

export function singles(): Row[] {
  return readings().map(({ name, behaviors }) => ({
    group: 'readings',
    name,
    run: () => wholeJob(behaviors, []),
  }));
}

let plainest: Promise<Map<string, string>> | null = null;

/** The values of the simplest reading, by member ID. */
function expectedValues(): Promise<Map<string, string>> {
  plainest ??= (async () => {
    const world = await World.start();
    try {
      await clinicDays(world);
      return new Map(world.written().map((each) => [each.line.member_id ?? '', valuesOf(each)]));
    } finally {
      await world.close();
    }
  })();
  return plainest;
}

/** The payer's answer: the record without what identifies the call, its time, and its words. */
function valuesOf({ record }: Written): string {
  const { inquiry_id, inquiry_created_at, calls, verification, confidence, summary, ...said } =
    record;
  return JSON.stringify({ ...said, status: String(said.status).toUpperCase() });
}

async function wholeJob(behaviors: Partial<Behaviors>, faults: readonly Fault[]): Promise<Tally> {
  const names = Object.keys(behaviors);
  const listens = names.some(isHook);
  const world = await World.start({ behaviors, listens });
  try {
    if (faults.length > 0) await world.sandbox('POST', 'faults', faults);
    if (listens) await runningDays(world);
    else await clinicDays(world);
    const has_other_values = names.some((name) => OTHER_VALUES.includes(name as BehaviorName));
    return await judge(world, has_other_values ? null : await expectedValues());
  } finally {
    await world.close();
  }
}

const isWritten = (world: World) => {
  const members = new Set(world.written().map(({ line }) => line.member_id));
  return VISITS.every(({ member_id }) => members.has(member_id));
};

/** A morning, the days until the answers exist, and as many rounds as a slow lookup needs. */
async function clinicDays(world: World): Promise<void> {
  world.drop('export.csv', exportOf(VISITS));
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await world.once();
    if ((await world.ledger()).length >= VISITS.length) break;
    world.clock.pass(16 * MINUTE_MS);
  }
  // eligd would find a call now that was listed late.
  world.clock.pass(16 * MINUTE_MS);
  await world.once();
  await world.answerAll();
  for (let round = 0; round < ROUNDS_MAX && !isWritten(world); round += 1) {
    await world.once();
    world.clock.pass(HOUR_MS);
  }
}

/** The same with a running daemon that receives webhook events. */
async function runningDays(world: World): Promise<void> {
  world.drop('export.csv', exportOf(VISITS));
  await world.run();
  const are_called = async () => (await world.ledger()).length >= VISITS.length;
  await world.passUntil(4 * MINUTE_MS, are_called);
  await world.answerAll();
  await world.passUntil(3 * MINUTE_MS, async () => isWritten(world));
  await world.stop();
}

async function judge(world: World, expected: Map<string, string> | null): Promise<Tally> {
  const ledger = await world.ledger();
  const asked = new Map(ledger.map(({ id, request }) => [id, request]));
  const written = world.written();
  const wrong = written.filter((each) => {
    const { line, record } = each;
    const request = asked.get(line.inquiry_id ?? '');
    const is_own = request?.member_id === line.member_id && record.inquiry_id === line.inquiry_id;
    const value = expected?.get(line.member_id ?? '');
    return !is_own || (expected !== null && value !== valuesOf(each));
  });
  const members = VISITS.map(({ member_id }) => member_id);
  const found = new Set(written.map(({ line }) => line.member_id));
  return {
    needs: VISITS.length,
    calls: ledger.length,
    twice: calledTwice(ledger, members),
    lost: members.filter((member) => !found.has(member)).length,
    wrong: wrong.length,
  };
}
