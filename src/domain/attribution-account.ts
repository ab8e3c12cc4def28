/** What `attribution.ts` decides about, and its verdicts. */

/** Labels, keys, and names as `domain/matching.ts` normalizes them. Times: the service's clock. */
export type Asked = { external_id: string; match_key: string; given_name: string };

export type ListedCall = Asked & {
  /** Its row. If that of a request of ours is higher, a list showed it before that was stored. */
  id: number;
  service_id: string;
  status: string;
  /** Null: the service does not provide it. */
  created_at: number | null;
  /** The inquiry that owns it. A call never gets a second ID, and an ID never a second call. */
  owner: { inquiry: number; role: 'serves' | 'duplicate' } | null;
  /** No earlier list contained it. */
  is_new: boolean;
};

/** One of our requests without a known ID: it is under way, its reply was lost, or it is absent. */
export type MadeCall = Asked & {
  id: number;
  inquiry: number;
  /** By our clock if the service's was not known; then `sent_service_at` is null. */
  sent_at: number;
  sent_service_at: number | null;
  is_absent: boolean;
};

/**
 * What our inquiry waits for. `planned`: to be sent; `calling`: the check before its call; `out`:
 * its reply; `sought`: its call, which has no ID: the reply was lost. `served` has its call; `over`
 * waits for none.
 */
export type Stage = 'planned' | 'calling' | 'out' | 'sought' | 'served' | 'over';

export type Need = Asked & {
  inquiry: number;
  stage: Stage;
  /** Before its call: the labels of all visits that it serves; otherwise `external_id` alone. */
  labels: readonly string[];
  /** Before its call: the failed attempts right before this one. */
  earlier: readonly number[];
};

export type Account = {
  listed: readonly ListedCall[];
  calls: readonly MadeCall[];
  needs: readonly Need[];
  /** In a whole list: our lost and absent calls, whatever they ask: it may leave that out. */
  sought: readonly MadeCall[];
  /** The list is the account's whole one, not that of a label. */
  is_whole: boolean;
};

export type Clock = {
  now: number;
  settle_ms: number;
  timeout_ms: number;
  /** An answer older than this serves no visit. */
  reverify_ms: number;
  /**
   * When the list was last compared, by this process or by the one that it relies on. Null: never,
   * or the times do not tell; then no inquiry counts as a stranger's.
   */
  compared_at: number | null;
};

/**
 * `call`: it serves our inquiry as this call, or as a call that a lost database or another inquiry
 * made (`call` null). `duplicate`: our inquiry has another call. `doubtful`: it may be a call for
 * our inquiry. `undecided`: the reply is still on its way. `unclaimed`: kept, and checked before
 * every call. `unneeded`: kept, too; the list did not show it in time, and our inquiry needs no
 * call anymore. `stranger`: another installation made it.
 */
export type Verdict =
  | { is: 'call' | 'duplicate'; inquiry: number; call: number | null }
  | { is: 'doubtful' | 'unneeded'; inquiry: number }
  | { is: 'undecided' | 'unclaimed' | 'stranger' };
