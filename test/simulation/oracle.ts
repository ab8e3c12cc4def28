/**
 * Knows which inquiries the service accepted, what the practice holds, and what eligd wrote back,
 * and checks the guarantees G1 to G8. It is independent of eligd: it shares no rule with it, and
 * reads the database through its own connection, only to see what is committed.
 */
import { dirname } from 'node:path';
import type { AttentionEntry } from '../../connectors/contract.ts';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { type AuditLink, auditHash, CHAIN_START } from '../../src/store/bookkeeping/chain.ts';
import type { Merge, Visit } from './book.ts';
import { Calls, canonical, iso, isoDate } from './calls.ts';
import { ClaimCheck } from './claims.ts';
import { readState } from './evidence.ts';
import { LeadCheck } from './lead.ts';
import type { Life, Machine } from './machine.ts';
import type { World } from './network.ts';
import type { Operator } from './operator.ts';
import { CODES, DAY_MS, HOUR_MS } from './plan.ts';
import type { Written } from './pms.ts';
import type { Report } from './reports.ts';
import type { Accepted, ServiceRequest } from './service.ts';
import { saidIn } from './service-answers.ts';
import { Broken } from './story.ts';

/** Values that the world makes up for patients; none of them may leave eligd (G6). */
const PHI = new RegExp(
  String.raw`Zfirst|Zlast|Zcarrier|Zclaim|Zsecret|Mx-\d|REFUSED-|Probe\d|Nw\d-|Sx\d` +
    String.raw`|19[4-9]\d-\d\d-\d\d|\bA9\d{3}|probe9\d{3}`,
);

type Row = { source_id: string; closed_reason: string | null; content: string; updated_at: number };

/** A row of the audit trail. */
type Chained = AuditLink & { id: number; hash: Buffer };

/** A row of the inbox. */
type Taken = { id: number; received_at: number };

export class Oracle {
  readonly #world: World;
  readonly #operator: Pick<Operator, 'withdrawn' | 'asked'>;
  readonly calls: Calls;
  /** The periods in which submission was stopped because of a second installation. */
  stopped_from = Number.POSITIVE_INFINITY;
  stopped_until = 0;
  /** The newest content of each appointment that eligd has stored, and when, by machine. */
  readonly acknowledged = new Map<string, Map<string, { input: AppointmentInput; at: number }>>();
  /** Acknowledged events, and the newest version of each answer in them. */
  readonly #reports = new Map<string, Taken>();
  readonly #told = new Map<string, number>();
  /** Daemons that have compared the service's list. */
  readonly #reconciled = new WeakSet<Life>();
  /** Answers that eligd took from events, without a GET. */
  reported_answers = 0;

  readonly #lead: LeadCheck;
  readonly claims: ClaimCheck;

  constructor(world: World, operator: Pick<Operator, 'withdrawn' | 'asked'>) {
    this.#world = world;
    this.#operator = operator;
    this.#lead = new LeadCheck(world, operator.withdrawn);
    this.calls = new Calls(world, operator.asked);
    this.claims = new ClaimCheck(world, this.calls, operator.withdrawn);
  }

