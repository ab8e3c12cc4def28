import type { ConnectorError } from '../../connectors/contract.ts';
import type { Env } from '../domain/env.ts';
import { endIncident, raiseIncident } from '../store/bookkeeping/incidents.ts';
import type { Store } from '../store/engine/store.ts';

/** What a connector does: reads appointments, waits for messages, or writes results. */
export type Direction = 'read' | 'listen' | 'write';

/**
 * Whether a connector works. The incident in the database survives the process; this state does
 * not.
 */
export type ConnectorState = {
  /** When it last read and wrote without an error (epoch milliseconds); null: not known. */
  read_at: number | null;
  write_at: number | null;
  /** The last logged failure. An identical one is counted but not logged again. */
  logged: Partial<Record<Direction, string>>;
  /**
   * Directions that have worked in this process, so an incident of an earlier process has ended.
   */
  proven: Set<Direction>;
  /** Called when the connector starts to fail, or works again. */
  onChange: () => void;
};

export function newConnectorState(onChange: () => void = () => {}): ConnectorState {
  return { read_at: null, write_at: null, logged: {}, proven: new Set(), onChange };
}

type ConnectorStateDeps = {
  store: Store;
  env: Env;
  connector_id: string;
  state: ConnectorState;
};

const REASONS = {
  read: 'connector_cannot_read',
  listen: 'connector_cannot_listen',
  write: 'connector_cannot_write',
} as const;

const DOES = { read: 'read appointments', listen: 'receive messages', write: 'write results' };

/**
 * Records that the connector could not read or write: one incident with a count for the whole
 * outage, and one log line for each different failure. Returns whether to log this failure.
 */
export async function noteFailure(
  { store, env, connector_id, state }: ConnectorStateDeps,
  direction: Direction,
  error: ConnectorError,
): Promise<boolean> {
  const is_new = state.logged[direction] !== error.message;
  state.logged[direction] = error.message;
  state.proven.delete(direction);
  await store.write((tx) =>
    raiseIncident(
      tx,
      { reason: REASONS[direction], connector: connector_id },
      {
        what: `The connector ${connector_id} cannot ${DOES[direction]}. ${error.message}`,
        next: error.next,
        words: error.words === '' ? null : error.words,
      },
      env.clock.now(),
    ),
  );
  if (is_new) state.onChange();
  return is_new;
}

/**
 * Records that the connector read or wrote. Ends its incident, if there is one, and logs the
 * recovery.
 */
export async function noteSuccess(
  { store, env, connector_id, state }: ConnectorStateDeps,
  direction: Direction,
): Promise<void> {
  const now = env.clock.now();
  if (direction === 'write') state.write_at = now;
  else state.read_at = now;
  if (state.proven.has(direction)) return;
  const failures = await store.write((tx) =>
    endIncident(tx, { reason: REASONS[direction], connector: connector_id }, now),
  );
  state.proven.add(direction);
  delete state.logged[direction];
  if (failures > 0)
    env.log('connector_recovered', { connector: connector_id, direction, failures });
  state.onChange();
}
