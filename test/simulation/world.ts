/**
 * One world from start to end: days of trouble, then days in which everything works and everything
 * must finish.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { parseConfig } from '../../src/ops/config.ts';
import { openSecrets } from '../../src/ops/secrets.ts';
import { STOPPED_RETRY_MS } from '../../src/stages/submit/outcome.ts';
import { endHalt } from '../../src/store/calls/halts.ts';
import { openStore } from '../../src/store/engine/store.ts';
import { configText, HOOK_URL, SECRETS } from './configuration.ts';
import { countsOf } from './counts.ts';
import { knock } from './door.ts';
import { evidence, readState } from './evidence.ts';
import { StepCounts } from './legal-steps.ts';
import { Machine } from './machine.ts';
import type { World } from './network.ts';
import { Operator } from './operator.ts';
import { Oracle } from './oracle.ts';
import { DAY_MS, drawPlan, HOUR_MS, MINUTE_MS, type Plan } from './plan.ts';
import { Pms } from './pms.ts';
import { Random } from './random.ts';
import type { Report } from './reports.ts';
import { rule, Scheduler } from './scheduler.ts';
import { Service } from './service.ts';
import { Broken, Story } from './story.ts';
import { Trouble } from './trouble.ts';

export type Outcome = {
  seed: number;
  broken: { guarantee: string; what: string; about: readonly string[] } | null;
  story: string;
  hash: number;
  plan: Plan;
  counts: Record<string, number>;
};

const STEPS_MAX = 1_500_000;
const PROBES = 3;
/** While a second computer works for the practice, new visits come in at this pace. */
const CLONE_BOOKINGS = 16;
const CLONE_BOOKING_MS = 4 * HOUR_MS;
/** The days ahead of the near bookings in the calm days, one every six hours. */
const NEAR_BOOKINGS = [0.6, 1.7, 1, 2.2, 0.8, 1.4];

/** Runs one world. `folder` is a memory disk if there is one. */
export async function live(
  seed: number,
  folder: string,
  how: { tell: 'about' | 'all' },
): Promise<Outcome> {
  const plan = drawPlan(seed);
  const own = mkdtempSync(join(folder, `world-${seed}-`));
  mkdirSync(own, { recursive: true });
  try {
    return await new LivingWorld(plan, own).live(how);
  } finally {
    rule(null);
    rmSync(own, { recursive: true, force: true });
  }
}

class LivingWorld {
  readonly plan: Plan;
  readonly #folder: string;
  readonly story = new Story();
  readonly scheduler: Scheduler;
  readonly #random: Random;
  readonly #random_of_reports: Random;
  readonly #trouble: Trouble;
  readonly #operator: Operator;
  #operator_times: number[] = [];
  /** Inquiries for which the operator has found out whom the doubtful calls are about. */
  #doubted: number[] = [];
  readonly #steps = new StepCounts();
  readonly service: Service;
  readonly pms: Pms;
  readonly oracle: Oracle;
  readonly #world: World;
  readonly #machines: Machine[] = [];
  #machine!: Machine;
  #broken: Broken | null = null;
  #is_calm = false;
  #calm_at = 0;
  /** Nothing restarts it while the operator works on it. */
  #is_down_on_purpose = false;

