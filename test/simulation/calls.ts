/** Calls and their needs: G1, and the calls of other programs for the same practice. */
import type Database from 'better-sqlite3';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import type { Merge } from './book.ts';
import type { Claim } from './claim-book.ts';
import { readState } from './evidence.ts';
import type { Machine } from './machine.ts';
import type { World } from './network.ts';
import { DAY_MS, HOUR_MS } from './plan.ts';
import { Records, STALE_PLAN_MS } from './records.ts';
import type { Accepted } from './service.ts';
import { claimSaidIn, DECIDED } from './service-answers.ts';
import { Broken } from './story.ts';

/** `patient`: the person, who may have two records. */
type Need = { key: string; patient: string; calls: Accepted[]; claim: Claim | null };

/** The content that eligd stored about a visit, and when. */
type Known = { at: number; input: AppointmentInput };

export class Calls {
  readonly #world: World;
  readonly #needs = new Map<string, Need>();
  readonly #need_of = new Map<string, Need>();
  /**
   * Calls that G1 excuses, because the service listed the first one too late. eligd must report
   * them.
   */
  readonly excused: { first: Accepted; second: Accepted }[] = [];
  /** Calls that eligd made because the last answer was too old. Attempts are counted from here. */
  readonly #series_starts = new Set<string>();
  /** Whether the database was lost, or replaced by an older one. */
  is_state_lost = false;
  /** The period of the calls that the database does not know. */
  #forgotten = { from: 0, until: 0 };
  readonly #records = new Records();
  /** When eligd last told the office that it may be for a patient about whom eligd will call. */
  readonly #doubted_at = new Map<string, number>();
  clone_from: number | null = null;
  /**
   * Calls of the second installation, except those that the first one adopted from the list instead
   * of making a call.
   */
  readonly #calls_of_clone = new Map<string, Accepted>();
  /** By call: the twin for whom the second installation uses it, whose database never knew it. */
  readonly #twin_of_clone = new Map<string, string>();
  readonly #last_call_of = new Map<string, number>();
  /**
   * The benefit years that each call may be about: one, unless its visit was just moved into
   * another year.
   */
  readonly #years = new Map<string, ReadonlySet<string>>();
  /** Calls of a lost database that were adopted: the benefit year of the need that they serve. */
  readonly #year_served = new Map<string, string>();
  /**
   * Labels of inquiries that eligd took as absent although it could see that the list was
   * truncated.
   */
  readonly #unproven = new Set<string>();
  /** Calls that eligd knows according to its log. */
  readonly #heard = new Set<string>();
  /** Calls that eligd reports as duplicates. It reads no answers of theirs. */
  readonly #duplicates = new Set<string>();
  /** Listed calls that eligd made serve instead of making one. */
  readonly #adopted = new Set<string>();
  /** When eligd first read each answer, by the machine's clock, which may have been wrong. */
  readonly #answered_at = new Map<string, number>();
  /** Calls whose last answer that eligd read was successful; the service may revise an answer. */
  readonly #successful = new Set<string>();
  /** When each form of a call was first sent since one like it was accepted. */
  readonly #posted_at = new Map<string, number>();
  /** When the form of each call was first sent: eligd repeats it if nothing came of it. */
  readonly #first_posted_at = new Map<string, number>();
  /** By visit, on the clinic's own machine. */
  #known = new Map<string, Known[]>();
  readonly counts = { claims: 0, calls: 0, second_attempts: 0, excused: 0 };

  /** By patient: when the operator ordered another call (`eligd ask`). */
  readonly #asked: ReadonlyMap<string, readonly number[]>;

  constructor(world: World, asked: ReadonlyMap<string, readonly number[]>) {
    this.#world = world;
    this.#asked = asked;
  }

  /** The need that eligd made a call for. */
  needOf(call: Accepted): Need | undefined {
    return this.#need_of.get(call.id);
  }

  /** Whether the first installation uses the call, which another database made. */
  isAdopted(id: string): boolean {
    return this.#adopted.has(id);
  }

  /** The first installation adopted the call, or reported it as a duplicate call. */
  onTakenOver(id: string, as: 'serves' | 'duplicate'): void {
    this.#heard.add(id);
    this.#calls_of_clone.delete(id);
    if (as === 'duplicate') this.#duplicates.add(id);
    else this.#duplicates.delete(id);
  }

