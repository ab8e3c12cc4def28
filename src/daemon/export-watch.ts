/** Raises and ends the incidents about exports that do not come, or come without their rows. */
import { type ExportTrouble, judgeExports, LEARNED_WEEKS } from '../domain/export-watch.ts';
import { DAY_MS } from '../domain/time.ts';
import { setIncident } from '../store/bookkeeping/incidents.ts';
import { arrivalsSince } from '../store/intake/arrivals.ts';
import type { Parts } from './parts.ts';

const REASONS = ['export_missing', 'export_empty', 'export_small'] as const;

/** Says nothing while the clock is in doubt: by a wrong one every export is late. */
export async function watchExports(parts: Parts): Promise<void> {
  const { options, store, clock_watch, pulse, connectors } = parts;
  const { config, env } = options;
  if (!clock_watch.isTrusted()) return;
  const now = env.clock.now();
  for (const { id, connector } of connectors) {
    if (connector.pull === undefined) continue;
    const arrivals = await arrivalsSince(store.db, id, now - (7 * LEARNED_WEEKS + 2) * DAY_MS);
    const settings = {
      time_zone: config.clinic.time_zone,
      closed: new Set(config.clinic.closed),
      expected_by: config.connectors.find((each) => each.id === id)?.expected_by ?? null,
      watching_since: pulse.started_at,
    };
    const trouble = judgeExports(arrivals, settings, now);
    for (const reason of REASONS)
      await setIncident(store, { reason, connector: id }, entryOf(trouble, reason), now);
  }
}

function entryOf(trouble: ExportTrouble | null, reason: ExportTrouble['reason']) {
  if (trouble?.reason !== reason) return null;
  return { what: trouble.what, next: trouble.next };
}
