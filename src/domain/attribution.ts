/**
 * Whose call is an inquiry that the service's list shows? One pure function decides it for the
 * lookup after a lost reply, for the reconciliation of the whole list, and for the check before a
 * call (G1). Whatever it says of one inquiry depends only on calls, needs, and inquiries that ask
 * the same: those with the same match key.
 */
import { CLOCKS_DIFFER_MS } from './clock-watch.ts';
import { finalOutcome } from './outcome.ts';

/** Labels, keys and names are as `domain/matching.ts` compares them; times are the service's. */
type Asked = { external_id: string; match_key: string; given_name: string };

export type ListedInquiry = Asked & {
  service_id: string;
  status: string;
  /** Null: the service does not say. */
  created_at: number | null;
  /** Whose it is already; a call gets no second id, and an id no second call. */
  claim: { inquiry: number; role: 'serves' | 'duplicate' } | null;
  /** No list has shown it before. */
  is_new: boolean;
};

/** One request of ours whose reply brought no id: lost, or proven absent. */
export type MadeCall = Asked & {
  id: number;
  inquiry: number;
  sent_at: number;
  is_absent: boolean;
};

/**
 * What an inquiry of ours waits for. `planned`: to be sent; `calling`: the check before its call;
 * `out`: for its reply; `sought`: its reply was lost. `served` has its call; `over` needs none.
 */
export type Stage = 'planned' | 'calling' | 'out' | 'sought' | 'served' | 'over';

export type Need = Asked & {
  inquiry: number;
  stage: Stage;
  /** Of all its visits; `external_id` is among them. */
  labels: readonly string[];
  /** The attempts right before this one, which came to nothing. */
  earlier: readonly number[];
};

export type Account = {
  listed: readonly ListedInquiry[];
  calls: readonly MadeCall[];
  needs: readonly Need[];
};

export type Clock = {
  /** By the service's clock, as far as it is known. */
  now: number;
  settle_ms: number;
  timeout_ms: number;
  /** An answer that is older serves no visit. */
  reverify_ms: number;
  /** When this process compared the list before; null: never, so that nobody is a stranger. */
  compared_at: number | null;
};

/**
 * `call`: it serves the inquiry, as this call of it, or as one of a lost database (`call` null).
 * `duplicate`: the inquiry has another one. `undecided`: its reply is under way. `unclaimed`: kept,
 * and checked before every call. `stranger`: another installation has made it.
 */
export type Verdict =
  | { is: 'call' | 'duplicate'; inquiry: number; call: number | null }
  | { is: 'undecided' | 'unclaimed' | 'stranger' };

/** Whom a listed inquiry may belong to. */
type Reason = { inquiry: number; call: number | null };

/** One verdict for every listed inquiry, by its id. */
export function attribute(account: Account, clock: Clock): Map<string, Verdict> {
  const { listed, needs } = account;
  const verdicts = new Map<string, Verdict>();
  const by_age = listed.toSorted(byAge);
  const free = by_age.filter(({ claim }) => claim === null);
  const reasons = reasonsFor(free, account, clock);
  for (const each of free) {
    const is_sought = needs.some(
      (need) => (need.stage === 'sought' || need.stage === 'out') && isAlike(need, each),
    );
    const is = isStrange(each, clock) && !is_sought ? 'stranger' : 'unclaimed';
    verdicts.set(each.service_id, { is });
  }
  for (const { service_id, claim } of listed) {
    if (claim === null) continue;
    const is = claim.role === 'serves' ? 'call' : 'duplicate';
    verdicts.set(service_id, { is, inquiry: claim.inquiry, call: null });
  }
  for (const need of needs) {
    let is_served = isServed(need, verdicts);
    for (const { service_id } of ownOf(need, free, reasons)) {
      const call = reasons.get(service_id)?.call ?? null;
      verdicts.set(service_id, verdictOf(need, call, is_served));
      is_served = true;
    }
  }
  for (const need of needs) {
    if (need.stage !== 'calling' || isServed(need, verdicts)) continue;
    const taken =
      duplicateFor(need, by_age) ?? unclaimedFor(need, free, { verdicts, needs, clock });
    if (taken !== null)
      verdicts.set(taken.service_id, { is: 'call', inquiry: need.inquiry, call: null });
  }
  return verdicts;
}

/** Of those that belong to a need, the first serves it, and the others were called for twice. */
function verdictOf({ stage, inquiry }: Need, call: number | null, is_served: boolean): Verdict {
  if (stage === 'out') return { is: 'undecided' };
  if (stage === 'served' || is_served) return { is: 'duplicate', inquiry, call };
  // It is left for the check before the call.
  if (stage === 'planned') return { is: 'undecided' };
  return stage === 'over' ? { is: 'unclaimed' } : { is: 'call', inquiry, call };
}

/** Those that belong to the need, what is surely one of its calls first. */
function ownOf(
  need: Need,
  free: readonly ListedInquiry[],
  reasons: ReadonlyMap<string, Reason>,
): ListedInquiry[] {
  const reasonOf = ({ service_id }: ListedInquiry) => reasons.get(service_id);
  const own = free.filter((each) => reasonOf(each)?.inquiry === need.inquiry);
  if (own.length > 0 || need.stage !== 'sought')
    return own.toSorted((a, b) => rankOf(reasonOf(a)) - rankOf(reasonOf(b)));
  // By a clock that was wrong when it was sent.
  return free.filter((each) => reasonOf(each) === undefined && isAlike(need, each)).slice(0, 1);
}