  /**
   * The first installation made no call, because the list shows this one. If its database lost the
   * call, it cannot tell which record of the person that was for, which benefit year, or which of
   * two payers with the same member ID, so it counts for those that it now serves; a lost call for
   * that record, if there is one, counts for the other record.
   */
  onAdopted(id: string, inquiry: unknown): void {
    this.#adopted.add(id);
    const call = this.#world.service.accepted.get(id);
    const need = call === undefined ? undefined : this.needOf(call);
    if (call === undefined || need === undefined || !this.#isForgotten(call)) return;
    readState(this.#world.machine(), (raw) => {
      const row = raw.prepare('select need_base, benefit_year from inquiries where id = ?');
      const { need_base, benefit_year } = row.get(inquiry) as Record<string, unknown>;
      this.#year_served.set(id, String(benefit_year));
      const [, record = '', , payer = ''] = String(need_base).split('|');
      if (need.claim === null) this.#moveTo(call, need, { payer });
      const before = this.#records.of(id);
      if (before === undefined || before === record) return;
      const person = this.#world.pms.book.personOf(record);
      if (person !== need.patient) {
        if (need.claim === null && this.#mayBeATwins(call, raw, inquiry))
          this.#moveTo(call, this.needOf(call) ?? need, { person });
        return;
      }
      const other = need.calls.find(
        (one) =>
          this.#isForgotten(one) &&
          !this.#adopted.has(one.id) &&
          this.#records.of(one.id) === record,
      );
      if (other !== undefined) this.#records.note(other.id, before);
      this.#records.note(id, record);
    });
  }

  /** The second installation made no call, because the list shows this one. */
  onAdoptedByClone(id: string, inquiry: unknown, clone: Machine): void {
    const call = this.#world.service.accepted.get(id);
    if (call === undefined || this.needOf(call)?.claim !== null) return;
    readState(clone, (raw) => {
      if (!this.#mayBeATwins(call, raw, inquiry)) return;
      const row = raw.prepare('select patient_key from inquiries where id = ?');
      const [, record = ''] = String(row.pluck().get(inquiry)).split('|');
      this.#twin_of_clone.set(id, this.#world.pms.book.personOf(record));
    });
  }

  /** Whether this installation may write the answer of the call for this patient. */
  isFor(call: Accepted, patient: string, machine: Machine): boolean {
    if (this.needOf(call)?.patient === patient) return true;
    return machine.name === 'clone' && this.#twin_of_clone.get(call.id) === patient;
  }

  /**
   * Whether only its label shows whose call it is, because its echo has no name, and the inquiry
   * serves the visit of that label, which the practice has since moved from one twin to the other.
   */
  #mayBeATwins({ external_id }: Accepted, raw: Database.Database, inquiry: unknown): boolean {
    const served = raw.prepare(
      `select 1 from inquiry_appointments l join appointments a on a.id = l.appointment
         where l.inquiry = ? and a.source_id = ?`,
    );
    return (
      this.#world.plan.service.is_echo_nameless && served.get(inquiry, external_id) !== undefined
    );
  }

  /** The call counts for the same question about another person, or to another payer. */
  #moveTo(call: Accepted, need: Need, to: { person?: string; payer?: string }): void {
    const [person = '', birth_date = '', payer = '', ...member] = need.key.split('|');
    const patient = to.person ?? person;
    const key = [patient, birth_date, to.payer ?? payer, ...member].join('|');
    if (key === need.key) return;
    const other = this.#needs.get(key) ?? { key, patient, calls: [], claim: null };
    this.#needs.set(key, other);
    need.calls.splice(need.calls.indexOf(call), 1);
    other.calls.push(call);
    other.calls.sort((a, b) => a.accepted_at - b.accepted_at);
    this.#need_of.set(call.id, other);
  }

