/**
 * While the calling service does not answer, one question is asked now and then as a probe. The
 * others stay due and unlogged: an outage is one incident with a count, not a line a minute for
 * each open inquiry.
 */
import { backoffMs } from '../../../domain/backoff.ts';
import { troubleOf } from '../../../domain/service-contact.ts';
import { MINUTE_MS } from '../../../domain/time.ts';
import type { ServiceFailure } from '../../../service/api.ts';
import { endIncident, raiseIncident } from '../../../store/bookkeeping/incidents.ts';
import type { CollectContext, CollectDeps } from '../deps.ts';
import type { Outage } from './ask.ts';

const PROBE_LIMITS = { first_ms: MINUTE_MS, max_ms: 5 * MINUTE_MS };
/** An outage that is shorter belongs to everyday work. */
const INCIDENT_AFTER_MS = 15 * MINUTE_MS;
const INCIDENT = { reason: 'answers_away', connector: null } as const;

/** Until when only waiting helps; null: questions may leave. */
export function waitsForService({ memory, env }: CollectDeps): number | null {
  const { outage } = memory;
  return outage !== null && isAway(outage) && env.clock.now() < outage.probe_at
    ? outage.probe_at
    : null;
}

/** All that is due, or the one that waited longest while the service is away. */
export function probes<Row>({ memory }: CollectDeps, due: readonly Row[]): Row[] {
  return memory.outage !== null && isAway(memory.outage) ? due.slice(0, 1) : [...due];
}

function isAway({ inquiries }: Outage): boolean {
  return inquiries.size > 1;
}

/** A question was answered: whatever was wrong with the service is over. */
export async function noteAnswered({ tx, deps, now }: CollectContext): Promise<void> {
  const { memory, env } = deps;
  const { outage } = memory;
  if (outage === null && memory.was_answered) return;
  // An incident of the process before this one ends here, too.
  await endIncident(tx, INCIDENT, now);
  tx.after(() => {
    memory.outage = null;
    memory.was_answered = true;
    if (outage !== null && isAway(outage)) env.log('polls_resumed', { failures: outage.failures });
  });
}

/** A reply that is the same when the service is asked again: it is about its inquiry alone. */
export function isUnusable(failure: ServiceFailure): boolean {
  return (
    failure.class === 'ambiguous' && (failure.cause === 'too_large' || failure.cause === 'too_deep')
  );
}

type Unanswered = { inquiry: number; failure: ServiceFailure };

function logFailed({ env }: CollectDeps, { inquiry, failure }: Unanswered): void {
  env.log('poll_failed', { inquiry, failure: failure.class, http_status: failure.status });
}

/** A question failed. Logged once for each inquiry, and not at all once the service is away. */
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
    // Those that were on the wire together failed once.
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
        `eligd cannot ask for results. ${trouble.why} Nothing is lost: eligd asks again every ` +
        'few minutes.',
      next: `${trouble.next} If a visit is close, call the payer yourself.`,
    },
    now,
  );
}