function rankOf(reason: Reason | undefined): number {
  return reason?.call == null ? 1 : 0;
}

/**
 * Which of our calls each listed inquiry is: the same question, label and name, accepted while the
 * request could arrive. Each call explains one. What was accepted before its request left may be
 * the call of a lost database for the same need.
 */
function reasonsFor(
  free: readonly ListedInquiry[],
  { calls, needs }: Account,
  clock: Clock,
): Map<string, Reason> {
  const stage_of = new Map(needs.map(({ inquiry, stage }) => [inquiry, stage]));
  const reasons = new Map<string, Reason>();
  // What is looked for is likelier to be listed than what was proven absent.
  const doubtOf = ({ inquiry, is_absent }: MadeCall) =>
    is_absent ? (stage_of.get(inquiry) === 'over' ? 2 : 1) : 0;
  const unused = new Set(calls.toSorted((a, b) => doubtOf(a) - doubtOf(b) || a.id - b.id));
  for (const each of free) {
    const alike = [...unused].filter((call) => isAlike(call, each) && isInTime(call, each, clock));
    const [likeliest] = alike;
    if (likeliest === undefined) continue;
    const doubt = doubtOf(likeliest);
    const own = alike.find((call) => doubtOf(call) === doubt && isAfter(call, each));
    if (own !== undefined) unused.delete(own);
    reasons.set(each.service_id, { inquiry: (own ?? likeliest).inquiry, call: own?.id ?? null });
  }
  return reasons;
}

/** Whether it was accepted before the request could arrive no more: for as long as it is sought. */
function isInTime(call: MadeCall, { created_at }: ListedInquiry, clock: Clock): boolean {
  const latest = call.sent_at + clock.timeout_ms + 2 * clock.settle_ms + CLOCKS_DIFFER_MS;
  return created_at === null || created_at <= latest;
}

function isAfter({ sent_at }: MadeCall, { created_at }: ListedInquiry): boolean {
  return created_at === null || created_at >= sent_at - CLOCKS_DIFFER_MS;
}

/** Twins share all but the name; the service may leave it out. */
function isAlike(asked: Asked, listed: ListedInquiry): boolean {
  return (
    asked.match_key === listed.match_key &&
    asked.external_id === listed.external_id &&
    (listed.given_name === '' || asked.given_name === '' || asked.given_name === listed.given_name)
  );
}

function isServed({ inquiry }: Need, verdicts: ReadonlyMap<string, Verdict>): boolean {
  return [...verdicts.values()].some((each) => each.is === 'call' && each.inquiry === inquiry);
}

/** A duplicate call of an earlier attempt is paid for, so it serves as this one. */
function duplicateFor(
  { earlier, given_name }: Need,
  listed: readonly ListedInquiry[],
): ListedInquiry | null {
  const isTheirs = ({ claim }: ListedInquiry) =>
    claim?.role === 'duplicate' && earlier.includes(claim.inquiry);
  // The service may have cancelled it because it was one too many.
  const found = listed.find(
    (each) =>
      isTheirs(each) &&
      ['', given_name].includes(each.given_name) &&
      finalOutcome(each.status) !== 'cancelled',
  );
  return found ?? null;
}

type Others = {
  verdicts: ReadonlyMap<string, Verdict>;
  needs: readonly Need[];
  clock: Clock;
};

/**
 * A call that this database knows nothing of serves the need, when it asks the same for the same
 * patient, its answer is fresh, and no other need waits under its label. One under the labels of
 * the need goes first.
 */
function unclaimedFor(
  need: Need,
  free: readonly ListedInquiry[],
  { verdicts, needs, clock }: Others,
): ListedInquiry | null {
  const others = needs.filter(
    ({ inquiry, stage }) =>
      inquiry !== need.inquiry && ['planned', 'out', 'sought'].includes(stage),
  );
  const isLabelled = ({ external_id }: ListedInquiry) => need.labels.includes(external_id);
  const fits = free.filter(
    (each) =>
      verdicts.get(each.service_id)?.is === 'unclaimed' &&
      each.match_key === need.match_key &&
      (each.given_name === need.given_name || (each.given_name === '' && isLabelled(each))) &&
      (each.created_at === null || each.created_at > clock.now - clock.reverify_ms) &&
      !others.some((other) => isAlike(other, each)),
  );
  return fits.find(isLabelled) ?? fits[0] ?? null;
}

/** What a list has not shown before, and was made since the last comparison. */
function isStrange({ is_new, created_at }: ListedInquiry, { compared_at }: Clock): boolean {
  return (
    is_new &&
    compared_at !== null &&
    (created_at === null || created_at > compared_at - CLOCKS_DIFFER_MS)
  );
}

function byAge(a: ListedInquiry, b: ListedInquiry): number {
  return (a.created_at ?? 0) - (b.created_at ?? 0) || (a.service_id < b.service_id ? -1 : 1);
}
