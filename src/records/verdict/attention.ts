/** Selects the parts of a verdict that require action, by kind (`policy.attention`). */
import type { ReasonCode, Verdict } from '../verdict.ts';
import type { Weighed } from './reasons.ts';
import { stepFor } from './text.ts';

export const ATTENTION_KINDS = [
  'not_eligible',
  'not_covered',
  'limit_reached',
  'maximum_used_up',
  'prior_authorization',
  'out_of_network',
  'downgrade',
  'referral_required',
  'not_primary',
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

const KIND_OF: Readonly<Partial<Record<ReasonCode, AttentionKind>>> = {
  plan_inactive: 'not_eligible',
  plan_ended: 'not_eligible',
  plan_not_begun: 'not_eligible',
  not_covered: 'not_covered',
  age_limit: 'limit_reached',
  frequency: 'limit_reached',
  maximum_used_up: 'maximum_used_up',
  prior_authorization: 'prior_authorization',
  out_of_network: 'out_of_network',
  downgrade: 'downgrade',
  referral_required: 'referral_required',
  not_primary: 'not_primary',
};

/** Kinds that count for a procedure only if the plan certainly does not pay for it. */
const WHEN_SURE: ReadonlySet<AttentionKind> = new Set(['limit_reached', 'maximum_used_up']);

/**
 * Combines the items of all coverages of a visit, by rank: one item for each kind. Texts about
 * other coverages than the first name the coverage.
 */
export function coverageAttention(
  verdicts: readonly { rank: number; verdict: Verdict }[],
): VerdictAttention[] {
  const found = new Map<AttentionKind, VerdictAttention>();
  for (const { rank, verdict } of verdicts.toSorted((one, other) => one.rank - other.rank)) {
    for (const entry of verdictAttention(verdict)) {
      const before = found.get(entry.reason);
      const what = rank === 1 ? entry.what : `Coverage ${rank}: ${entry.what}`;
      found.set(entry.reason, {
        reason: entry.reason,
        what: before === undefined ? what : `${before.what} ${what}`,
        next: before?.next ?? entry.next,
      });
    }
  }
  return [...found.values()];
}

type VerdictAttention = { reason: AttentionKind; what: string; next: string };

/** Returns one item for each kind, with everything it concerns; empty when no action is needed. */
export function verdictAttention(verdict: Verdict): VerdictAttention[] {
  const found = new Map<AttentionKind, { what: string[]; next: Set<string> }>();
  const add = (reason: Weighed, what: string) => {
    const kind = KIND_OF[reason.code];
    if (kind === undefined) return;
    const entry = found.get(kind) ?? { what: [], next: new Set<string>() };
    if (!entry.what.includes(what)) entry.what.push(what);
    entry.next.add(stepFor(reason) ?? '');
    found.set(kind, entry);
  };
  for (const reason of verdict.reasons) add(reason, reason.text);
  for (const { code: procedure, reasons } of verdict.procedures) {
    for (const reason of reasons) {
      const kind = KIND_OF[reason.code];
      if (kind === undefined || verdict.reasons.some(({ code }) => code === reason.code)) continue;
      if (WHEN_SURE.has(kind) && !['no', 'partly'].includes(reason.effect)) continue;
      add(reason, `${procedure}: ${reason.text}`);
    }
  }
  return [...found].map(([reason, { what, next }]) => ({
    reason,
    what: what.join(' '),
    next: [...next].join(' '),
  }));
}