  /**
   * The first installation has read the current list, and cannot tell its calls from those that its
   * database has lost.
   */
  onReconciledAtStart(): void {
    for (const call of this.#calls_of_clone.values())
      if (this.#world.service.lists(call)) this.#calls_of_clone.delete(call.id);
  }

  /** eligd told the office that listed calls may be for the patient of this inquiry. */
  onDoubt(inquiry: unknown): void {
    for (const id of this.#doubtsOf(inquiry)) this.#doubted_at.set(id, this.#world.scheduler.now);
  }

  #doubtsOf(inquiry: unknown): string[] {
    const sql = 'select service_id from doubtful_calls where inquiry = ?';
    const read = readState(this.#world.machine(), (raw) => raw.prepare(sql).pluck().all(inquiry));
    return (read ?? []) as string[];
  }

  /** Whether one of these calls is for the need of this inquiry, as the service says. */
  serveNeedOf(inquiry: number, ids: readonly string[]): boolean {
    const columns = 'need_base, benefit_year, external_id';
    const row = readState(this.#world.machine(), (raw) =>
      raw.prepare(`select ${columns} from inquiries where id = ?`).get(inquiry),
    ) as { need_base: string; benefit_year: number; external_id: string } | undefined | null;
    if (row == null) return false;
    const [, record = '', ...question] = row.need_base.split('|');
    const key = [this.#world.pms.book.personOf(record), ...question.slice(0, 3)].join('|');
    return ids.some((id) => {
      const need = this.#need_of.get(id);
      const call = this.#world.service.accepted.get(id);
      if (need === undefined || call === undefined) return false;
      if (need.claim !== null) return need.key === `claim ${row.external_id}`;
      return need.key === key && this.#yearsFor(call).has(String(row.benefit_year));
    });
  }

  /** eligd read an answer at this time of the machine's clock. */
  onAnswered(id: string, wall_now: number, status: unknown): void {
    this.#heard.add(id);
    if (status === 'successful') this.#successful.add(id);
    else this.#successful.delete(id);
    if (!this.#answered_at.has(id)) this.#answered_at.set(id, wall_now);
  }

  #fail(what: string, about: readonly string[] = []): void {
    this.#world.fail(new Broken('G1', what, about));
  }

  /** The need that eligd made a call for, or null if no visit has that need. */
  #needOf(call: Accepted): Need | null {
    const { pms } = this.#world;
    if (call.request.type === 'CLAIMS_STATUS') return this.#needOfClaim(call);
    const dob = isoDate(String(call.request.dob));
    const candidates = [...pms.book.history()].flatMap(({ visit, version }) => {
      const { patient, coverages } = version.input;
      if (visit.source_id !== call.external_id) return [];
      if (!pms.book.birthDatesOf(patient).includes(dob)) return [];
      const coverage = coverages.find(
        ({ member_id, payor_id }) =>
          canonical(member_id) === canonical(String(call.request.member_id)) &&
          payor_id === call.request.insurance_payor_id,
      );
      return coverage === undefined ? [] : [{ patient, coverage }];
    });
    const named = candidates.find(({ patient }) =>
      String(call.request.patient_name).startsWith(`${patient.first_name} `),
    );
    const found = named ?? candidates[0];
    if (found === undefined) return null;
    const key = [
      pms.book.personOf(found.patient.id),
      dob,
      found.coverage.payor_id,
      canonical(found.coverage.member_id),
    ].join('|');
    const need = this.#needs.get(key) ?? {
      key,
      patient: pms.book.personOf(found.patient.id),
      calls: [],
      claim: null,
    };
    const records = this.#versionsFor(need, call).map(({ input }) => input.patient.id ?? '');
    const record = this.#intentOf(call)?.record ?? '';
    this.#records.note(call.id, records.includes(record) ? record : (records.at(-1) ?? ''));
    this.#needs.set(key, need);
    this.#need_of.set(call.id, need);
    return need;
  }

  /** The need of a call about a claim, or null if the practice has no such claim. */
  #needOfClaim(call: Accepted): Need | null {
    this.counts.claims += 1;
    const { book } = this.#world.pms;
    const { request, external_id } = call;
    const claim = book.claims.claims.get(external_id);
    const version = claim?.versions.find(
      (each) =>
        each.claim.patient.birth_date === isoDate(String(request.dob)) &&
        canonical(each.claim.coverage.member_id) === canonical(String(request.member_id)) &&
        isAskedAs(each, call) &&
        each.claim.date_of_service === isoDate(String(request.claims_date_of_service)),
    );
    if (claim === undefined || version === undefined) return null;
    const { patient } = version.claim;
    const key = `claim ${external_id}`;
    const need = this.#needs.get(key) ?? {
      key,
      patient: book.personOf(patient.id),
      calls: [],
      claim,
    };
    this.#needs.set(key, need);
    this.#need_of.set(call.id, need);
    return need;
  }

