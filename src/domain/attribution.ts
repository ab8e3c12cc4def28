/**
 * Whose call is an inquiry in the service's list? One pure function decides this for the lookup
 * after a lost reply, for the reconciliation of the whole list, and for the check before a call
 * (G1). Its verdict on one inquiry depends only on calls, needs, and inquiries with the same match
 * key, because those ask the same question; on those of the same need, also of its former questions
 * and earlier attempts; and, if its request cannot be read in full, on our calls that it may be,
 * and on the need with its label that is about to be called for.
 */
import type {
  Account,
  Asked,
  Clock,
  ListedCall,
  MadeCall,
  Need,
  Verdict,
} from './attribution-account.ts';
import { CLOCKS_DIFFER_MS, DATE_ERROR_MS } from './clock-watch.ts';
import { isUnnumberedClaim, mayBeEchoOf } from './matching.ts';
import { finalOutcome } from './outcome.ts';
import { DAY_MS } from './time.ts';

/** The owner that a listed inquiry may have. `is_absent`: lookups did not find a call like it. */
type Reason = { inquiry: number; call: MadeCall | null; is_absent: boolean };

/** Returns one verdict for every listed inquiry, by its ID. */
export function attribute(account: Account, clock: Clock): Map<string, Verdict> {
  const { listed, needs } = account;
  const verdicts = new Map<string, Verdict>();
  const by_age = listed.toSorted(byAge);
  const free = by_age.filter(({ owner }) => owner === null);
  const reasons = reasonsFor(free, account, clock);
  for (const each of free) {
    const is = isStrange(each, account, clock) ? 'stranger' : 'unclaimed';
    verdicts.set(each.service_id, { is });
  }
  for (const { service_id, owner } of listed) {
    if (owner === null) continue;
    const is = owner.role === 'serves' ? 'call' : 'duplicate';
    verdicts.set(service_id, { is, inquiry: owner.inquiry, call: null });
  }
  const judged = { ...account, free, reasons, verdicts, clock };
  for (const need of needs) {
    let is_served = isServed(need, verdicts);
    const kept = new Set<string>();
    for (const { service_id, match_key } of ownOf(need, judged)) {
      const is_second = is_served || kept.has(match_key);
      verdicts.set(service_id, verdictOf(need, reasons.get(service_id), is_second));
      is_served ||= need.stage !== 'over';
      kept.add(match_key);
    }
  }
  for (const need of needs) {
    if (need.stage !== 'calling' || isServed(need, verdicts)) continue;
    const { inquiry } = need;
    const { fit, doubtful } = unclaimedFor(need, judged);
    const taken = duplicateFor(need, by_age, clock) ?? fit;
    if (taken !== undefined) verdicts.set(taken.service_id, { is: 'call', inquiry, call: null });
    else
      for (const { service_id } of doubtful) verdicts.set(service_id, { is: 'doubtful', inquiry });
  }
  return verdicts;
}

/**
 * Returns the verdict on an inquiry that belongs to the need: the first one serves it, and the
 * others are duplicate calls. If the need is over, the first one about each question is kept.
 */
function verdictOf({ stage, inquiry }: Need, why: Reason | undefined, is_second: boolean): Verdict {
  const call = why?.call?.id ?? null;
  if (stage === 'out') return { is: 'undecided' };
  if (stage === 'served' || is_second) return { is: 'duplicate', inquiry, call };
  if (stage !== 'over') return { is: 'call', inquiry, call };
  return why?.is_absent === true ? { is: 'unneeded', inquiry } : { is: 'unclaimed' };
}

type Judged = Pick<Account, 'calls' | 'needs'> & {
  free: readonly ListedCall[];
  reasons: ReadonlyMap<string, Reason>;
  verdicts: ReadonlyMap<string, Verdict>;
  clock: Clock;
};

/**
 * Returns the inquiries that belong to the need, starting with those about today's question, and
 * among them with those that certainly are its calls.
 */
