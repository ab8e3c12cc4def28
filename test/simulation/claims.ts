/** Claims, as seen from outside: none is lost, and what is written is what the payer said. */
import type { ClaimDelivery } from '../../connectors/contract.ts';
import type { ClaimInput } from '../../src/domain/claim.ts';
import { type Calls, canonical } from './calls.ts';
import { type Claim, shownClaim } from './claim-book.ts';
import { readState } from './evidence.ts';
import type { Life, Machine } from './machine.ts';
import type { World } from './network.ts';
import { DAY_MS } from './plan.ts';
import { STALE_PLAN_MS } from './records.ts';
import type { Accepted } from './service.ts';
import { claimSaidIn, claimStatusFor } from './service-answers.ts';
import { Broken } from './story.ts';

/** Everything that can be done about a claim is done within this time when everything works. */
const SETTLED_MS = 2 * DAY_MS;

export class ClaimCheck {
  readonly #world: World;
  readonly #calls: Calls;
  readonly #withdrawn: ReadonlyMap<string, number>;
  /** The newest content of each claim that eligd has stored, by machine. */
  readonly #taken = new Map<string, Map<string, { claim: ClaimInput; at: number }>>();

  constructor(world: World, calls: Calls, withdrawn: ReadonlyMap<string, number>) {
    this.#world = world;
    this.#calls = calls;
    this.#withdrawn = withdrawn;
  }

  #fail(guarantee: string, what: string, about: readonly string[]): void {
    this.#world.fail(new Broken(guarantee, what, about));
  }

  // ---- G3

  onAcknowledged({ machine }: Life, claims: readonly ClaimInput[]): void {
    if (claims.length === 0) return;
    const { book } = this.#world.pms;
    const taken = this.#taken.get(machine.name) ?? new Map();
    this.#taken.set(machine.name, taken);
    const latest = new Map(claims.map((claim) => [claim.source_id, claim]));
    for (const [id, claim] of latest) {
      const stored = storedClaim(machine, id);
      if (stored == null || !book.isContentOf(claim, stored)) {
        this.#fail('G3', `The claim ${id} was acknowledged and is not in the database.`, [id]);
        return;
      }
      taken.set(id, { claim, at: this.#world.scheduler.now });
    }
  }

  /** eligd now has the knowledge that it had at `kept_at`. */
  forgetSince(machine: Machine, kept_at: number): void {
    const taken = this.#taken.get(machine.name);
    for (const [id, { at }] of taken ?? []) if (at > kept_at) taken?.delete(id);
  }

  // ---- G1

  /**
   * The practice has told eligd in time that it need not ask, and has not opened the claim again:
   * a daemon that died right after a commit may know that without having acknowledged it.
   */
  onAccepted(call: Accepted): void {
    const taken = this.#taken.get(call.machine)?.get(call.external_id);
    if (taken?.claim.status !== 'settled' || taken.at > call.carrier.sent_at - STALE_PLAN_MS)
      return;
    const { claims } = this.#world.pms.book;
    const claim = claims.claims.get(call.external_id);
    if (claim !== undefined && shownClaim(claims.current(claim)).status !== 'settled') return;
    this.#fail('G1', `The call ${call.id} was about a claim that is settled.`, [
      call.external_id,
      call.id,
    ]);
  }

  // ---- what is written, and G8

  onWritten({ claim, record }: ClaimDelivery): void {
    const { service, plan, pms } = this.#world;
    const call = service.accepted.get(record.inquiry_id);
    const about = [claim.source_id, record.inquiry_id];
    const is_same =
      call?.request.type === 'CLAIMS_STATUS' &&
      call.external_id === claim.source_id &&
      this.#calls.needOf(call)?.patient === pms.book.personOf(claim.patient.id) &&
      canonical(String(call.request.member_id)) === canonical(claim.coverage.member_id);
    if (!is_same) {
      this.#fail(
        'chart',
        `The answer to ${record.inquiry_id}, about ${call?.external_id}, was written for the ` +
          `claim ${claim.source_id}.`,
        about,
      );
      return;
    }
    const is_read = record.calls.length > 0 || record.claim.number !== null;
    const said = is_read && record.outcome === 'successful' ? claimSaidIn(call.id) : null;
    const expected = claimStatusFor(said);
    const paid = record.claim.codes.filter((code) => code.paid !== null).length;
    const is_right =
      record.claim.status === expected && (expected === 'paid' ? paid === 1 : paid === 0);
    if (!is_right && !plan.service.poison_answer)
      this.#fail(
        'G8',
        `The claim ${claim.source_id} reads ${record.claim.status} with ${paid} payments where ` +
          `the payer said ${said}.`,
        about,
      );
  }

  // ---- G2

  checkEnd(machine: Machine, calm_at: number): void {
    for (const claim of this.#world.pms.book.claims.claims.values())
      this.#checkClaim(machine, claim, calm_at);
  }

  #checkClaim(machine: Machine, claim: Claim, calm_at: number): void {
    const { name } = machine;
    const { pms, scheduler, plan, service } = this.#world;
    const { source_id } = claim;
    const current = pms.book.claims.current(claim);
    if (!current.is_present || current.claim.status === 'settled') return;
    if (this.#withdrawn.has(source_id)) return;
    const { coverage, date_of_service } = current.claim;
    const is_insured = coverage.member_id + coverage.payor_id !== '';
    const asks_at = Date.parse(date_of_service ?? '') + (plan.pms.ask_after_days + 1) * DAY_MS;
    const from = Math.max(current.at, calm_at, asks_at);
    if (!is_insured || scheduler.now < from + SETTLED_MS) return;
    // A daemon that dies after the commit does not acknowledge the claim, and a backup has it.
    const is_taken = this.#taken.get(name)?.has(source_id) === true;
    if (!is_taken && storedClaim(machine, source_id) == null) {
      this.#fail('G2', `The claim ${source_id} was never taken over.`, [source_id]);
      return;
    }
    const output = pms.output(name);
    if (output.claims_listed.has(source_id)) return;
    // A second installation's call serves the first one, which takes it over.
    const calls = [...service.accepted.values()].filter(
      ({ id, external_id, machine }) =>
        external_id === source_id && (machine === name || this.#calls.isAdopted(id)),
    );
    if (calls.length === 0 && plan.config.calls_per_day === null)
      this.#fail('G2', `The claim ${source_id} got no call and is on no list.`, [source_id]);
    // A truncated list may never show a call whose reply, or the database with it, was lost.
    const findable = calls.filter(
      (call) =>
        (this.#calls.isKnown(call) || service.shows(call)) &&
        !this.#calls.isForgottenNumber(call, current.claim.claim_number) &&
        !this.#calls.isLostAndTooOld(call, calls),
    );
    const has_ended = findable.some(({ timeline }) =>
      timeline.some(
        ({ at, status }) =>
          Math.max(at, calm_at) + SETTLED_MS < scheduler.now && /SUCCESS/.test(status),
      ),
    );
    const is_written = [...output.claims.values()].some(
      ({ delivery }) => delivery.claim.source_id === source_id,
    );
    if (has_ended && !is_written)
      this.#fail('G2', `The answer about the claim ${source_id} was never written.`, [
        source_id,
        ...calls.map(({ id }) => id),
      ]);
  }
}

/** The claim's content in the machine's database. */
function storedClaim(machine: Machine, id: string): string | null | undefined {
  return readState(machine, (raw) =>
    raw
      .prepare('select content from appointments where source_id = ? and superseded_at is null')
      .pluck()
      .get(id),
  ) as string | null | undefined;
}