  /** A request with the forms of new calls was sent; it may be lost on the way. */
  onPosted(body: string): void {
    for (const form of formsIn(body)) {
      const text = JSON.stringify(form);
      if (!this.#posted_at.has(text)) this.#posted_at.set(text, this.#world.scheduler.now);
    }
  }

  onAccepted(call: Accepted): void {
    this.counts.calls += 1;
    const text = JSON.stringify(call.request);
    this.#first_posted_at.set(call.id, this.#posted_at.get(text) ?? call.carrier.sent_at);
    this.#posted_at.delete(text);
    if (this.clone_from !== null) this.#last_call_of.set(call.machine, call.accepted_at);
    if (call.machine === 'clone') this.#calls_of_clone.set(call.id, call);
    const need = this.#needOf(call);
    const about = [call.external_id, call.id];
    if (need === null) {
      this.#fail(
        `A call was made that no appointment asked for: ${call.external_id}, ` +
          `${call.request.member_id}.`,
        about,
      );
      return;
    }
    this.#years.set(call.id, this.#yearsOf(need, call));
    const years = [...this.#yearsFor(call)];
    // An answer for another benefit year says nothing about this need, also after a merge.
    const isOfYear = (one: Accepted) => years.some((year) => this.#yearsFor(one).has(year));
    const [merged, before] = this.#records.plannedAt(call).map((at) => {
      const same = need.calls.filter((one) => isOfYear(one) && this.#records.areOne(one, call, at));
      return this.#records.inOrder(same, this.#answered_at);
    }) as [Accepted[], Accepted[]];
    need.calls.push(call);
    const first = this.#duplicated(before, call);
    if (first === null || this.clone_from !== null) return;
    if (merged.length > before.length && this.#duplicated(merged, call) === null) return;
    for (const series of [before, ...this.#records.seriesAtMerge(merged)]) {
      const own = this.#duplicated(series, call);
      if (own === null) return;
      if (!this.#isExcused(own, call)) continue;
      // eligd will never hear of the first one, so its attempts begin with the second one.
      if (!this.#canBeFound(own)) this.#series_starts.add(call.id);
      this.excused.push({ first: own, second: call });
      this.counts.excused += 1;
      return;
    }
    const { settle_ms } = this.#world.plan.config;
    this.#fail(
      `Two calls for one need (${need.key}): ${first.id} of ${iso(first.accepted_at)} and ` +
        `${call.id} of ${iso(call.accepted_at)}. ` +
        (`The first one's request ended ${iso(first.carrier.ended_at ?? first.accepted_at)}` +
          `${this.#isTold(first) ? ' with the word that it is accepted' : ''}, ` +
          `and the list showed it from ${iso(first.visible_at)}; the settle time is ` +
          `${settle_ms / 1000} s.`),
      [...about, first.external_id, first.id],
    );
  }

  /** The call among these for the same need after which this one is not due; null: none. */
  #duplicated(before: readonly Accepted[], call: Accepted): Accepted | null {
    const years = [...this.#yearsFor(call)];
    const counting = before.filter((one) => !this.#hasFailedNameless(one, call));
    const first = counting.at(-1);
    if (first === undefined || years.some((year) => this.#isDueFor(year, counting, call)))
      return null;
    return first;
  }

  /** Whether eligd could not know of the first call. */
  #isExcused(first: Accepted, call: Accepted): boolean {
    return (
      !this.#isTold(first) &&
      (this.#isShownLate(first) ||
        this.#isHidden(first, call) ||
        this.#hasWaited(first) ||
        this.#isUnderTwinsLabel(first))
    );
  }

  /**
   * Whether only its label could show whose call it is, because the database lost it and its echo
   * has no name, and eligd knows the visit of that label as the other twin's.
   */
  #isUnderTwinsLabel(one: Accepted): boolean {
    const { plan, pms } = this.#world;
    const need = this.needOf(one);
    const visit = this.#known.get(one.external_id)?.at(-1)?.input;
    return (
      plan.service.is_echo_nameless &&
      this.#isForgotten(one) &&
      !this.#adopted.has(one.id) &&
      need?.claim === null &&
      visit !== undefined &&
      pms.book.personOf(visit.patient.id) !== need.patient &&
      // Another patient's birth date would show that it is not that patient's.
      pms.book.birthDatesOf(visit.patient).includes(isoDate(String(one.request.dob)))
    );
  }

  /**
   * After a reply that the inquiry was accepted, no list can justify another call (docs/design.md
   * "Absence is proven").
   */
  #isTold({ carrier }: Accepted): boolean {
    return carrier.is_known === 'surely' && !this.is_state_lost;
  }

  /** Whether a reply has named the call, and the database has kept that. */
  isKnown(call: Accepted): boolean {
    return call.carrier.is_known === 'surely' && !this.#isForgotten(call);
  }

  /** Whether no list that eligd can ask for shows it, and nothing indicates that. */
  #isHidden(first: Accepted, { accepted_at }: Accepted): boolean {
    return (
      (this.#world.plan.service.list_cap !== null || (first.is_forgotten && this.is_state_lost)) &&
      first.visible_at <= accepted_at &&
      !this.#canBeFound(first) &&
      (this.is_state_lost || !this.#unproven.has(first.external_id))
    );
  }

  /**
   * Whether a lost call ended without an answer, and its echo has neither the patient's name nor
   * the label of this visit: nobody can tell that it was an attempt for the same need.
   */
  #hasFailedNameless(one: Accepted, call: Accepted): boolean {
    const { status } = this.#world.service.statusOf(one);
    return (
      this.#world.plan.service.is_echo_nameless &&
      this.#isForgotten(one) &&
      !this.#adopted.has(one.id) &&
      one.external_id !== call.external_id &&
      ['UNSUCCESSFUL', 'CANCELLED'].includes(status)
    );
  }

  /**
   * Whether the service has forgotten the call, and eligd has read the answer of another one since:
   * it will never hear of this one.
   */
  #isReplaced(one: Accepted, among: readonly Accepted[]): boolean {
    return (
      one.is_forgotten && among.some(({ id }) => (this.#answered_at.get(id) ?? 0) > one.accepted_at)
    );
  }

  /** Whether the office did not say for two settle times whom the call is about. */
  #hasWaited({ id }: Accepted): boolean {
    const { plan, scheduler } = this.#world;
    const since = this.#doubted_at.get(id) ?? Number.POSITIVE_INFINITY;
    return scheduler.now - since >= 2 * plan.config.settle_ms;
  }

  /**
   * Whether the whole list shows the call, or the one for its label does and eligd can know that
   * label. A visit that the practice no longer shows is gone with the database, and its label, too.
   */
  #canBeFound(call: Accepted): boolean {
    const { service } = this.#world;
    if (!service.shows(call)) return false;
    if (service.lists(call) || !this.#isForgotten(call)) return true;
    if (this.needOf(call)?.claim !== null) return true;
    const visit = readState(this.#world.machine(), (raw) =>
      raw.prepare('select 1 from appointments where source_id = ?').get(call.external_id),
    );
    return visit !== undefined;
  }

  onMerged({ update: { from_id, into } }: Merge): void {
    const successful = new Set(this.#successful);
    const at = this.#world.scheduler.now;
    this.#records.onMerged({ from_id, into_id: into.id, at, successful });
  }

  /**
   * Whether the list shows it too late for two lookups, counted from when its client was done with
   * it.
   */
  #isShownLate({ carrier, visible_at }: Accepted): boolean {
    return (
      visible_at >
      (carrier.ended_at ?? this.#world.scheduler.now) + 2 * this.#world.plan.config.settle_ms
    );
  }

  /**
   * eligd took an inquiry as absent. That proves nothing if the list leaves out an inquiry that
   * eligd has read and knows to be open or the newest, because the list is then visibly truncated.
   * If a query by label works, the list for the label counts; otherwise, the whole list counts.
   */
  onAbsent(inquiry: unknown): void {
    const { service, plan } = this.#world;
    readState(this.#world.machine(), (raw) => {
      const label = raw
        .prepare('select external_id from inquiries where id = ?')
        .pluck()
        .get(inquiry) as string;
      const read = raw
        .prepare(
          `select service_id from inquiries_with_call
             where reply_group is null and service_id is not null and (state = 'open' or sent_at =
               (select max(sent_at) from inquiries_with_call
                 where reply_group is null and service_id is not null))`,
        )
        .pluck()
        .all() as string[];
      const is_filtered = !['ignored', 'refused'].includes(plan.service.list_filter);
      const known = read
        .flatMap((id) => service.accepted.get(id) ?? [])
        .filter((call) => !is_filtered || call.external_id === label);
      if (known.some((call) => !(is_filtered ? service.shows(call) : service.lists(call))))
        this.#unproven.add(label);
      else this.#unproven.delete(label);
    });
  }

  /**
   * The benefit years that a call may count for. The service does not state the year, so a call of
   * a lost database counts for the year that it serves since, or for the current year of its visit.
   */
  #yearsFor(call: Accepted): ReadonlySet<string> {
    const { id, external_id, accepted_at } = call;
    const years = this.#years.get(id) ?? new Set();
    if (!this.#isForgotten(call)) return years;
    const served = this.#year_served.get(id);
    if (served !== undefined) return new Set([served]);
    const since = (this.#world.pms.book.visits.get(external_id)?.versions ?? []).filter(
      ({ at }) => at >= accepted_at,
    );
    return new Set([
      ...years,
      ...since.map(({ input }) => localYear(input.starts_at, this.#world.plan.time_zone)),
    ]);
  }

  /** Whether the database lost the call. */
  #isForgotten({ accepted_at }: Accepted): boolean {
    const { from, until } = this.#forgotten;
    return from <= accepted_at && accepted_at < until;
  }

  /**
   * Whether the database lost the call, and it was about another number of its claim: then eligd
   * cannot tell that it was about this claim (docs/design.md "Ambiguous").
   */
  isForgottenNumber(call: Accepted, current: string): boolean {
    return this.#isForgotten(call) && numberOf(call) !== canonical(current);
  }

  /** Whether the database lost the call, and it was too old when eligd made a later one. */
  isLostAndTooOld(call: Accepted, calls: readonly Accepted[]): boolean {
    const old_at = call.accepted_at + this.#world.plan.config.reverify_after_days * DAY_MS;
    return this.#isForgotten(call) && calls.some(({ accepted_at }) => old_at <= accepted_at);
  }

  /** Whether the database has the call: eligd made it, or a list has shown it. */
  #isStored(id: string): boolean {
    const sql = 'select 1 from calls where service_id = ?';
    return readState(this.#world.machine(), (raw) => raw.prepare(sql).get(id)) != null;
  }

  /** Whether eligd has seen the call in a list, and knows of no inquiry that it is for. */
  #isUnclaimed(id: string): boolean {
    const sql = "select 1 from calls where service_id = ? and role = 'unclaimed'";
    return readState(this.#world.machine(), (raw) => raw.prepare(sql).get(id)) != null;
  }

  #isWithdrawn(id: string): boolean {
    const sql =
      'select 1 from calls join inquiries on inquiries.id = calls.inquiry ' +
      "where calls.service_id = ? and inquiries.state = 'withdrawn'";
    return readState(this.#world.machine(), (raw) => raw.prepare(sql).get(id)) != null;
  }

  /** Whether eligd may call for the need of one benefit year; each year is a need of its own. */
  #isDueFor(year: string, before: readonly Accepted[], call: Accepted): boolean {
    const possible = before.filter((one) => this.#yearsFor(one).has(year));
    const last = possible.at(-1);
    const claim = this.needOf(call)?.claim ?? null;
    if (claim !== null && last !== undefined && this.isForgottenNumber(last, numberOf(call)))
      return true;
    // An answer to an inquiry that eligd does not know proves nothing; after a lost database, its
    // age in the list does.
    if (last?.carrier.is_known === 'no' && !this.#heard.has(last.id)) {
      if (!this.#isOldInList(last, call)) return false;
      this.#series_starts.add(call.id);
      return true;
    }
    return claim === null
      ? this.#isAnotherCallDue(possible, call)
      : this.#isClaimDueAgain(possible, call, claim);
  }

  /**
   * Whether docs/design.md requires a call after those: the first one, one after an unsuccessful
   * one, or one after so many days.
   */
  #isAnotherCallDue(made: readonly Accepted[], call: Accepted): boolean {
    const { plan, service } = this.#world;
    // The service has canceled it, maybe because it was a duplicate: it is no attempt.
    const isCanceledDuplicate = (one: Accepted) =>
      this.#duplicates.has(one.id) && service.statusOf(one).status === 'CANCELLED';
    const before = made.filter((one) => !isCanceledDuplicate(one));
    const last = before.at(-1);
    const isEnded = (one: Accepted) => one.is_forgotten && this.#isWithdrawn(one.id);
    if (last === undefined || before.every(isEnded)) return true;
    if (this.#isOrdered(last, call) || this.#asksNewCodes(before, call)) {
      this.#series_starts.add(call.id);
      return true;
    }
    const now = call.accepted_at;
    const reverify_ms = plan.config.reverify_after_days * DAY_MS;
    const machine_now = Math.max(now, this.#world.machine().wallNow());
    // eligd does not read the answer of a duplicate or unclaimed call, so its age counts from the
    // day of the call.
    const isOldUnread = ({ id, accepted_at }: Accepted) =>
      accepted_at + reverify_ms <= machine_now &&
      (this.#duplicates.has(id) || this.#isUnclaimed(id));
    const serving =
      before.findLast(
        (one) => !isOldUnread(one) && !isEnded(one) && !this.#isReplaced(one, before),
      ) ?? last;
    const ended = serving.timeline.find(({ status }) =>
      ['SUCCESS', 'UNSUCCESSFUL', 'CANCELLED'].includes(status),
    );
    const ended_at = Math.min(ended?.at ?? now, this.#answered_at.get(serving.id) ?? now);
    const is_old =
      ended !== undefined &&
      ended_at + reverify_ms <= machine_now &&
      service.statusOf(serving, now).at >= ended.at;
    if (is_old || this.#isOldInList(last, call)) {
      this.#series_starts.add(call.id);
      return true;
    }
    const was_unsuccessful = (one: Accepted) =>
      one.timeline.some(({ at, status }) => at <= now && status === 'UNSUCCESSFUL');
    // A call that the database lost, and that was too old to serve or has become invisible, is no
    // attempt to eligd.
    const isUnknownAttempt = (one: Accepted) =>
      this.#isForgotten(one) &&
      !this.#adopted.has(one.id) &&
      (one.accepted_at + reverify_ms <= machine_now ||
        (one.visible_at <= now && !this.#canBeFound(one) && !this.#isStored(one.id)));
    const attempts = before.filter((one) => !isUnknownAttempt(one));
    const series = attempts.slice(
      Math.max(
        0,
        attempts.findLastIndex(({ id }) => this.#series_starts.has(id)),
      ),
    );
    const in_a_row = series.length - 1 - series.findLastIndex((one) => !was_unsuccessful(one));
    if (in_a_row === 0 || in_a_row >= plan.config.attempts) return false;
    this.counts.second_attempts += 1;
    return true;
  }

  /**
   * Whether another call about a claim is due (docs/questions.md): the payer has not decided it and
   * some days have passed, or the call was unsuccessful, or the claim has changed since.
   */
  #isClaimDueAgain(before: readonly Accepted[], call: Accepted, claim: Claim): boolean {
    const { plan } = this.#world;
    const last = before.at(-1);
    if (last === undefined || this.#isOrdered(last, call) || this.#isOldInList(last, call))
      return true;
    const seconds = new Set(this.excused.map(({ second }) => second));
    const made = before.filter((one) => !seconds.has(one)).length;
    if (made >= plan.pms.claim_calls_max && !this.is_state_lost) return false;
    const now = call.accepted_at;
    const wait_ms = plan.pms.ask_again_days * DAY_MS;
    const read = this.#readAboutClaim(before) ?? last;
    const said = claimSaidIn(read.id);
    // The service may revise an answer: eligd has read either one.
    const endings = read.timeline.filter(
      ({ at, status }) => at <= now && /SUCCESS|CANCELLED/.test(status),
    );
    return endings.some((ended) => {
      if (ended.status === 'CANCELLED') return false;
      const read_at = Math.min(ended.at, this.#answered_at.get(read.id) ?? now);
      const is_time = read_at + wait_ms <= Math.max(now, this.#world.machine().wallNow());
      if (ended.status === 'UNSUCCESSFUL') return is_time || plan.config.attempts > 1;
      if (said === 'PAID' && !plan.service.poison_answer) return false;
      if (DECIDED.includes(said))
        return isClaimChanged(claim, read, call) || (plan.service.poison_answer && is_time);
      return is_time;
    });
  }

  /**
   * The last call that was not reported as a duplicate (eligd does not read what those say, because
   * the office asks for a refund); if it was unsuccessful, the last one whose answer the service
   * revised during it. Null: no such call.
   */
  #readAboutClaim(before: readonly Accepted[]): Accepted | null {
    const own = before.findLast(({ id }) => !this.#duplicates.has(id));
    if (own === undefined || this.#successful.has(own.id)) return own ?? null;
    const isRevised = ({ id, timeline }: Accepted) =>
      this.#successful.has(id) &&
      timeline.some(({ at, status }) => status === 'SUCCESS' && at > own.accepted_at);
    return before.findLast(isRevised) ?? own;
  }

  /** Whether eligd, without its database, can only see that the last call was long ago. */
  #isOldInList(last: Accepted, call: Accepted): boolean {
    const now = Math.max(call.accepted_at, this.#world.machine().wallNow());
    const reverify_ms = this.#world.plan.config.reverify_after_days * DAY_MS;
    return this.is_state_lost && last.accepted_at + reverify_ms <= now;
  }

  /**
   * Whether the operator ordered a call since the last one. One order is one call: the next call
   * for the need follows this one.
   */
  #isOrdered(last: Accepted, call: Accepted): boolean {
    const times = this.#asked.get(this.needOf(last)?.patient ?? '') ?? [];
    return times.some((at) => last.accepted_at < at && at <= call.accepted_at);
  }

  /**
   * Whether the call may be made because it asks about a code that none of those asked about, as
   * far as eligd knows. It does not read the answers of duplicates, so those do not count, and
   * neither do those that the service has forgotten and that another call serves for.
   */
  #asksNewCodes(before: readonly Accepted[], call: Accepted): boolean {
    if (this.#world.plan.pms.new_codes !== 'call') return false;
    const read = before.filter(({ id }) => !this.#duplicates.has(id));
    if (read.length === 0) return false;
    const isUnknown = (one: Accepted) =>
      this.#isForgotten(one)
        ? !this.#adopted.has(one.id)
        : !this.#isTold(one) && !this.#heard.has(one.id) && this.#isHidden(one, call);
    const known = read.filter((one) => !isUnknown(one) && !this.#isReplaced(one, read));
    const asked = new Set(known.flatMap(codesIn));
    return codesIn(call).some((code) => !asked.has(code));
  }

  onAcknowledged(input: AppointmentInput): void {
    const known = this.#known.get(input.source_id) ?? [];
    this.#known.set(input.source_id, known);
    known.push({ at: this.#world.scheduler.now, input });
  }

  /** eligd now has the knowledge that it had at `kept_at`. */
  forgetSince(kept: ReadonlyMap<string, Known> | null, kept_at: number): void {
    this.is_state_lost = true;
    this.#forgotten = { from: kept_at, until: this.#world.scheduler.now };
    this.#adopted.clear();
    this.#records.forgetSince(kept_at);
    this.#known = new Map([...(kept ?? [])].map(([id, known]) => [id, [known]]));
  }

  /**
   * The benefit years that the call may be about: the one that eligd made it for, if a version of
   * the visit that eligd may have known is in that year.
   */
  #yearsOf(need: Need, call: Accepted): Set<string> {
    if (need.claim !== null) return new Set(['of service']);
    const { time_zone } = this.#world.plan;
    const versions = this.#versionsFor(need, call);
    const years = new Set(versions.map(({ input }) => localYear(input.starts_at, time_zone)));
    const year = this.#intentOf(call)?.year;
    return year !== undefined && years.has(year) ? new Set([year]) : years;
  }

  /**
   * For which record of the patient, and for which benefit year, eligd made the call: the request
   * says neither. Null: the database is lost, or it is another installation's.
   */
  #intentOf({ external_id, request, machine }: Accepted): { record: string; year: string } | null {
    if (machine !== 'clinic') return null;
    const sql =
      'select body, patient_key, benefit_year from calls join inquiries on ' +
      'inquiries.id = calls.inquiry where calls.external_id = upper(trim(?)) and ' +
      'service_id is null order by calls.id desc';
    type Row = { body: string | null; patient_key: string; benefit_year: number };
    const rows = readState(this.#world.machine(), (raw) => raw.prepare(sql).all(external_id));
    const text = JSON.stringify(request);
    const made = ((rows ?? []) as Row[]).find(
      ({ body }) => body !== null && JSON.stringify(JSON.parse(body)) === text,
    );
    if (made === undefined) return null;
    const [, record = ''] = made.patient_key.split('|');
    return { record, year: String(made.benefit_year) };
  }

  /**
   * The versions of the visit that eligd may have known when it first sent the form of the call:
   * the last one that it had stored, and those that it may have stored since without an
   * acknowledgment.
   */
  #versionsFor({ patient }: Need, call: Accepted): Pick<Known, 'input'>[] {
    const { pms } = this.#world;
    const versions = pms.book.visits.get(call.external_id)?.versions ?? [];
    const known = call.machine === 'clinic' ? (this.#known.get(call.external_id) ?? []) : [];
    const first_posted_at = this.#first_posted_at.get(call.id) ?? call.carrier.sent_at;
    const planned_at = first_posted_at - STALE_PLAN_MS;
    const current = known.findLastIndex(({ at }) => at <= planned_at);
    const last = known.at(-1);
    const content = JSON.stringify(last?.input);
    const last_seen = versions.findLastIndex(
      (version) =>
        last !== undefined && version.at <= last.at && pms.book.isShownAs(version, content),
    );
    const possible = [...known.slice(Math.max(0, current)), ...versions.slice(last_seen + 1)];
    const isTheirs = ({ input }: Pick<Known, 'input'>) =>
      pms.book.personOf(input.patient.id) === patient;
    // The visit changed to another patient while the request was in progress.
    return possible.some(isTheirs) ? possible.filter(isTheirs) : versions.filter(isTheirs);
  }

  /**
   * Two installations that call for the same patients notice each other at the next daily
   * reconciliation. This leaves out calls that the first one sees at a start, or adopts instead of
   * calling, because it cannot tell them from calls that its lost database made. It also leaves out
   * calls that a truncated list does not show.
   */
  checkCloneNoticed(now: number): void {
    const shown = [...this.#calls_of_clone.values()].filter((call) =>
      this.#world.service.lists(call),
    );
    const first = Math.min(...shown.map(({ accepted_at }) => accepted_at));
    if (now < first + 30 * HOUR_MS) return;
    const last_of = (machine: string) => this.#last_call_of.get(machine) ?? 0;
    if (Math.min(last_of('clinic'), last_of('clone')) > first + 30 * HOUR_MS)
      this.#fail(
        'Two installations call for the same practice, and neither has stopped a day after ' +
          'it could be seen.',
      );
  }
}

const codesIn = ({ request }: Accepted) => (request.benefits_codes ?? []) as string[];

/** Whether the call asks about the claim as it is in this version. */
function isAskedAs({ claim }: Claim['versions'][number], { request }: Accepted): boolean {
  const amount = Number(claim.billed_amount);
  return (
    claim.claim_number === (request.claim_number ?? '') &&
    amount === (request.billed_amount ?? amount)
  );
}

/** Whether the call asks about a newer version of the claim than the last one, and differently. */
function isClaimChanged({ versions }: Claim, last: Accepted, call: Accepted): boolean {
  const newest = versions.findLastIndex((version) => isAskedAs(version, call));
  const asked = versions.findIndex((version) => isAskedAs(version, last));
  const version = versions[newest];
  return version !== undefined && newest > asked && !isAskedAs(version, last);
}

/** The forms of the calls that a request asks for: one, a list, or a list in an object. */
function formsIn(body: string): unknown[] {
  const sent = JSON.parse(body) as { inquiries?: unknown[] } | unknown[];
  if (Array.isArray(sent)) return sent;
  return sent.inquiries ?? [sent];
}

/** As the service and the practice may write it, without punctuation. */
export function canonical(member_id: string): string {
  return member_id.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
}

export function isoDate(wire: string): string {
  return wire.replace(/^(\d\d)-(\d\d)-(\d{4})$/, '$3-$1-$2');
}

function localYear(starts_at: string, time_zone: string): string {
  return new Intl.DateTimeFormat('en-US', { timeZone: time_zone, year: 'numeric' }).format(
    new Date(starts_at),
  );
}

export function iso(at: number): string {
  return new Date(at).toISOString().slice(0, 19);
}

/** The number of the claim that the call is about; empty: none. */
const numberOf = ({ request }: Accepted) => canonical(String(request.claim_number ?? ''));
