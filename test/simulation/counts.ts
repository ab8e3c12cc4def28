/** Counts the events of a world for the summary of a run. */
import type { Machine } from './machine.ts';
import type { World } from './network.ts';
import type { Oracle } from './oracle.ts';
import { DAY_MS } from './plan.ts';

export function countsOf(
  world: World,
  machines: readonly Machine[],
  oracle: Oracle,
): Record<string, number> {
  const { plan, scheduler, service, pms } = world;
  const sum = (of: (counts: Machine['counts']) => number) =>
    machines.map(({ counts }) => of(counts)).reduce((total, each) => total + each, 0);
  const { network, counts } = service;
  return {
    'days lived': Math.round((scheduler.now - plan.start_ms) / DAY_MS),
    'steps taken': scheduler.steps,
    crashes: sum((each) => each.crashes),
    'clean stops': sum((each) => each.stops),
    starts: sum((each) => each.starts),
    'statements on a full disk': sum((each) => each.disk_full),
    requests: network.requests,
    'requests unsent': network.unsent,
    'requests lost': network.lost_before,
    'replies lost': network.lost_after,
    'late arrivals and replies': network.late,
    'replies mutilated': network.mutilated,
    'rate limited (429)': counts.limited,
    'server errors': counts.errors,
    'refused (422)': counts.refused,
    rejected: counts.turned_away,
    'success without an id': counts.useless,
    'inquiries forgotten': counts.forgotten,
    'reports sent': service.reports.counts.sent,
    'reports repeated': service.reports.counts.repeated,
    'reports forged or senseless': service.reports.counts.forged,
    'reports taken': service.reports.counts.taken,
    'answers taken from reports': oracle.reported_answers,
    'inquiries accepted': oracle.calls.counts.calls,
    'second attempts': oracle.calls.counts.second_attempts,
    'duplicate calls excused and reported': oracle.calls.counts.excused,
    'appointments accepted': pms.counts.accepted,
    'records written': pms.counts.delivered,
    'records written again': pms.counts.repeated,
    'calls about claims': oracle.calls.counts.claims,
    'answers about claims written': pms.counts.claims_delivered,
    'records merged': pms.book.merges.length,
  };
}
