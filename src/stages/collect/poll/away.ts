/**
 * While the calling service does not answer, eligd sends a single poll now and then as a probe. The
 * others stay due and unlogged: an outage is one incident with a count, not one log line a minute
 * for each open inquiry.
 */
import { backoffMs } from '../../../domain/backoff.ts';
import { troubleOf } from '../../../domain/service-contact.ts';
import { MINUTE_MS } from '../../../domain/time.ts';
import type { ServiceFailure } from '../../../service/api.ts';
import { endIncident, raiseIncident } from '../../../store/bookkeeping/incidents.ts';
import type { CollectContext, CollectDeps } from '../deps.ts';
import type { Outage } from './ask.ts';

const PROBE_LIMITS = { first_ms: MINUTE_MS, max_ms: 5 * MINUTE_MS };
/** A shorter outage is normal and raises no incident. */
const INCIDENT_AFTER_MS = 15 * MINUTE_MS;
const INCIDENT = { reason: 'answers_away', connector: null } as const;

/** Returns when eligd may poll again; null: now. */
export function waitsForService({ memory, env }: CollectDeps): number | null {
  const { outage } = memory;
  return outage !== null && isAway(outage) && env.clock.now() < outage.probe_at
    ? outage.probe_at
    : null;
}

/** Returns all due rows, or only the one that waited longest while the service is unavailable. */
export function probes<Row>({ memory }: CollectDeps, due: readonly Row[]): Row[] {
  return memory.outage !== null && isAway(memory.outage) ? due.slice(0, 1) : [...due];
}

function isAway({ inquiries }: Outage): boolean {
  return inquiries.size > 1;
}

/** Ends an outage: the service has answered a poll. */
export async function noteAnswered({ tx, deps, now }: CollectContext): Promise<void> {
  const { memory, env } = deps;
  const { outage } = memory;
  if (outage === null && memory.was_answered) return;
  // Also ends an incident that an earlier process raised.
  await endIncident(tx, INCIDENT, now);
  tx.after(() => {
    memory.outage = null;
    memory.was_answered = true;
    if (outage !== null && isAway(outage)) env.log('polls_resumed', { failures: outage.failures });
  });
}

/**
 * Returns whether the service would send the same unusable reply again, so the failure concerns one
 * inquiry only.
 */
export function isUnusable(failure: ServiceFailure): boolean {
  return (
    failure.class === 'ambiguous' && (failure.cause === 'too_large' || failure.cause === 'too_deep')
  );
}

type Unanswered = { inquiry: number; failure: ServiceFailure };

function logFailed({ env }: CollectDeps, { inquiry, failure }: Unanswered): void {
  env.log('poll_failed', { inquiry, failure: failure.class, http_status: failure.status });
}

/**
 * Records a failed poll. Logs it once for each inquiry, and not at all once the service counts as
 * unavailable.
 */
export async function noteUnanswered(
  { tx, deps, now }: CollectContext,
  { inquiry, failure }: Unanswered,
): Promise<void> {
  const { memory, env } = deps;
  const since = memory.outage?.since ?? now;
  const trouble = isUnusable(failure) ? null : troubleOf(failure, since);
  if (trouble === null) {
    tx.after(() => logFailed(deps, { inquiry, failure }));
    return;
  }
  tx.after(() => {
    memory.outage ??= { since: now, inquiries: new Set(), failures: 0, probe_at: now };
    const { outage } = memory;
    if (!isAway(outage) && !outage.inquiries.has(inquiry)) logFailed(deps, { inquiry, failure });
    outage.inquiries.add(inquiry);
    // Polls that were in flight together count as one failure.
    if (outage.failures > 0 && now < outage.probe_at) return;
    outage.failures += 1;
    outage.probe_at = now + backoffMs(outage.failures, PROBE_LIMITS, env.random());
  });
  const { outage } = memory;
  if (outage === null || !isAway(outage) || now - since < INCIDENT_AFTER_MS) return;
  await raiseIncident(
    tx,
    INCIDENT,
    {
      what:
        `eligd cannot get results from the service. ${trouble.why} Nothing is lost: eligd tries ` +
        'again every few minutes.',
      next: `${trouble.next} If a visit is close, call the insurance company yourself.`,
    },
    now,
  );
}
