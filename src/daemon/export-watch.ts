/** Raises and ends the incidents about exports that do not come, or come without their rows. */
import { type ExportTrouble, judgeExports, watchedDays } from '../domain/export-watch.ts';
import { type IncidentState, setIncidents } from '../store/bookkeeping/incidents.ts';
import { arrivalsWithin } from '../store/intake/arrivals.ts';
import type { Parts } from './parts.ts';

const REASONS = ['export_missing', 'export_empty', 'export_small'] as const;

/** Says nothing while the clock is in doubt: by a wrong one every export is late. */
export async function watchExports(parts: Parts): Promise<void> {
  const { options, store, clock_watch, pulse, connectors } = parts;
  const { config, env } = options;
  if (!clock_watch.isTrusted()) return;
  const now = env.clock.now();
  const days = watchedDays(config.clinic.time_zone, now);
  const states: IncidentState[] = [];
  for (const { id, connector } of connectors) {
    if (connector.pull === undefined) continue;
    const arrivals = await arrivalsWithin(store.db, id, days);
    const settings = {
      time_zone: config.clinic.time_zone,
      closed: new Set(config.clinic.closed),
      expected_by: config.connectors.find((each) => each.id === id)?.expected_by ?? null,
      watching_since: pulse.started_at,
    };
    const trouble = judgeExports(arrivals, settings, now);
    for (const reason of REASONS)
      states.push({ reason, connector: id, entry: entryOf(trouble, reason) });
  }
  await setIncidents(store, states, now);
}

function entryOf(trouble: ExportTrouble | null, reason: ExportTrouble['reason']) {
  if (trouble?.reason !== reason) return null;
  return { what: trouble.what, next: trouble.next };
}