  constructor(plan: Plan, folder: string) {
    this.plan = plan;
    this.#folder = folder;
    this.#random = new Random(plan.seed, 'world');
    this.#random_of_reports = new Random(plan.seed, 'knocks');
    this.scheduler = new Scheduler(plan.start_ms, new Random(plan.seed, 'order'));
    rule(this.scheduler);
    this.service = new Service(plan, this.scheduler, this.story);
    this.pms = new Pms(plan, this.scheduler, this.story);
    this.#world = {
      plan,
      scheduler: this.scheduler,
      story: this.story,
      service: this.service,
      pms: this.pms,
      machine: () => this.#machine,
      isCalm: () => this.#is_calm,
      drawFuse: (machine) => this.#drawFuse(machine),
      onLog: (life, event, fields) => {
        // Different in every run: the folder, the user, the name of an appointment in the log, and
        // the audit trail's salted hash.
        const { path: _, pid: __, appointment: ___, audit_head: ____, ...shown } = fields;
        this.story.tell(
          this.scheduler.now,
          life.machine.name,
          `logs ${event} ${JSON.stringify(shown)}`,
          aboutLog(event, fields.inquiry),
        );
        this.oracle.onLog(life, event, fields);
        if (event === 'inquiry_uncertain') this.#trouble.spite(life.machine);
        if (event === 'doubtful_call_found') this.#ask(life.machine, Number(fields.inquiry));
      },
      onSilence: (machine) => this.#trouble.stopInSilence(machine),
      onRequest: (request) => this.oracle.onRequest(request),
      fail: (broken) => {
        this.#broken ??= broken;
      },
    };
    this.#operator = new Operator(this.#world);
    this.oracle = new Oracle(this.#world, this.#operator);
    this.#trouble = new Trouble(this.#world, this.#random);
    this.service.onAccepted = (inquiry) => this.oracle.onAccepted(inquiry);
    this.service.onFull = (machine) => this.#trouble.setClockAtLimit(machine);
    this.service.onTooMany = (machine, count) => this.oracle.onTooMany(machine, count);
    this.pms.onAcknowledged = (life, inputs) => this.oracle.onAcknowledged(life, inputs);
    this.pms.onClaimsAcknowledged = (life, claims) =>
      this.oracle.claims.onAcknowledged(life, claims);
    this.pms.onClaimWritten = (delivery) => this.oracle.claims.onWritten(delivery);
    this.pms.onMerged = (life, merge) => this.oracle.onMerged(life, merge);
    this.pms.onListed = (entries) => this.oracle.onListed(entries);
    this.pms.onWritten = (life, written) => this.oracle.onWritten(life, written);
    this.service.reports.onSend = (report, told) => this.#report(report, told);
    this.pms.onBroken = (broken) => this.#world.fail(broken);
  }