function ownOf(need: Need, { free, calls, reasons, verdicts, clock }: Judged): ListedCall[] {
  const reasonOf = ({ service_id }: ListedCall) => reasons.get(service_id);
  const own = free.filter((each) => reasonOf(each)?.inquiry === need.inquiry);
  const rankOf = (each: ListedCall) => {
    const is_made = reasonOf(each)?.call != null;
    // If one about a former claim number served, planning would ask about today's number again.
    const is_wanted = each.match_key === need.match_key && (is_made || isFresh(each, clock));
    return (is_wanted ? 0 : 2) + (is_made ? 0 : 1);
  };
  const by_rank = own.toSorted((a, b) => rankOf(a) - rankOf(b));
  const is_found = own.some((each) => each.match_key === need.match_key);
  if (is_found || need.stage !== 'sought') return by_rank;
  const made = calls.find(({ inquiry, is_absent }) => inquiry === need.inquiry && !is_absent);
  const isOwn = (each: ListedCall) => made !== undefined && made.id < each.id;
  // The times exclude every listed inquiry: the clock was wrong, or the request left late. What a
  // list had shown before serves unless it is too old, for which our request was made.
  const isPossible = (each: ListedCall) =>
    reasonOf(each) === undefined &&
    verdicts.get(each.service_id)?.is !== 'call' &&
    isAlike(need, each) &&
    (isOwn(each) || isFresh(each, clock));
  return [...free.filter(isPossible).slice(0, 1), ...by_rank];
}

/**
 * Matches each listed inquiry to one of our calls. Question, label, and name must agree, no list
 * showed the inquiry before our request was stored, and the service must have accepted it while our
 * request could arrive. An inquiry accepted before our request left may be a call from a lost
 * database for the same need.
 */
function reasonsFor(
  free: readonly ListedCall[],
  { calls, needs }: Account,
  clock: Clock,
): Map<string, Reason> {
  const stage_of = new Map(needs.map(({ inquiry, stage }) => [inquiry, stage]));
  const reasons = new Map<string, Reason>();
  // The reply that told the service's clock may have been under way for as long.
  const early_ms = clock.timeout_ms + DATE_ERROR_MS;
  // A call that is being looked up is likelier to be listed than one proven absent.
  const doubtOf = ({ inquiry, is_absent }: MadeCall) =>
    is_absent ? (stage_of.get(inquiry) === 'over' ? 2 : 1) : 0;
  const unused = new Set(calls.toSorted((a, b) => doubtOf(a) - doubtOf(b) || a.id - b.id));
  for (const each of free) {
    const alike = [...unused].filter((call) => mayBe(call, each, clock));
    const [likeliest] = alike;
    if (likeliest === undefined) continue;
    const first = alike.find((call) => isAfter(call, each, CLOCKS_DIFFER_MS));
    // `first` says for which inquiry. Of its calls, the last that had left, else the oldest.
    const its = alike.filter((call) => call.inquiry === first?.inquiry);
    const sent = its.toSorted((a, b) => a.id - b.id);
    const own = sent.findLast((call) => isAfter(call, each, early_ms)) ?? sent[0];
    if (own !== undefined) unused.delete(own);
    const { inquiry } = own ?? likeliest;
    const is_absent = alike.some((call) => call.is_absent);
    reasons.set(each.service_id, { inquiry, call: own ?? null, is_absent });
  }
  putInOrder(free, reasons, clock);
  return reasons;
}

/** Swaps the calls of one inquiry that were not accepted in the order in which they left. */
function putInOrder(free: readonly ListedCall[], reasons: Map<string, Reason>, clock: Clock): void {
  for (const [index, older] of free.entries())
    for (const newer of free.slice(index + 1)) {
      const one = reasons.get(older.service_id);
      const other = reasons.get(newer.service_id);
      if (one?.call == null || other?.call == null || one.inquiry !== other.inquiry) continue;
      if (one.call.id < other.call.id) continue;
      if (!mayBe(one.call, newer, clock) || !mayBe(other.call, older, clock)) continue;
      reasons.set(older.service_id, { ...one, call: other.call });
      reasons.set(newer.service_id, { ...other, call: one.call });
    }
}