  #fail(guarantee: string, what: string, about: readonly string[] = []): void {
    this.#world.fail(new Broken(guarantee, what, about));
  }

  onAccepted(call: Accepted): void {
    this.calls.onAccepted(call);
    this.claims.onAccepted(call);
    const need = this.calls.needOf(call);
    if (need?.claim === null) this.#lead.onAccepted(call, need.patient);
  }

  onListed(entries: readonly AttentionEntry[]): void {
    this.#lead.onListed(entries);
  }

  // ---- G3

  onAcknowledged(life: Life, inputs: readonly AppointmentInput[]): void {
    const latest = new Map(inputs.map((input) => [input.source_id, input]));
    const rows = readState(life.machine, (raw) => {
      const select = raw
        .prepare('select content from appointments where source_id = ? and superseded_at is null')
        .pluck();
      return new Map([...latest.keys()].map((id) => [id, select.get(id) as string | undefined]));
    });
    const taken = this.acknowledged.get(life.machine.name) ?? new Map();
    this.acknowledged.set(life.machine.name, taken);
    for (const [id, input] of latest) {
      const stored = rows?.get(id);
      if (stored === undefined || !this.#world.pms.book.isContentOf(input, stored)) {
        this.#fail('G3', `${id} was acknowledged and is not in the database.`, [id]);
        return;
      }
      taken.set(id, { input, at: this.#world.scheduler.now });
      if (life.machine.name === 'clinic') this.calls.onAcknowledged(input);
    }
  }

  onMerged(life: Life, merge: Merge): void {
    if (life.machine.name === 'clinic') this.calls.onMerged(merge);
  }

  /**
   * An acknowledged event is in the database, exactly once however often it arrives; an event with
   * a wrong signature never is (docs/service.md "Events").
   */
  onReported(life: Life, { kind, message_hash, told }: Report, status: number): void {
    if (kind === 'nonsense') {
      if (status !== 200 && status !== 400 && status !== 503)
        this.#fail('webhook', `A senseless report was answered ${status}.`);
      return;
    }
    const about = told.map(({ id }) => id);
    const row = readState(life.machine, (raw) =>
      raw.prepare('select id, received_at from inbox where message_hash = ?').get(message_hash),
    ) as Taken | undefined | null;
    if (kind === 'forged') {
      if (status !== 401 && status !== 503)
        this.#fail('webhook', `A forged report was answered ${status}.`, about);
      return;
    }
    if (status === 503) return;
    if (status !== 200)
      this.#fail(
        'webhook',
        `The genuine report ${message_hash} was refused with ${status}.`,
        about,
      );
    else if (row === undefined || row === null) {
      // Its machine may have died, and lost its database, since it answered.
      if (!life.is_dead)
        this.#fail(
          'G3',
          `The report ${message_hash} was acknowledged and is not in the database.`,
          about,
        );
    } else {
      const before = this.#reports.get(message_hash) ?? row;
      this.#reports.set(message_hash, row);
      if (before.id !== row.id || before.received_at !== row.received_at)
        this.#fail(
          'webhook',
          `The report ${message_hash} came again, and was taken for a new one.`,
          about,
        );
      for (const each of told)
        if (!this.calls.is_state_lost)
          this.#told.set(each.id, Math.max(this.#told.get(each.id) ?? 0, each.stage.results ?? 0));
    }
  }

  // ---- what reaches the charts, and G8

  onWritten(life: Life, written: Written): void {
    const { service } = this.#world;
    const { record, appointment } = written.delivery;
    const about = [written.source_id, written.inquiry_id];
    const call = service.accepted.get(record.inquiry_id);
    if (call === undefined) {
      this.#fail(
        'chart',
        `A record of an inquiry was written that the service does not have: ${record.inquiry_id}.`,
        about,
      );
      return;
    }
    const need = this.calls.needOf(call);
    const is_same =
      this.calls.isFor(call, this.#world.pms.book.personOf(appointment.patient.id), life.machine) &&
      isoDate(String(call.request.dob)) === appointment.patient.birth_date &&
      canonical(String(call.request.member_id)) === canonical(appointment.coverage.member_id);
    if (!is_same) {
      this.#fail(
        'chart',
        `The answer about ${need?.patient}, ${call.request.member_id}, was written for ` +
          `${appointment.patient.id}, ${appointment.coverage.member_id}.`,
        [...about, call.external_id],
      );
      return;
    }
    this.#checkUnknown(written, about);
  }

  #checkUnknown({ delivery: { record } }: Written, about: readonly string[]): void {
    const reference = /^REF-(.*)-(\d+)$/.exec(record.plan?.plan_name ?? '');
    const said =
      reference === null
        ? { is_active: undefined, deductible: undefined, covered: undefined, begins: undefined }
        : saidIn(reference[1] ?? '', Number(reference[2]));
    const wrong = (what: string, is: unknown, was: unknown) =>
      this.#fail(
        'G8',
        `${what} reads ${JSON.stringify(is)} where the payer said ${JSON.stringify(was)}.`,
        about,
      );
    const is_active = record.plan?.is_active ?? null;
    if (is_active !== (said.is_active ?? null)) wrong('is_active', is_active, said.is_active);
    const [known] = CODES[this.#world.plan.specialty];
    const covered =
      record.procedure_codes?.codes.find(({ code }) => code === known)?.benefits.is_covered ?? null;
    if (covered !== (said.covered ?? null)) wrong('is_covered', covered, said.covered);
    const begins = record.plan?.effective_date ?? null;
    const is_day = said.begins !== undefined && said.begins !== '' && said.begins !== '2026-02-30';
    if (begins !== (is_day ? said.begins : null)) wrong('effective_date', begins, said.begins);
    const limit = record.maximums?.coverage_limit?.amount;
    const is_limit = limit != null && 'amount' in limit && Number(limit.amount) === 1500;
    if (reference !== null && !is_limit) wrong('coverage_limit', limit, 1500);
    const teeth = record.treatment_history?.treatments[0]?.teeth;
    if (reference !== null && teeth?.join() !== '3,14') wrong('tooth_numbers', teeth, '3,14');
    const amount = record.maximums?.individual_deductible?.amount ?? null;
    const is_number = /\d/.test(said.deductible ?? '');
    if (
      is_number !== (amount !== null && 'amount' in amount) ||
      (amount !== null && !is_number && !('text' in amount))
    )
      wrong('individual_deductible', amount, said.deductible);
  }

  // ---- G5, G6, and what the log gives away

  onTooMany(machine: string, count: number): void {
    this.#fail(
      'G5',
      `${count} requests of ${machine} reached the service within a minute; ` +
        `${this.#world.plan.config.max_per_minute} are allowed.`,
    );
  }

  onLog(life: Life, event: string, fields: Record<string, unknown>): void {
    for (const [field, value] of Object.entries(fields)) {
      // The system chooses the name of the world's folder, so it may look like anything.
      if (typeof value === 'string' && PHI.test(value.replaceAll(dirname(life.machine.path), '')))
        this.#fail('G6', `The log event ${event} holds patient data in ${field}: ${value}.`);
    }
    if (
      event === 'submission_stopped' &&
      fields.reason === 'foreign' &&
      this.calls.clone_from === null
    ) {
      this.#fail(
        'alarm',
        'Submission was stopped because of a second installation, and there is none.',
      );
    }
    if (
      event === 'submission_stopped' &&
      ['new_database', 'calls_lost'].includes(String(fields.reason)) &&
      this.calls.clone_from === null &&
      !this.calls.is_state_lost
    )
      this.#fail('alarm', 'Submission was stopped because of a lost database, and none was lost.');
    if (
      event === 'submission_stopped' &&
      fields.reason === 'foreign' &&
      life.machine.name === 'clinic'
    )
      this.stopped_from = Math.min(this.stopped_from, life.machine.scheduler.now);
    if (life.machine.name === 'clinic') this.#follow(life, event, fields);
    else if (event === 'inquiry_adopted')
      this.calls.onAdoptedByClone(String(fields.service_id), fields.inquiry, life.machine);
    if (event !== 'stage_failed') return;
    const is_connectors =
      /^(pull|deliver)/.test(String(fields.stage)) && fields.error_name === 'Error';
    // A step ends, and reports a refused statement, when all of its requests are over.
    const until =
      (life.refused_at ?? Number.NEGATIVE_INFINITY) + 2 * this.#world.plan.config.timeout_ms;
    const is_disk = fields.error_code === 'SQLITE_FULL' && life.machine.scheduler.now <= until;
    if (!is_connectors && !is_disk) this.#fail('run', `A stage failed: ${JSON.stringify(fields)}.`);
  }

  /** The calls that the clinic's own installation reports. */
  #follow(
    life: Life,
    event: string,
    { service_id, inquiry, status }: Record<string, unknown>,
  ): void {
    if (event === 'inquiry_adopted') this.calls.onAdopted(String(service_id), inquiry);
    if (/^inquiry_(adopted|found)$/.test(event))
      this.calls.onTakenOver(String(service_id), 'serves');
    else if (event === 'duplicate_call_found')
      this.calls.onTakenOver(String(service_id), 'duplicate');
    else if (event === 'doubtful_call_found') this.calls.onDoubt(inquiry);
    else if (event === 'inquiry_absent') this.calls.onAbsent(inquiry);
    else if (event === 'answer_received')
      this.calls.onAnswered(String(service_id), life.machine.wallNow(), status);
    else if (event === 'reconciliation_done' && !this.#reconciled.has(life)) {
      this.#reconciled.add(life);
      this.calls.onReconciledAtStart();
    }
  }

  onRequest({ method, path, headers, body }: ServiceRequest): void {
    if (method === 'POST' && /inquiries$/.test(path)) this.calls.onPosted(body);
    const shown = `${path.replace(/([?&]external_id=)[^&]*/, '$1')} ${headers['user-agent'] ?? ''}`;
    if (PHI.test(decodeURIComponent(shown)))
      this.#fail('G6', `A URL or header holds patient data: ${shown}.`);
  }

  // ---- G2

  /** Everything that is not finished waits for a time, or for someone who knows about it. */
  checkWaiting(machine: Machine): void {
    const stuck = readState(machine, (raw) => {
      const table = raw.prepare("select 1 from sqlite_master where name = 'attention'").get();
      if (table === undefined) return [];
      return raw
        .prepare(
          `select source_id as id,
             'the appointment is open, waits for nothing and no inquiry serves it' as what
             from appointments a
             where closed_reason is null and superseded_at is null and plan_due_at is null
               and not exists (select 1 from inquiry_appointments where appointment = a.id)
               and not exists (
                 select 1 from attention where appointment = a.id and resolved_at is null)
           union all
           select i.external_id,
             'the inquiry is ' || i.state || ' and nothing will ever happen to it' from inquiries i
             where ((state = 'uncertain' and lookup_at is null)
                 or (state = 'open' and poll_at is null) or state in ('rejected', 'undecidable'))
               and not exists (select 1 from attention where inquiry = i.id and resolved_at is null)
               and exists (select 1 from inquiry_appointments j
                           join appointments a on a.id = j.appointment
                           where j.inquiry = i.id and a.closed_reason is null
                             -- Once it is in the window again, eligd polls again.
                             and a.plan_wait is not 'outside_window')
           union all
           select a.source_id, 'the delivery is parked and nobody is told'
             from deliveries d join appointments a on a.id = d.appointment
             where d.state = 'parked' and a.superseded_at is null
               -- Of an answer that the service has taken back, there is nothing to write.
               and exists (select 1 from inquiries where id = d.inquiry and state = 'answered')
               and exists (select 1 from inquiry_appointments where appointment = a.id
                           and inquiry = d.inquiry and coverage_rank = d.coverage_rank)
               and a.closed_reason is null
               and not exists (select 1 from attention where subject = 'delivery:' || d.key)
               -- A newer answer took its place, and is judged in its stead.
               and not exists (select 1 from deliveries n
                               where n.appointment = d.appointment and n.inquiry = d.inquiry
                               and n.coverage_rank = d.coverage_rank and n.record > d.record)`,
        )
        .all() as { id: string; what: string }[];
    });
    for (const { id, what } of stuck ?? []) {
      this.#fail('G2', `${id}: ${what}.`, [id]);
      return;
    }
  }

  /** Every inquiry that was sent has the call that counts for it, and no other inquiry has one. */
  #checkCallRows(machine: Machine): void {
    const differing = readState(machine, (raw) =>
      raw
        .prepare(
          `select external_id from inquiries_with_call
             where case
               when state in ('planned', 'rejected') then sent_at is not null
               when state = 'withdrawn' or entered_by is not null then false
               when state in ('open', 'answered') then service_id is null or sent_at is null
               else sent_at is null end`,
        )
        .pluck()
        .all(),
    ) as string[] | null;
    const [first] = differing ?? [];
    if (first !== undefined)
      this.#fail('G1', `${first}: the state of the inquiry and its calls differ.`, [first]);
  }

  /** The audit trail is one chain, whatever died while it was written. */
  #checkTrail(machine: Machine): void {
    const broken = readState(machine, (raw) => {
      let hash = CHAIN_START;
      for (const row of raw.prepare('select * from audit order by id').all() as Chained[]) {
        if (!auditHash(hash, row).equals(row.hash)) return row.id;
        hash = row.hash;
      }
      return null;
    });
    if (broken !== null) this.#fail('audit', `The chain is broken at entry ${broken}.`);
  }

  /** At the very end, after days in which everything worked. */
  checkEnd(machine: Machine, calm_at: number): void {
    const { pms } = this.#world;
    this.#checkTrail(machine);
    this.#checkCallRows(machine);
    const taken =
      this.acknowledged.get(machine.name) ??
      new Map<string, { input: AppointmentInput; at: number }>();
    const output = pms.output(machine.name);
    const rows = readState(machine, (raw) => {
      const found = raw.prepare(
        'select source_id, closed_reason, content, updated_at from appointments where ' +
          'superseded_at is null',
      );
      return new Map((found.all() as Row[]).map((row) => [row.source_id, row]));
    });
    const written = [...output.written.values()];
    const reported =
      "select count(*) from audit where reason = 'The service reported the inquiry: successful.'";
    this.reported_answers += Number(
      readState(machine, (raw) => raw.prepare(reported).pluck().get()),
    );
    for (const visit of pms.book.visits.values()) {
      const row = rows?.get(visit.source_id);
      const acknowledged = taken.get(visit.source_id);
      const stored =
        row === undefined
          ? undefined
          : { input: JSON.parse(row.content) as AppointmentInput, at: row.updated_at };
      // If a process dies between its commit and the acknowledgment, its stored content is newer,
      // and correct.
      const is_newer =
        row !== undefined &&
        row.updated_at > (acknowledged?.at ?? 0) &&
        visit.versions.some((version) => pms.book.isShownAs(version, row.content));
      const last = acknowledged === undefined || is_newer ? stored : acknowledged;
      if (last === undefined) {
        this.#checkNeverTaken(visit, calm_at);
        continue;
      }
      if (row === undefined) {
        this.#fail('G2', `${visit.source_id} was accepted and is gone from the database.`, [
          visit.source_id,
        ]);
        return;
      }
      const { closed_reason: closed } = row;
      const { input } = last;
      const insured = input.coverages.filter(
        ({ member_id, payor_id }) => member_id + payor_id !== '',
      );
      if (closed === 'cancelled' || closed === 'no_coverage') {
        const is_right =
          closed === 'cancelled' ? input.status === 'cancelled' : insured.length === 0;
        if (!is_right)
          this.#fail('G2', `${visit.source_id} is closed as ${closed}, and it is not.`, [
            visit.source_id,
          ]);
        continue;
      }
      if (input.status === 'cancelled') continue;
      if (closed === 'withdrawn') {
        if (this.#operator.withdrawn.has(visit.source_id)) continue;
        this.#fail('G2', `${visit.source_id} is closed as withdrawn, and nobody withdrew it.`, [
          visit.source_id,
        ]);
        return;
      }
      // The entry about a visit is removed when the visit is over; until then it was on the list.
      const until = output.listed_until.get(pms.book.personOf(input.patient.id)) ?? 0;
      if (until > Math.min(Date.parse(input.starts_at) - HOUR_MS, this.#world.scheduler.now))
        continue;
      const missing = input.coverages.findIndex(
        (each, index) =>
          insured.includes(each) &&
          !written.some(
            (one) =>
              one.source_id === visit.source_id &&
              pms.book.personOf(one.delivery.appointment.patient.id) ===
                pms.book.personOf(input.patient.id) &&
              canonical(one.delivery.appointment.coverage.member_id) ===
                canonical(each.member_id) &&
              (one.rank === index + 1 || input.coverages[0]?.member_id === each.member_id),
          ),
      );
      if (missing < 0) continue;
      // The visit arrived before there was time; a call for its other coverage may keep it open for
      // the answer.
      const is_over =
        closed === 'past' ||
        (closed === null && Date.parse(input.starts_at) < this.#world.scheduler.now);
      const has_call = written.some((one) => one.source_id === visit.source_id);
      if (is_over && (closed === 'past' || has_call) && !this.#hadTime(input, last.at, calm_at))
        continue;
      // The probe itself is good; another record of its batch delayed it.
      this.#fail(
        visit.is_probe ? 'G7' : 'G2',
        `${visit.source_id} (${input.patient.id}, ${input.starts_at}) was accepted, and ` +
          `coverage ${missing + 1} was never answered; it is ` +
          `${closed === null ? 'still open' : `closed as ${closed}`} and not on the attention ` +
          'list.',
        [visit.source_id],
      );
      return;
    }
    this.#lead.checkEnd();
    this.claims.checkEnd(machine, calm_at);
    this.#checkUndecided(machine);
    this.#checkReported(machine);
    this.#checkTold(machine);
  }

  /**
   * Whether everything worked for long enough between the visit's entry into the window and the
   * last possible call.
   */
  #hadTime(input: AppointmentInput, taken_at: number, calm_at: number): boolean {
    const { config } = this.#world.plan;
    const starts_at = Date.parse(input.starts_at);
    // No visit is ever too near for a call here, so none has an entry of its own; the list says
    // that nothing is sent.
    if (
      config.min_lead_hours === 0 &&
      starts_at > this.stopped_from &&
      starts_at <= this.stopped_until
    )
      return false;
    const from =
      Math.max(taken_at, calm_at, starts_at - config.look_ahead_days * DAY_MS) + 26 * HOUR_MS;
    return (
      config.calls_per_day === null &&
      from < starts_at &&
      this.#lead.payers.hoursBetween(from, starts_at) > config.min_lead_hours
    );
  }

  #checkNeverTaken(visit: Visit, calm_at: number): void {
    const { pms } = this.#world;
    const { at, input, is_present } = pms.book.current(visit);
    const waited_from = Math.max(at, calm_at);
    if (is_present && Date.parse(input.starts_at) > waited_from + DAY_MS)
      this.#fail(
        visit.is_probe ? 'G7' : 'G2',
        `${visit.source_id} was never taken over from the practice.`,
        [visit.source_id],
      );
  }

  /**
   * eligd knows and reports an excused duplicate call, or that the service forgot it, unless it
   * served as the next attempt, or another need.
   */
  #checkReported(machine: Machine): void {
    if (this.calls.is_state_lost) return;
    const known = readState(machine, (raw) => {
      const of = (role: string) =>
        new Set(
          raw.prepare('select service_id from calls where role = ?').pluck().all(role) as string[],
        );
      const told = raw
        .prepare(
          `select service_id from calls as s where role = 'duplicate'
             and exists (select 1 from attention as a
                         where a.inquiry = s.inquiry and a.reason = 'duplicate_call')`,
        )
        .pluck()
        .all() as string[];
      const namesIn = (reason: string) => {
        const sql = 'select what from attention where reason = ?';
        const words = raw.prepare(sql).pluck().all(reason) as string[];
        return (id: string) => words.some((what) => what.includes(id));
      };
      return {
        told: new Set(told),
        isNamed: namesIn('duplicate_call'),
        isNamedLost: namesIn('lost_at_service'),
        mains: of('serves'),
      };
    });
    for (const { first, second } of this.calls.excused) {
      if (known === null || this.#world.plan.service.list_cap !== null) return;
      if ([first, second].some(({ id }) => known.told.has(id) || known.isNamed(id))) continue;
      // It serves, or the service forgot it, as the office has read.
      const isKnown = ({ id, is_forgotten }: Accepted) =>
        known.mains.has(id) || (is_forgotten && known.isNamedLost(id));
      if (isKnown(first) && isKnown(second)) continue;
      if ([first, second].some(({ id }) => this.calls.isAdopted(id))) continue;
      this.#fail(
        'G1',
        `A duplicate call (${first.id}, ${second.id}) showed up and was not reported.`,
        [first.external_id, first.id, second.id],
      );
      return;
    }
  }

  /**
   * eligd read an answer that the service reported (G2), in this version or a newer one, unless the
   * visit is long over.
   */
  #checkTold(machine: Machine): void {
    const { poison_answer, takes_back } = this.#world.plan.service;
    if (poison_answer || takes_back > 0) return;
    const answers = readState(machine, (raw) =>
      raw
        .prepare(
          'select i.service_id as id, a.raw as raw from answers a ' +
            'join inquiries_with_call i on i.id = a.inquiry',
        )
        .all(),
    ) as { id: string; raw: string }[] | null;
    const newest = new Map<string, number>();
    for (const { id, raw } of answers ?? []) {
      const version = Number(/"REF-[^"]*-(\d+)"/.exec(raw)?.[1] ?? 0);
      newest.set(id, Math.max(newest.get(id) ?? 0, version));
    }
    const owned = readState(
      machine,
      (raw) =>
        new Set(
          raw
            .prepare(
              "select service_id from inquiries_with_call where state = 'answered' " +
                "or (state = 'open' and poll_at is not null)",
            )
            .pluck()
            .all(),
        ),
    );
    for (const [id, version] of this.#told) {
      if (owned?.has(id) && (newest.get(id) ?? 0) < version) {
        this.#fail(
          'G2',
          `The service has told of answer ${version} to ${id}, and answer ` +
            `${newest.get(id) ?? 0} is the last that was read.`,
          [id, this.#world.service.accepted.get(id)?.external_id ?? ''],
        );
        return;
      }
    }
  }

  /** eligd now has the knowledge that it had at `kept_at`. */
  forgetSince(
    machine: Machine,
    kept: Map<string, { input: AppointmentInput; at: number }> | null,
    kept_at: number,
  ): void {
    this.calls.forgetSince(kept, kept_at);
    this.claims.forgetSince(machine, kept_at);
    this.#reports.clear();
    this.#told.clear();
    this.acknowledged.set(machine.name, new Map(kept ?? []));
  }

  /** eligd asks the office only for what it cannot find out. */
  #checkUndecided(machine: Machine): void {
    const { service, scheduler } = this.#world;
    const undecided = readState(machine, (raw) =>
      raw
        .prepare(
          `select id, external_id, match_key from inquiries i where state = 'undecidable'
             and exists (select 1 from attention where inquiry = i.id
                         and reason = 'undecidable' and resolved_at is null)`,
        )
        .all(),
    ) as { id: number; external_id: string; match_key: string }[] | null;
    const owned = readState(
      machine,
      (raw) =>
        new Set(
          raw.prepare('select service_id from calls where inquiry is not null').pluck().all(),
        ),
    );
    for (const { external_id, match_key } of undecided ?? []) {
      const shown = [...service.accepted.values()].find(
        (call) =>
          call.external_id === external_id &&
          match_key.includes(
            `|${canonical(String(call.request.member_id))}|${isoDate(String(call.request.dob))}|`,
          ) &&
          !owned?.has(call.id) &&
          // eligd compares the list once a day.
          call.visible_at < scheduler.now - 26 * HOUR_MS &&
          service.shows(call),
      );
      if (shown !== undefined)
        this.#fail(
          'G2',
          `The attention list asks about ${external_id}, and the service has listed ${shown.id} ` +
            `since ${iso(shown.visible_at)}.`,
          [external_id, shown.id],
        );
    }
  }
}
