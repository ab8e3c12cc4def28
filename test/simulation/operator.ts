/**
 * The operator at the clinic's computer, who sometimes runs `eligd retry`, `hold`, `release`,
 * `withdraw`, or `ask`, more often on items of the attention list than on others, and answers soon
 * whom a doubtful call is about. Like the real commands, these work while the daemon runs, through
 * their own connection.
 */
import { existsSync } from 'node:fs';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { readPayers } from '../../src/ops/payer-file.ts';
import { budgetRules } from '../../src/ops/prices.ts';
import { clinicProfile, policyOf } from '../../src/ops/profile.ts';
import { askAgain } from '../../src/store/bookkeeping/ask-again.ts';
import { handle } from '../../src/store/bookkeeping/handled.ts';
import {
  hold,
  type Operand,
  release,
  retry,
  withdraw,
} from '../../src/store/bookkeeping/operator.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { openStore } from '../../src/store/engine/store.ts';
import type { World } from './network.ts';
import { HOUR_MS, type Plan } from './plan.ts';
import { Random } from './random.ts';

const OPERATIONS = { retry, hold, release, withdraw, done: handle('') } as const;
type Command = keyof typeof OPERATIONS | 'ask';

/** The operator's command for a row; the most obvious one comes first. */
const COMMANDS: Readonly<Record<string, readonly Command[]>> = {
  undecidable: ['retry', 'retry', 'withdraw'],
  rejected: ['retry', 'withdraw'],
  uncertain: ['retry', 'withdraw'],
  planned: ['hold', 'hold', 'withdraw', 'retry'],
  parked: ['retry'],
  other: ['retry', 'retry', 'hold', 'release', 'withdraw', 'ask', 'ask'],
};

const TURNS_MAX = 200;
/** After so many turns in which nobody else did anything, nobody will before time passes. */
const QUIET_TURNS = 10;

type Ordered = { id: number; created_at: number };
type Candidate = { operand: Operand; state: string; source_ids: string[] };

export class Operator {
  readonly #world: World;
  readonly #random: Random;
  readonly counts = { retry: 0, hold: 0, release: 0, withdraw: 0, done: 0, ask: 0 };
  /** Visits that `eligd withdraw` closed, and when. */
  readonly withdrawn = new Map<string, number>();
  /** By patient: when `eligd ask` ordered another call. */
  readonly asked = new Map<string, number[]>();
  /** Of orders that were taken back: when they were given, and when they were taken back. */
  readonly #taken_back: { patient: string; at: number; until: number }[] = [];
  /** By time of the order: its calls. */
  readonly #ordered = new Map<number, Ordered[]>();

  constructor(world: World) {
    this.#world = world;
    this.#random = new Random(world.plan.seed, 'operator');
  }

  told(): Record<string, number> {
    return Object.fromEntries(
      Object.entries(this.counts).map(([command, count]) => [`eligd ${command}`, count]),
    );
  }

  /** The times at which the operator works, in order. */
  static timesOf({ seed, start_ms, withdraws_lost }: Plan, until: number): number[] {
    const random = new Random(seed, 'operator hours');
    const drawn = random.chance(0.4) ? 0 : random.logInt(2, 60);
    const count = withdraws_lost ? 60 : drawn;
    const times = Array.from(
      { length: count },
      () => start_ms + HOUR_MS + random.next() * (until - start_ms - HOUR_MS),
    );
    return times.sort((a, b) => a - b);
  }