/** Returns whether the listed inquiry may be the call. */
function mayBe(call: MadeCall, listed: ListedCall, clock: Clock): boolean {
  return call.id < listed.id && isAlike(call, listed) && isInTime(call.sent_at, listed, clock);
}

/** Returns whether the service accepted the inquiry while the request could arrive. */
function isInTime(sent_at: number, { created_at }: ListedCall, clock: Clock): boolean {
  const { timeout_ms, settle_ms } = clock;
  const latest = sent_at + timeout_ms + 2 * settle_ms + CLOCKS_DIFFER_MS;
  return created_at === null || created_at <= latest;
}

function isAfter({ sent_at }: MadeCall, { created_at }: ListedCall, early_ms: number): boolean {
  return created_at === null || created_at >= sent_at - early_ms;
}

/**
 * Returns whether both ask the same question under the same label. Twins differ only in the name,
 * which the service may leave out; a missing name agrees with any.
 */
function isAlike(asked: Asked, listed: ListedCall): boolean {
  return (
    asked.match_key === listed.match_key &&
    asked.external_id === listed.external_id &&
    (listed.given_name === '' || asked.given_name === '' || asked.given_name === listed.given_name)
  );
}

function isServed({ inquiry }: Need, verdicts: ReadonlyMap<string, Verdict>): boolean {
  return [...verdicts.values()].some((each) => each.is === 'call' && each.inquiry === inquiry);
}

/**
 * Returns a duplicate call of an earlier attempt, if there is one, or a fresh one of its own: the
 * call that it was a duplicate of may serve another need now. It is already paid for, so it serves.
 */
function duplicateFor(
  { inquiry, earlier, given_name }: Need,
  listed: readonly ListedCall[],
  clock: Clock,
): ListedCall | undefined {
  const isTheirs = (each: ListedCall) =>
    each.owner?.role === 'duplicate' &&
    (earlier.includes(each.owner.inquiry) ||
      (each.owner.inquiry === inquiry && isFresh(each, clock)));
  // The service may have canceled it because it was a duplicate.
  return listed.find(
    (each) => isTheirs(each) && ['', given_name].includes(each.given_name) && !isCancelled(each),
  );
}

const isCancelled = ({ status }: ListedCall) => finalOutcome(status) === 'cancelled';

/** Returns whether the answer may serve a visit; it does if its age is unknown. */
function isFresh({ created_at }: ListedCall, { now, reverify_ms }: Clock): boolean {
  return created_at === null || created_at > now - reverify_ms;
}

/**
 * Returns the listed call that serves the need and belongs to no other (`fit`), and those that may
 * be for the same patient (`doubtful`). Their answers are fresh. A fit asks the same questions for
 * the same patient; one under the need's own labels comes first, a canceled one last among them. A
 * doubtful call does not say the name, or has a label of the need and a request that cannot be read
 * in full; and it has an answer, or will have one. For a claim without a number, both have its
 * label: the patient may have another claim for the same day.
 */
function unclaimedFor(
  need: Need,
  { free, needs, verdicts, clock }: Judged,
): { fit: ListedCall | undefined; doubtful: ListedCall[] } {
  const isLabelled = ({ external_id }: ListedCall) => need.labels.includes(external_id);
  const kept = free.filter((each) => isKept(verdicts.get(each.service_id)) && isFresh(each, clock));
  const waiting = needs.filter(
    (each) => (each.stage === 'planned' || each.stage === 'out') && !isServed(each, verdicts),
  );
  const awaited = awaitedBy(waiting, kept);
  const usable = kept.filter((each) => !isUnnumberedClaim(need.match_key) || isLabelled(each));
  const fits = usable.filter(
    (each) =>
      !awaited.has(each) &&
      each.match_key === need.match_key &&
      (each.given_name === need.given_name || (each.given_name === '' && isLabelled(each))),
  );
  const doubtful = usable.filter(
    (each) =>
      (finalOutcome(each.status) ?? 'successful') === 'successful' &&
      (each.match_key === need.match_key
        ? each.given_name === '' || need.given_name === ''
        : mayBeEchoOf(need.match_key, each.match_key) && isLabelled(each)),
  );
  const rankOf = (each: ListedCall) => (isLabelled(each) ? 0 : 2) + (isCancelled(each) ? 1 : 0);
  return { fit: fits.toSorted((a, b) => rankOf(a) - rankOf(b))[0], doubtful };
}

