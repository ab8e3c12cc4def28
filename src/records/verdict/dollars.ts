/**
 * Computes what the patient pays. If something is uncertain (the order in which the payer applies
 * the deductible, an unknown clause, an authorization), it computes every possible outcome, and the
 * range includes them all. Nothing is guessed.
 */
import type { EligibilityRecord } from '../eligibility.ts';
import { annualLeft, deductibleDue, orthodonticLeft, outOfPocketLeft } from './allowances.ts';
import type { ProcedureFacts } from './facts.ts';
import { countsTowardMaximum, isDiagnostic, isOrthodontic, isPreventive } from './maximum.ts';
import type { CentRange } from './money.ts';
import { isInNetwork } from './plan.ts';
import type { Standing } from './reasons.ts';
import { shareOf } from './share.ts';
import { codeWords } from './unread.ts';

/** One possible payment of a procedure. */
type Way = {
  is_paid: boolean;
  /** Replaces the share; null: the share applies. */
  copay: number | null;
  patient_percent: number;
  takes_deductible: boolean;
  maximum: 'annual' | 'orthodontic' | null;
};

export type Billed = {
  /** Cents; null: the fee is unknown. */
  fee: number | null;
  ways: Way[];
};

const UNPAID: Way = {
  is_paid: false,
  copay: null,
  patient_percent: 100,
  takes_deductible: false,
  maximum: null,
};

/** Returns every possible payment of a procedure with this standing. */
export function waysOf(
  facts: ProcedureFacts,
  standing: Standing,
  has_other_shares: boolean,
): Way[] {
  if (standing === 'not_payable') return [UNPAID];
  // Contradicting answers do not count, and neither do shares that apply only in network.
  const share = facts.conflicts.length === 0 && isInNetwork(facts.record) ? shareOf(facts) : null;
  const paid =
    share === null
      ? [{ ...UNPAID, is_paid: true, patient_percent: 0 }]
      : sharesOf(facts, share.patient_percent, share.copay).flatMap((one) =>
          allocations(facts, one),
        );
  return standing === 'payable' && !has_other_shares ? paid : [...paid, UNPAID];
}

type Share = Pick<Way, 'copay' | 'patient_percent'>;

/**
 * A copay replaces a share. A copay of 0 next to a share may mean that there is no copay. For a
 * code that is scheduled several times, the copay may be due once or each time.
 */
function sharesOf(
  { code, visit }: ProcedureFacts,
  percent: number | null,
  copay: number | null,
): Share[] {
  if (copay === null) return [{ copay: null, patient_percent: percent ?? 100 }];
  const count = visit.planned.filter((one) => one === code).length;
  const by_copay = [...new Set([copay, copay * Math.max(1, count)])].map((cents) => ({
    copay: cents,
    patient_percent: 0,
  }));
  return copay === 0 && percent !== null && percent > 0
    ? [...by_copay, { copay: null, patient_percent: percent }]
    : by_copay;
}

function allocations(facts: ProcedureFacts, share: Share): Way[] {
  const { record, code, rule } = facts;
  const is_waived = rule.is_deductible_waived ?? null;
  const is_unread = is_waived === null && codeWords(facts, 'is_deductible_waived') !== null;
  const takes = is_unread ? null : takesDeductible(record, code, is_waived);
  const counts = record.specialty === 'dental' ? countsTowardMaximum(record, code) : false;
  const is_own = isOrthodontic(code) && record.maximums?.orthodontics_coverage_limit != null;
  const maximums: Way['maximum'][] = is_own
    ? ['orthodontic']
    : counts === null
      ? ['annual', null]
      : [counts ? 'annual' : null];
  return (takes === null ? [true, false] : [takes]).flatMap((takes_deductible) =>
    maximums.map((maximum) => ({ is_paid: true, ...share, takes_deductible, maximum })),
  );
}

/** Returns whether the deductible applies to a code; null: unknown. */
function takesDeductible(
  { specialty, clauses }: EligibilityRecord,
  code: string,
  is_waived: boolean | null,
): boolean | null {
  if (is_waived !== null) return !is_waived;
  if (specialty !== 'dental' || isDiagnostic(code)) return null;
  return isPreventive(code) ? (clauses?.deductible_applies_to_preventive ?? null) : true;
}

/** The remaining amounts that several procedures share. */
type Pots = { deductible: number; annual: number; orthodontic: number; out_of_pocket: number };

export type Paid = { each: (CentRange | null)[]; total: CentRange | null };

/** With more combinations than this, use the widest possible ranges. */
const COMBINATIONS_MAX = 4_096;
const ORDERED_MAX = 5;

/** Returns the range of each procedure and of the visit; null where a fee is unknown. */
export function patientPays(record: EligibilityRecord, billed: readonly Billed[]): Paid {
  const known = billed.flatMap(({ fee, ways }) => (fee === null ? [] : [{ fee, ways }]));
  const pots = potsOf(record, billed);
  const count = known.reduce((product, { ways }) => product * ways.length, pots.length);
  const ranges = count > COMBINATIONS_MAX ? widest(known) : countThrough(known, pots);
  const each = [...ranges.each];
  const is_whole = billed.length > 0 && known.length === billed.length;
  return {
    each: billed.map(({ fee }) => (fee === null ? null : (each.shift() ?? null))),
    total: is_whole ? ranges.total : null,
  };
}

