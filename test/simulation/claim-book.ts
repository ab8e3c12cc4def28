/** The claims that a practice has sent to payers, and their changes. */
import type { CoverageInput, Patient } from '../../src/domain/appointment.ts';
import type { ClaimInput } from '../../src/domain/claim.ts';
import { CODES, DAY_MS, type Plan } from './plan.ts';
import { Random } from './random.ts';

/** `is_present`: whether the practice exports it; a list of changes reports it as settled. */
export type ClaimVersion = { seq: number; at: number; claim: ClaimInput; is_present: boolean };

export type Claim = { source_id: string; versions: ClaimVersion[] };

type Insured = { patient: Patient; coverages: readonly CoverageInput[] };

/** What the claims need of the appointment book. */
export type Practice = {
  now: () => number;
  seq: () => number;
  pick: (random: Random) => Insured;
  onChange: (version: ClaimVersion, what: string) => void;
};

export class ClaimBook {
  readonly claims = new Map<string, Claim>();
  readonly #plan: Plan;
  readonly #random: Random;
  readonly #practice: Practice;

  constructor(plan: Plan, practice: Practice) {
    this.#plan = plan;
    this.#practice = practice;
    this.#random = new Random(plan.seed, 'claim book');
  }

  current({ versions }: Claim): ClaimVersion {
    return versions.at(-1)!;
  }

  *history(): Iterable<ClaimVersion> {
    for (const { versions } of this.claims.values()) yield* versions;
  }

  /** A claim for a service of the last weeks. */
  add(): void {
    const random = this.#random;
    const { patient, coverages } = this.#practice.pick(random);
    const number = this.claims.size + 1;
    const source_id = `C${8000 + number}`;
    const rank = coverages.length > 1 && random.chance(0.3) ? 2 : 1;
    const coverage = structuredClone(coverages[rank - 1]!);
    const days = random.int(1, 2 * this.#plan.pms.ask_after_days + 10);
    const served_at = this.#practice.now() - days * DAY_MS;
    if (random.chance(this.#plan.pms.malformed)) coverage.member_id = '';
    const claim: ClaimInput = {
      source_id,
      status: 'open',
      claim_number: random.chance(0.3) ? '' : `Zclaim-${number}`,
      date_of_service: new Date(served_at).toISOString().slice(0, 10),
      billed_amount: '180.00',
      patient: structuredClone(patient),
      coverage,
      coverage_rank: rank,
      provider: {
        rendering_npi: '1234567893',
        billing_npi: '',
        tax_id: '',
        is_specialist: null,
        in_network: null,
      },
      location: null,
      place_of_service: '',
      specialty: null,
      procedure_codes: [...CODES[this.#plan.specialty]],
      diagnosis_codes: [],
      problems: [],
    };
    const added: Claim = { source_id, versions: [] };
    this.claims.set(source_id, added);
    this.#change(added, claim, true, 'is sent to the payer');
  }

  /** One random change of a claim, or a new one. */
  happen(): void {
    const random = this.#random;
    const claim = random.pick([...this.claims.values()]);
    const before = this.current(claim);
    switch (random.int(0, 5)) {
      case 0:
        this.#change(claim, { ...before.claim, status: 'settled' }, true, 'is settled');
        break;
      case 1:
        this.#change(claim, { ...before.claim, status: 'open' }, true, 'is open');
        break;
      case 2:
        this.#change(claim, before.claim, false, 'vanishes from the list of open claims');
        break;
      case 3: {
        const claim_number = `Zclaim-${claim.source_id}`;
        this.#change(claim, { ...before.claim, claim_number }, true, 'gets a number');
        break;
      }
      case 4: {
        const billed_amount = random.pick(['175.00', '180.00', '190.50']);
        this.#change(claim, { ...before.claim, billed_amount }, true, 'is corrected');
        break;
      }
      default:
        this.add();
    }
  }

  #change(claim: Claim, input: ClaimInput, is_present: boolean, what: string): void {
    const last = claim.versions.at(-1);
    if (last?.is_present === is_present && JSON.stringify(last.claim) === JSON.stringify(input))
      return;
    const version = {
      seq: this.#practice.seq(),
      at: this.#practice.now(),
      claim: input,
      is_present,
    };
    claim.versions.push(version);
    this.#practice.onChange(version, what);
  }
}

/** A queue or a list of changes reports a removed claim as settled. */
export function shownClaim({ claim, is_present }: ClaimVersion): ClaimInput {
  return is_present ? claim : { ...claim, status: 'settled' };
}
