import type { AlertName } from '../../src/domain/alerts/catalog.ts';
import type { HealthQuestion } from '../../src/domain/health.ts';
import type { Settings, SimulatedClinic } from './simulated-clinic.ts';

/** Something that breaks in a clinic's week, and what has to be said about it. */
export type Fault = {
  name: string;
  /** The one alert; null: nobody is told, because it is everyday life. */
  alert: AlertName | null;
  /** Another alert that is needed for this one: its begin and end are told as well. */
  occasion?: AlertName;
  /** What is "no" while it lasts. */
  no?: readonly HealthQuestion[];
  /** eligd cannot run: no page says that all is well. */
  is_down?: boolean;
  /** Nothing can be stored, so `eligd status` shows the silence, and not the alert. */
  is_unstorable?: boolean;
  /** Hours after Tuesday, 10:00: when it is over, and when the pages are compared. */
  lasts_hours?: number;
  compared_after_hours?: number;
  /** How long the clinic is watched after the end; an alert ends with some delay. */
  watched_hours?: number;
  settings?: (clinic: SimulatedClinic) => Settings;
  /** Before the daemon starts on Tuesday morning. */
  prepare?: (clinic: SimulatedClinic) => Promise<void> | void;
  begin: (clinic: SimulatedClinic) => Promise<void> | void;
  end: (clinic: SimulatedClinic) => Promise<void> | void;
};

/** Every request that matches fails until `repair`. */
export function failing(path: string, status: number, more: object = {}) {
  return async (clinic: SimulatedClinic): Promise<void> => {
    const fault = { path, action: 'status', status, when: 'before', times: 1_000_000, ...more };
    await clinic.sandbox('POST', 'faults', fault);
  };
}

export async function repair(clinic: SimulatedClinic): Promise<void> {
  await clinic.sandbox('DELETE', 'faults');
}