type Fee = { fee: number; ways: Way[] };

function widest(known: readonly Fee[]): { each: CentRange[]; total: CentRange } {
  const each = known.map(({ fee, ways }) => ({
    low: ways.some(({ is_paid }) => is_paid) ? 0 : fee,
    high: fee,
  }));
  const sum = (end: 'low' | 'high') => each.reduce((whole, range) => whole + range[end], 0);
  return { each, total: { low: sum('low'), high: sum('high') } };
}

function countThrough(
  known: readonly Fee[],
  pots: readonly Pots[],
): { each: CentRange[]; total: CentRange } {
  const nothing = () => ({ low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY });
  const each = known.map(nothing);
  const total = nothing();
  const orders = ordersOf(known);
  for (const ways of choices(known)) {
    for (const pot of pots) {
      for (const order of orders) {
        const paid = simulate(known, ways, { order, pot });
        for (const [index, cents] of paid.entries()) widen(each[index], cents);
        widen(
          total,
          paid.reduce((sum, cents) => sum + cents, 0),
        );
      }
    }
  }
  return { each, total };
}

function widen(range: CentRange | undefined, cents: number): void {
  if (range === undefined) return;
  range.low = Math.min(range.low, cents);
  range.high = Math.max(range.high, cents);
}

/** Yields every combination with one payment for each procedure. */
function* choices(known: readonly Fee[]): Generator<Way[]> {
  const [first, ...others] = known;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const rest of choices(others)) for (const way of first.ways) yield [way, ...rest];
}

/**
 * Returns the orders in which the payer may process the procedures. With few procedures, these are
 * all orders. Otherwise they are those with each procedure first or last and the others by rising
 * or falling share, which determine the ends of the ranges.
 */
function ordersOf(known: readonly Fee[]): number[][] {
  const indexes = known.map((_, index) => index);
  if (known.length <= ORDERED_MAX) return permutations(indexes);
  const share = (index: number) => known[index]?.ways[0]?.patient_percent ?? 0;
  const rising = indexes.toSorted((one, other) => share(one) - share(other));
  const falling = rising.toReversed();
  return [rising, falling].flatMap((sorted) => [
    sorted,
    ...indexes.flatMap((index) => {
      const others = sorted.filter((other) => other !== index);
      return [
        [index, ...others],
        [...others, index],
      ];
    }),
  ]);
}

function permutations(indexes: readonly number[]): number[][] {
  if (indexes.length < 2) return [[...indexes]];
  return indexes.flatMap((first) =>
    permutations(indexes.filter((index) => index !== first)).map((rest) => [first, ...rest]),
  );
}

/** Returns what the patient pays for each procedure, in cents, in the order of `known`. */
function simulate(
  known: readonly Fee[],
  ways: readonly Way[],
  { order, pot }: { order: readonly number[]; pot: Pots },
): number[] {
  const left = { ...pot };
  const paid = known.map(({ fee }) => fee);
  for (const index of order) {
    const fee = known[index]?.fee ?? 0;
    const way = ways[index];
    if (way === undefined || !way.is_paid) continue;
    const deductible = way.takes_deductible ? Math.min(left.deductible, fee) : 0;
    left.deductible -= deductible;
    const rest = fee - deductible;
    const share = way.copay === null ? Math.round((rest * way.patient_percent) / 100) : way.copay;
    let plan = rest - Math.min(share, rest);
    if (way.maximum !== null) {
      plan = Math.min(plan, left[way.maximum]);
      left[way.maximum] -= plan;
    }
    const patient = Math.min(fee - plan, left.out_of_pocket);
    left.out_of_pocket -= patient;
    paid[index] = patient;
  }
  return paid;
}

/** Returns every combination of the lowest and highest remaining amounts. */
function potsOf(record: EligibilityRecord, billed: readonly Billed[]): Pots[] {
  const deductible = deductibleDue(record);
  // A procedure without a known fee may use up the deductible before the others.
  const is_taken_elsewhere = billed.some(
    ({ fee, ways }) => fee === null && ways.some(({ takes_deductible }) => takes_deductible),
  );
  const annual = annualLeft(record);
  const orthodontic = orthodonticLeft(record);
  const out_of_pocket = outOfPocketLeft(record);
  const ends = ({ low, high }: CentRange) => (low === high ? [low] : [low, high]);
  return ends(is_taken_elsewhere ? { low: 0, high: deductible.high } : deductible).flatMap(
    (deductible_left) =>
      ends(annual).flatMap((annual_left) =>
        ends(orthodontic).flatMap((orthodontic_left) =>
          ends(out_of_pocket).map((out_of_pocket_left) => ({
            deductible: deductible_left,
            annual: annual_left,
            orthodontic: orthodontic_left,
            out_of_pocket: out_of_pocket_left,
          })),
        ),
      ),
  );
}