/**
 * Returns those that needs keep under their labels: one for a call that is planned, and all while
 * its reply is awaited: each may be that call. Canceled ones serve no other need, either.
 */
function awaitedBy(waiting: readonly Need[], kept: readonly ListedCall[]): Set<ListedCall> {
  const awaited = new Set<ListedCall>();
  for (const need of waiting) {
    const alike = kept.filter((each) => !awaited.has(each) && isAlike(need, each));
    const first = alike.find((each) => !isCancelled(each));
    for (const each of alike)
      if (need.stage === 'out' || isCancelled(each) || each === first) awaited.add(each);
  }
  return awaited;
}

const isKept = (verdict?: Verdict) => verdict?.is === 'unclaimed' || verdict?.is === 'unneeded';

/**
 * Returns whether no earlier list contained it, it was created since the last comparison, and it
 * cannot be ours.
 */
function isStrange(listed: ListedCall, account: Account, clock: Clock): boolean {
  const { is_new, created_at } = listed;
  const { compared_at } = clock;
  return (
    is_new &&
    compared_at !== null &&
    (created_at === null || created_at > compared_at - CLOCKS_DIFFER_MS) &&
    (account.is_whole
      ? !mayBeSought(listed, account, clock)
      : created_at !== null && isUsedInstead(listed, account))
  );
}

/**
 * Returns whether it may be a call of ours: one like it, or one about which it tells too little.
 * Only its time shows that it may be an absent one, whose request may have waited for its turn.
 */
function mayBeSought(listed: ListedCall, { calls, sought }: Account, clock: Clock): boolean {
  const mayFit = (call: MadeCall, wait_ms = 0) => isInTime(call.sent_at + wait_ms, listed, clock);
  const isPossible = (call: MadeCall) =>
    call.is_absent
      ? listed.created_at !== null && mayFit(call)
      : call.sent_service_at === null || mayFit(call);
  return (
    calls.some((call) => isAlike(call, listed) && (!call.is_absent || mayFit(call, DAY_MS))) ||
    sought.some((call) => mayBeCallOf(call, listed) && isPossible(call))
  );
}

/**
 * Returns whether it would be used in place of a call that eligd is about to make, and cannot be a
 * call of ours without an ID, whose request may have waited long for its turn. What else the list
 * of a label shows may be ours, too.
 */
function isUsedInstead(listed: ListedCall, { calls, needs }: Account): boolean {
  const isLabelled = ({ external_id }: Asked) => external_id === listed.external_id;
  return (
    !calls.some((call) => isLabelled(call) && mayBeEchoOf(call.match_key, listed.match_key)) &&
    needs.some(
      (need) => need.stage === 'planned' && isLabelled(need) && need.match_key === listed.match_key,
    )
  );
}

/**
 * Returns whether the listed inquiry may be this call, which has no ID, although its echo leaves
 * out what would tell: the label, or a part of the question.
 */
export function mayBeCallOf(
  call: Asked & Pick<MadeCall, 'sent_service_at'>,
  listed: Asked & Pick<ListedCall, 'created_at'>,
): boolean {
  const { external_id, match_key, given_name } = call;
  const is_open =
    listed.external_id === external_id
      ? listed.match_key !== match_key
      : listed.external_id === '' &&
        (listed.match_key === '' || ['', given_name].includes(listed.given_name));
  const since = (call.sent_service_at ?? Number.NEGATIVE_INFINITY) - CLOCKS_DIFFER_MS;
  return (
    is_open &&
    mayBeEchoOf(match_key, listed.match_key) &&
    (listed.created_at === null || listed.created_at >= since)
  );
}

function byAge(a: ListedCall, b: ListedCall): number {
  return (a.created_at ?? 0) - (b.created_at ?? 0) || (a.service_id < b.service_id ? -1 : 1);
}