  /** Runs one command on a random row. */
  async act(): Promise<void> {
    await this.#atTheDatabase(async (store) => {
      if (this.#world.plan.withdraws_lost && (await this.#withdrawLost(store))) return;
      const chosen = await this.#choose(store);
      if (chosen === null) return;
      const { operand, state, source_ids } = chosen;
      const command = this.#random.pick(COMMANDS[state] ?? COMMANDS.other!);
      await this.#run(store, command, operand, source_ids);
    });
  }

  /**
   * Withdraws a call that the service accepted and does not list; then it is needed again. Only
   * one of its visits is booked again: visits that all came back would double each time.
   */
  async #withdrawLost(store: Store): Promise<boolean> {
    const lost = await store.db
      .selectFrom('inquiries_with_call')
      .select('id')
      .where('state', '=', 'undecidable')
      .where('was_accepted', '=', 1)
      .orderBy('id')
      .executeTakeFirst();
    if (lost === undefined) return false;
    const operand = { kind: 'inquiry' as const, id: lost.id };
    const source_ids = await sourcesOf(store, operand);
    await this.#run(store, 'withdraw', operand, source_ids);
    const [first] = source_ids;
    if (first !== undefined) this.#world.pms.book.bookAgain(first);
    return true;
  }

  /**
   * Says whom the calls are about that may be for the patient of this inquiry: withdraws eligd's
   * own call if one of them serves the need, and marks the entry as done if none does.
   */
  async answerDoubt(inquiry: number, serve: (ids: readonly string[]) => boolean): Promise<void> {
    await this.#atTheDatabase(async (store) => {
      const doubts = await store.db
        .selectFrom('doubtful_calls')
        .select('service_id')
        .where('inquiry', '=', inquiry)
        .execute();
      if (doubts.length === 0) return;
      const operand = { kind: 'inquiry' as const, id: inquiry };
      const source_ids = await sourcesOf(store, operand);
      const command = serve(doubts.map(({ service_id }) => service_id)) ? 'withdraw' : 'done';
      await this.#run(store, command, operand, source_ids);
    });
  }

  /** Releases what is on hold, so that no hold lasts forever. */
  async releaseAll(): Promise<void> {
    await this.#atTheDatabase(async (store) => {
      const held = await store.db
        .selectFrom('inquiries')
        .select('id')
        .where('hold_reason', '=', 'operator')
        .execute();
      for (const { id } of held) await this.#run(store, 'release', { kind: 'inquiry', id }, []);
      const kept = await store.db.selectFrom('kept_holds').select('appointment as id').execute();
      for (const { id } of kept) await this.#run(store, 'release', { kind: 'appointment', id }, []);
    });
  }

  async #atTheDatabase(work: (store: Store) => Promise<void>): Promise<void> {
    const machine = this.#world.machine();
    if (!existsSync(machine.path) || machine.isDiskFull()) return;
    await this.#letFinish();
    if (!existsSync(machine.path) || machine.isDiskFull()) return;
    const store = await openStore(machine.path);
    try {
      await work(store);
    } finally {
      await store.close();
    }
  }

  /**
   * A daemon that is starting gets its turns to migrate, because one process cannot wait for
   * itself.
   */
  async #letFinish(): Promise<void> {
    const { scheduler } = this.#world;
    let quiet = 0;
    for (let turn = 0; turn < TURNS_MAX && quiet < QUIET_TURNS; turn += 1) {
      await new Promise<void>((resolve) => scheduler.immediate(resolve));
      quiet = scheduler.isQuiet() ? quiet + 1 : 0;
    }
  }

  async #choose({ db }: Store): Promise<Candidate | null> {
    const random = this.#random;
    const inquiries = await db.selectFrom('inquiries').select(['id', 'state']).execute();
    const parked = await db
      .selectFrom('deliveries')
      .select('appointment as id')
      .distinct()
      .where('state', '=', 'parked')
      .execute();
    const visits = await db
      .selectFrom('appointments')
      .select('id')
      .where('superseded_at', 'is', null)
      .execute();
    const candidates: Omit<Candidate, 'source_ids'>[] = [
      ...inquiries.map(({ id, state }) => ({ operand: { kind: 'inquiry' as const, id }, state })),
      ...parked.map(({ id }) => ({
        operand: { kind: 'appointment' as const, id },
        state: 'parked',
      })),
      ...visits.map(({ id }) => ({
        operand: { kind: 'appointment' as const, id },
        state: 'other',
      })),
    ];
    // One of each kind, so that rare kinds are not crowded out.
    const kinds = [...new Set(candidates.map(({ state }) => state))].sort();
    if (kinds.length === 0) return null;
    const kind = random.pick(kinds);
    const chosen = random.pick(candidates.filter(({ state }) => state === kind));
    return { ...chosen, source_ids: await sourcesOf({ db }, chosen.operand) };
  }

  async #run(
    store: Store,
    command: Command,
    operand: Operand,
    source_ids: readonly string[],
  ): Promise<void> {
    const now = this.#world.machine().wallNow();
    const work = command === 'ask' ? this.#askAgain() : OPERATIONS[command];
    const done = await store.write((tx) => work(tx, operand, now));
    if (!done.some(({ did }) => did)) return;
    this.counts[command] += 1;
    const { story, scheduler } = this.#world;
    story.tell(scheduler.now, 'operator', `eligd ${command} ${operand.kind}:${operand.id}`, [
      ...source_ids,
      `${operand.kind} ${operand.id}`,
    ]);
    if (command === 'withdraw') {
      for (const source_id of source_ids) this.withdrawn.set(source_id, scheduler.now);
      await this.#takeBackOrders(store, source_ids);
    }
    if (command === 'ask')
      for (const record of await patientsOf(store, source_ids)) {
        const patient = this.#world.pms.book.personOf(record);
        this.asked.set(patient, [...(this.asked.get(patient) ?? []), scheduler.now]);
        this.#ordered.set(scheduler.now, await orderedFor(store, source_ids));
      }
  }

  /** An order whose calls were all withdrawn before they were sent allows no call. */
  async #takeBackOrders(store: Store, source_ids: readonly string[]): Promise<void> {
    for (const record of await patientsOf(store, source_ids)) {
      const patient = this.#world.pms.book.personOf(record);
      const orders = this.asked.get(patient) ?? [];
      const left: number[] = [];
      for (const at of orders)
        if (await areTakenBack(store, this.#ordered.get(at) ?? []))
          this.#taken_back.push({ patient, at, until: this.#world.scheduler.now });
        else left.push(at);
      this.asked.set(patient, left);
    }
  }

  /** An older copy of the database has the orders that were taken back since. */
  forgetSince(kept_at: number): void {
    for (const { patient, at, until } of this.#taken_back)
      if (at <= kept_at && kept_at < until)
        this.asked.set(patient, [...(this.asked.get(patient) ?? []), at]);
  }

  /** The work of `eligd ask`, built the same way as in the command. */
  #askAgain(): ReturnType<typeof askAgain> {
    const { config } = this.#world.machine();
    const payers = readPayers(config);
    return askAgain({
      facts: { clinic: clinicProfile(config), policy: policyOf(config), payers },
      external_id_template: config.service.external_id,
      budget: budgetRules(config, payers),
    });
  }
}

