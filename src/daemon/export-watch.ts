/** Raises and ends the incidents about exports that do not arrive or arrive without their rows. */
import { type ExportTrouble, judgeExports } from '../domain/export-watch.ts';
import { MINUTE_MS } from '../domain/time.ts';
import { type IncidentState, setIncidents } from '../store/bookkeeping/incidents.ts';
import { lastArrivals, readBook } from '../store/intake/arrivals.ts';
import type { Parts } from './parts.ts';

const REASONS = ['export_missing', 'export_empty', 'export_small'] as const;
/** After a start, a waiting file is read within this time. */
const START_GRACE_MS = 15 * MINUTE_MS;

/** Does nothing while the clock is not trusted: by a wrong clock, every export is late. */
export async function watchExports(parts: Parts): Promise<void> {
  const { options, store, clock_watch, pulse, connectors } = parts;
  const { config, env } = options;
  if (!clock_watch.isTrusted()) return;
  const now = env.clock.now();
  const { time_zone } = config.clinic;
  const is_starting = now - pulse.started_at < START_GRACE_MS;
  const states: IncidentState[] = [];
  for (const { id } of connectors) {
    const { has_exports = false, expected_by = null } =
      config.connectors.find((each) => each.id === id) ?? {};
    if (!has_exports) continue;
    const arrivals = await lastArrivals(store.db, id);
    const settings = {
      time_zone,
      closed: new Set(config.clinic.closed),
      expected_by,
    };
    const book = await readBook(store.db, { connector: id, arrivals, time_zone }, now);
    const trouble = judgeExports(arrivals, book, settings, now);
    // A missing export may already be in the folder, but eligd has not read the folder yet.
    const is_unknown = is_starting && trouble?.reason === 'export_missing';
    for (const reason of REASONS)
      if (!is_unknown || reason !== 'export_missing')
        states.push({ reason, connector: id, entry: entryOf(trouble, reason) });
  }
  await setIncidents(store, states, now);
}

function entryOf(trouble: ExportTrouble | null, reason: ExportTrouble['reason']) {
  if (trouble?.reason !== reason) return null;
  return { what: trouble.what, next: trouble.next };
}