  /** An event goes to the clinic's own machine, also while another one works for the practice. */
  #report({ breaks_off, ...report }: Report, told: (status: number | null) => void): void {
    const { life } = this.#machine;
    const headers =
      report.signature === null ? {} : { [this.plan.webhook.header]: report.signature };
    const request = { path: new URL(HOOK_URL).pathname, headers, body: report.body, breaks_off };
    knock(life, request, this.#random_of_reports, (status) => {
      told(status);
      if (life !== null && status !== null)
        this.oracle.onReported(life, { ...report, breaks_off }, status);
    });
  }

  async live({ tell }: { tell: 'about' | 'all' }): Promise<Outcome> {
    try {
      await this.#prepare();
      await this.#storm();
      await this.#calm();
      await this.#end();
    } catch (error) {
      this.#broken ??=
        error instanceof Broken
          ? error
          : new Broken(
              'simulation',
              error instanceof Error ? (error.stack ?? error.message) : String(error),
            );
    }
    for (const machine of this.#machines) {
      machine.life?.die();
      this.#steps.add(machine);
    }
    const broken = this.#broken;
    return {
      seed: this.plan.seed,
      broken:
        broken === null
          ? null
          : { guarantee: broken.guarantee, what: broken.message, about: broken.about },
      story: broken === null && tell === 'about' ? '' : this.#told(broken, tell),
      hash: this.story.hash >>> 0,
      plan: this.plan,
      counts: {
        ...countsOf(this.#world, this.#machines, this.oracle),
        ...this.#operator.told(),
        ...this.#steps.counts(),
      },
    };
  }

  /** The trace, and what the database says about it at the end. */
  #told(broken: Broken | null, tell: 'about' | 'all'): string {
    const rows =
      broken === null ? { inquiries: [], text: '' } : evidence(this.#machine, broken.about);
    const about = tell === 'all' ? 'all' : [...(broken?.about ?? []), ...rows.inquiries];
    return `${this.story.text(about)}\n${rows.text}`;
  }

  // ---- the beginning

  async #prepare(): Promise<void> {
    const { plan } = this;
    const file = join(this.#folder, 'eligd.yaml');
    const loaded = await this.#finish(parseConfig(configText(plan), file));
    const secrets = openSecrets(this.#folder, SECRETS);
    const make = (name: string) => {
      const machine = new Machine(this.#world, name, this.#folder, loaded, secrets);
      this.#machines.push(machine);
      return machine;
    };
    this.#machine = make('clinic');
    if (plan.machine.clone !== null) make('clone');
    for (let count = 0; count < plan.pms.appointments; count += 1) {
      this.pms.book.add(this.#random.next() * (plan.config.look_ahead_days + 2));
    }
    for (let count = 0; count < plan.pms.claims; count += 1) this.pms.book.claims.add();
  }

  /** Awaits a promise that needs turns of the event loop, but no time. */
  async #finish<Value>(promise: Promise<Value>): Promise<Value> {
    let settled: { value: Value } | { error: unknown } | null = null;
    promise.then(
      (value) => {
        settled = { value };
      },
      (error: unknown) => {
        settled = { error };
      },
    );
    // Modules are really read from the disk, which takes real time.
    const began = performance.now();
    while (settled === null) {
      if (performance.now() - began > 60_000) throw new Error('It takes time.');
      await this.scheduler.pass(this.scheduler.now);
    }
    const result = settled as { value: Value } | { error: unknown };
    if ('error' in result) throw result.error;
    return result.value;
  }

  #drawFuse(machine: Machine): number {
    const { crash_every, crashes_max } = this.plan.machine;
    if (crash_every === 0 || this.#is_calm || machine.counts.crashes >= crashes_max)
      return Number.MAX_SAFE_INTEGER;
    // Exponential: a crash right after the start is as likely as at any other point. Some lives are
    // much longer than others.
    const points = crash_every * machine.random.pick([1, 1, 10]);
    return 1 + Math.floor(-Math.log(1 - machine.random.next()) * points);
  }

  async #pass(until: number): Promise<void> {
    const isOver = () => this.#broken !== null || this.scheduler.steps > STEPS_MAX;
    for (;;) {
      await this.scheduler.pass(until, () => isOver() || this.#doubted.length > 0);
      if (this.scheduler.steps > STEPS_MAX)
        throw new Broken('busy', `It did not come to rest in ${STEPS_MAX} steps.`);
      if (this.#broken !== null) throw this.#broken;
      const inquiry = this.#doubted.shift();
      if (inquiry === undefined) return;
      const serve = (ids: readonly string[]) => this.oracle.calls.serveNeedOf(inquiry, ids);
      await this.#finish(this.#operator.answerDoubt(inquiry, serve));
    }
  }

  /** The operator asks the service whom the doubtful calls are about, within one settle time. */
  #ask(machine: Machine, inquiry: number): void {
    if (machine !== this.#machine) return;
    const random = new Random(this.plan.seed, `doubt ${inquiry} ${this.scheduler.now}`);
    const answered_ms = random.int(1, this.plan.config.settle_ms);
    // The question stays, also if the process that asked it dies meanwhile.
    const answer = () => void this.#doubted.push(inquiry);
    this.scheduler.after(answered_ms, answer, null);
  }

  // ---- trouble

  async #storm(): Promise<void> {
    const { plan, scheduler } = this;
    const random = this.#random;
    // A second computer has to be noticed a day after its first call, which may take two days.
    const days = plan.machine.clone === null ? plan.storm_days : 6;
    const end = plan.start_ms + days * DAY_MS;
    const sometime = () => plan.start_ms + random.next() * (end - plan.start_ms);
    const happen = (at: number, event: () => void) => void scheduler.at(at, event, null);
    this.#keepRunning(this.#machine);
    for (let count = 0; count < plan.storm_days * plan.pms.changes_per_day; count += 1)
      happen(sometime(), () => this.pms.book.happen());
    this.#merge(end);
    this.#claim(end);
    this.#bookTwice();
    if (plan.pms.down) happen(sometime(), () => this.#trouble.downForADay());
    for (let count = 0; count < plan.network.outages; count += 1)
      happen(sometime(), () => this.#trouble.outage());
    if (plan.service.turned_away !== null) happen(sometime(), () => this.#trouble.turnAway());
    if (plan.service.revokes_tokens)
      for (let count = 0; count < 5; count += 1)
        happen(sometime(), () => this.service.revokeTokens());
    for (let count = 0; count < plan.machine.disk_full; count += 1)
      happen(sometime(), () => this.#trouble.fillDisk());
    for (let count = 0; count < plan.machine.clock_steps; count += 1)
      happen(sometime(), () => this.#trouble.stepClock());
    for (let count = 0; count < plan.machine.pauses; count += 1)
      happen(sometime(), () => this.#trouble.sleep());
    for (let count = 0; count < plan.machine.stops; count += 1)
      happen(sometime(), () => this.#machine.life?.stop());
    if (plan.machine.clone !== null)
      happen(plan.start_ms + (end - plan.start_ms) / 3, () => this.#clone());
    this.#operator_times = Operator.timesOf(plan, end);
    await this.#interventions(sometime(), sometime(), end);
  }

  /** The practice merges records, often soon after it has booked visits for both. */
  #merge(end: number): void {
    const random = new Random(this.plan.seed, 'merging');
    const { start_ms } = this.plan;
    for (let count = 0; count < this.plan.pms.merges; count += 1) {
      const at = start_ms + random.next() * (end - start_ms);
      const ahead_ms = random.logInt(1, 24 * 60) * MINUTE_MS;
      if (random.chance(0.5)) {
        const book = () => this.pms.book.bookBoth(random.int(1, 4));
        this.scheduler.at(Math.max(start_ms, at - ahead_ms), book, null);
      }
      this.scheduler.at(at, () => this.pms.book.merge(), null);
    }
  }

  /** If the service forgets an inquiry, the later of its visits must stay on the attention list. */
  #bookTwice(): void {
    const { seed, start_ms, service, config } = this.plan;
    if (service.forgets === 0) return;
    const random = new Random(seed, 'twice');
    for (let count = 0; count < 4; count += 1) {
      const days_apart = config.give_up_after_days + 1 + random.next();
      const book = () => this.pms.book.bookTwice(days_apart);
      this.scheduler.at(start_ms + random.next() * DAY_MS, book, null);
    }
  }

  /** The practice sends claims to payers, and changes them. */
  #claim(end: number): void {
    const random = new Random(this.plan.seed, 'claiming');
    const { start_ms } = this.plan;
    const { claims } = this.plan.pms;
    for (let count = 0; count < 4 * claims; count += 1) {
      const change = () => this.pms.book.claims.happen();
      this.scheduler.at(start_ms + random.next() * (end - start_ms), change, null);
    }
  }

  /** Trouble in several steps: a second daemon by mistake, a restored or lost database. */
  async #interventions(one: number, other: number, end: number): Promise<void> {
    const { restore, second_daemon, rollback, clone } = this.plan.machine;
    const [first, second] = [Math.min(one, other), Math.max(one, other)];
    const backup = join(this.#folder, 'backup.db');
    await this.#passDaily(first);
    const is_clear = restore === null && clone === null;
    const is_listed_late = this.plan.service.shown_after === 'late' || this.plan.withdraws_lost;
    if (rollback !== null && is_clear && !is_listed_late) await this.#rollBack(rollback);
    if (second_daemon) await this.#startSecond();
    if (restore === 'backup') this.#machine.backup(backup);
    const kept =
      restore === 'backup' ? new Map(this.oracle.acknowledged.get(this.#machine.name) ?? []) : null;
    const kept_at = restore === 'backup' ? this.scheduler.now : 0;
    await this.#passDaily(second);
    if (restore !== null) await this.#restore(restore === 'backup' ? backup : null, kept, kept_at);
    await this.#passDaily(end);
  }

  async #passDaily(until: number): Promise<void> {
    for (;;) {
      const sits_down_at = this.#operator_times[0] ?? Number.POSITIVE_INFINITY;
      const next = Math.min(until, sits_down_at, this.scheduler.now + DAY_MS / 2);
      await this.#pass(next);
      if (next === sits_down_at) {
        this.#operator_times.shift();
        await this.#finish(this.#operator.act());
      }
      // The operator knows that the old database is gone for good.
      if (this.oracle.calls.is_state_lost) {
        await this.#releaseSubmission('new_database');
        await this.#releaseSubmission('calls_lost');
      }
      // Whoever installs a second computer confirms there that it may make calls.
      const [, clone] = this.#machines;
      if (this.plan.machine.clone === 'empty' && clone !== undefined && clone.life !== null) {
        await this.#releaseSubmission('new_database', clone);
        await this.#releaseSubmission('calls_lost', clone);
      }
      this.oracle.checkWaiting(this.#machine);
      if (this.#broken !== null) throw this.#broken;
      if (next >= until) return;
    }
  }

  #keepRunning(machine: Machine): void {
    machine.start(() => {
      const restart_ms = machine.random.int(
        0,
        this.#is_calm ? 60_000 : this.plan.machine.restart_ms_max,
      );
      // systemd pauses longer between starts that fail at once.
      const delay_ms = machine.isDiskFull() ? restart_ms + 10 * MINUTE_MS : restart_ms;
      this.scheduler.after(
        delay_ms,
        () => {
          if (machine.life === null && !machine.is_removed && !this.#is_down_on_purpose)
            this.#keepRunning(machine);
        },
        null,
      );
    });
  }

  async #startSecond(): Promise<void> {
    if (this.#machine.life === null || this.#machine.isDiskFull()) return;
    const error = await this.#machine.tryStart();
    if (this.#machine.life === null) return;
    this.#trouble.tell('a second daemon is started by mistake');
    if (error?.kind !== 'temporary')
      this.#world.fail(new Broken('G1', 'A second daemon on the same database was not refused.'));
  }

  /**
   * The database is replaced while nothing runs, long enough after the last call for the list to
   * show it.
   */
  async #restore(
    backup: string | null,
    kept: Map<string, { input: AppointmentInput; at: number }> | null,
    kept_at: number,
    beforeStart: (() => void) | null = null,
  ): Promise<void> {
    const machine = this.#machine;
    this.#is_down_on_purpose = true;
    machine.life?.die();
    const { settle_ms, timeout_ms } = this.plan.config;
    this.#steps.add(machine);
    if (this.plan.machine.damage_first) await this.#refuseDamaged();
    this.#trouble.tell(
      backup === null ? 'the database is lost' : 'the database is replaced by an older backup',
    );
    this.oracle.forgetSince(machine, kept, kept_at);
    this.#operator.forgetSince(kept_at);
    machine.replaceState(backup);
    const later_ms = beforeStart === null ? this.#random.int(0, 5) * HOUR_MS : 0;
    await this.#pass(this.scheduler.now + 4 * settle_ms + timeout_ms + later_ms);
    beforeStart?.();
    this.#is_down_on_purpose = false;
    this.#keepRunning(machine);
  }

  /**
   * Lets eligd compare the list and call; copies the database; lets eligd make more calls; and puts
   * the copy back, in one boot and within an hour where settle times are short.
   */
  async #rollBack(what: 'database' | 'machine'): Promise<void> {
    const machine = this.#machine;
    const copy = join(this.#folder, 'rollback.db');
    await this.#bookAndCall([2.6]);
    machine.backup(copy);
    const kept = new Map(this.oracle.acknowledged.get(machine.name) ?? []);
    const lock = `${machine.path}.lock`;
    if (what === 'machine' && existsSync(lock)) copyFileSync(lock, `${copy}.lock`);
    const [kept_at, awake_ms] = [this.scheduler.now, machine.awakeMs()];
    await this.#bookAndCall([2.7, 2.8, 2.9]);
    await this.#restore(copy, kept, kept_at, () => {
      if (what === 'database') return;
      if (existsSync(`${copy}.lock`)) copyFileSync(`${copy}.lock`, lock);
      machine.boot_clock_behind_ms += machine.awakeMs() - awake_ms;
    });
  }

  /**
   * Starts eligd again, which reads the new visits at once. Waits for its next call, half an hour
   * at most: while the service is down, it makes none.
   */
  async #bookAndCall(days: readonly number[]): Promise<void> {
    const machine = this.#machine;
    this.#is_down_on_purpose = true;
    machine.life?.die();
    for (const each of days) this.pms.book.add(each, 'probe');
    this.#is_down_on_purpose = false;
    this.#keepRunning(machine);
    machine.life?.defuse();
    const before = this.service.accepted.size;
    for (let minutes = 0; minutes < 30; minutes += 1) {
      await this.#pass(this.scheduler.now + MINUTE_MS);
      if (this.service.accepted.size > before) return;
    }
  }

  async #refuseDamaged(): Promise<void> {
    const machine = this.#machine;
    if (machine.isDiskFull()) return;
    const before = machine.damage();
    if (before === null || before.length < 3 * 4096) return;
    this.#trouble.tell('the database is damaged');
    const error = await machine.tryStart();
    const is_untouched = before.equals(readFileSync(machine.path));
    if (error?.kind !== 'configuration' || error.next === '' || !is_untouched) {
      this.#world.fail(
        new Broken(
          'integrity',
          `A damaged database was not refused as it is: ${error?.what ?? 'it was opened'}.`,
        ),
      );
    }
  }

  /** Someone copies the machine, or installs a new one, and both run. */
  #clone(): void {
    const clone = this.#machines[1];
    if (clone === undefined) return;
    this.#trouble.tell(
      `a second computer begins to work for the same practice (${this.plan.machine.clone})`,
    );
    this.oracle.calls.clone_from = this.scheduler.now;
    if (this.plan.machine.clone === 'copy') this.#machine.backup(clone.path);
    this.#keepRunning(clone);
    // New visits to call about, or neither computer makes a call that the other one could see.
    for (let count = 0; count < CLONE_BOOKINGS; count += 1)
      this.scheduler.after(
        count * CLONE_BOOKING_MS,
        () => void this.pms.book.add(2.6, 'probe'),
        null,
      );
  }

  // ---- everything works

  async #calm(): Promise<void> {
    const { plan, scheduler } = this;
    this.#is_calm = true;
    this.#calm_at = scheduler.now;
    this.service.is_calm = true;
    this.service.reports.is_calm = true;
    this.pms.is_calm = true;
    this.service.outage_until = 0;
    this.service.turned_away_until = 0;
    this.#machine.disk_full_until = Math.min(this.#machine.disk_full_until, scheduler.now);
    this.#machine.clock_ahead_ms = 0;
    this.#trouble.tell('from now on everything works');
    const [, clone] = this.#machines;
    if (clone !== undefined) await this.#removeClone(clone);
    for (const machine of this.#machines) machine.life?.defuse();
    if (this.#machine.life === null) this.#keepRunning(this.#machine);
    await this.#finish(this.#operator.releaseAll());
    for (let count = 0; count < PROBES; count += 1) this.pms.book.add(2.6 + count / 10, 'probe');
    if (plan.config.late_visits === 'call_yourself')
      NEAR_BOOKINGS.forEach((days, index) => {
        const book = () => void this.pms.book.add(days, 'probe');
        scheduler.after((index + 1) * 6 * HOUR_MS, book, null);
      });
    const last = Math.max(
      ...[...this.pms.book.visits.values()].map((visit) =>
        Date.parse(this.pms.book.current(visit).input.starts_at),
      ),
    );
    const until =
      Math.max(last, scheduler.now + 3 * DAY_MS) + (plan.config.give_up_after_days + 1) * DAY_MS;
    await this.#passDaily(until);
  }

  async #removeClone(clone: Machine): Promise<void> {
    this.#trouble.tell('the second computer is switched off');
    clone.is_removed = true;
    clone.life?.die();
    this.oracle.calls.checkCloneNoticed(this.scheduler.now);
    // Its last calls are listed by then. The operator releases submission at once, or a day later.
    const { settle_ms, timeout_ms } = this.plan.config;
    await this.#pass(this.scheduler.now + 4 * settle_ms + timeout_ms);
    await this.#releaseSubmission('foreign');
    // The next reconciliation knows all actions of the other one.
    await this.#passDaily(this.scheduler.now + 30 * HOUR_MS);
    await this.#releaseSubmission('foreign');
    this.#trouble.tell('the operator releases submission');
  }

  /** The effect of `eligd release submission`. */
  async #releaseSubmission(
    reason: 'foreign' | 'new_database' | 'calls_lost',
    machine = this.#machine,
  ): Promise<void> {
    const is_stopped = readState(machine, (raw) => {
      const table = raw.prepare("select 1 from sqlite_master where name = 'halts'").get();
      if (table === undefined) return false;
      return raw.prepare('select 1 from halts where reason = ?').get(reason) !== undefined;
    });
    if (is_stopped !== true) return;
    const work = async () => {
      const store = await openStore(machine.path);
      await store.write(async (tx) => {
        // The daemon sees it when it looks again.
        const now = Math.round(this.scheduler.now);
        if ((await endHalt(tx, reason, now)) && machine === this.#machine)
          this.oracle.stopped_until =
            this.scheduler.now + Math.max(STOPPED_RETRY_MS, this.plan.config.idle_ms);
      });
      await store.close();
    };
    await this.#finish(work());
  }

  async #end(): Promise<void> {
    this.oracle.checkEnd(this.#machine, this.#calm_at);
    if (this.#broken !== null) throw this.#broken;
    this.#is_down_on_purpose = true;
    this.#machine.life?.stop();
    await this.#pass(this.scheduler.now + MINUTE_MS);
  }
}

/** A log line of one inquiry belongs to its trace; lines about everything are always printed. */
function aboutLog(event: string, inquiry: unknown): readonly string[] {
  if (typeof inquiry === 'number') return [`inquiry ${inquiry}`];
  const everybodys = [
    'daemon_stopped',
    'submission_stopped',
    'submission_resumed',
    'reconciliation_done',
    'reconciliation_failed',
    'clock_wrong',
    'clock_right',
    'stage_failed',
  ];
  return everybodys.includes(event) ? [] : ['log'];
}