async function orderedFor({ db }: Store, source_ids: readonly string[]): Promise<Ordered[]> {
  return await db
    .selectFrom('inquiries as i')
    .innerJoin('inquiry_appointments as l', 'l.inquiry', 'i.id')
    .innerJoin('appointments as a', 'a.id', 'l.appointment')
    .select(['i.id', 'i.created_at'])
    .where('a.source_id', 'in', source_ids)
    .where('i.is_ordered', '=', 1)
    .where('i.state', '=', 'planned')
    .execute();
}

/** Whether the office has withdrawn all of these before they were sent. */
async function areTakenBack({ db }: Store, ordered: readonly Ordered[]): Promise<boolean> {
  const withdrawn = await db
    .selectFrom('inquiries_with_call')
    .select(['id', 'created_at'])
    .where('state', '=', 'withdrawn')
    .where('is_ordered', '=', 0)
    .where('sent_at', 'is', null)
    .execute();
  const isWithdrawn = ({ id, created_at }: Ordered) =>
    withdrawn.some((each) => each.id === id && each.created_at === created_at);
  return ordered.length > 0 && ordered.every(isWithdrawn);
}

async function patientsOf({ db }: Store, source_ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('appointments')
    .select('content')
    .where('source_id', 'in', source_ids)
    .where('superseded_at', 'is', null)
    .execute();
  return rows.map(({ content }) => (JSON.parse(content) as AppointmentInput).patient.id ?? '');
}

async function sourcesOf({ db }: Pick<Store, 'db'>, { kind, id }: Operand): Promise<string[]> {
  const rows = await db
    .selectFrom('appointments')
    .select('source_id')
    .where((where) =>
      kind === 'appointment'
        ? where('id', '=', id)
        : where('id', 'in', (select) =>
            select
              .selectFrom('inquiry_appointments')
              .select('appointment')
              .where('inquiry', '=', id),
          ),
    )
    .execute();
  return rows.map(({ source_id }) => source_id);
}
