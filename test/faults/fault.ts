import type { AlertName } from '../../src/domain/alerts/catalog.ts';
import type { HealthQuestion } from '../../src/domain/health.ts';
import type { Settings, SimulatedClinic } from './simulated-clinic.ts';

/** A fault in a clinic's week, and the alerts that it must cause. */
export type Fault = {
  name: string;
  /** The one alert; null: no alert, because the fault is normal. */
  alert: AlertName | null;
  /** Another alert that this one requires; it also begins and ends with a message. */
  occasion?: AlertName;
  /** The health answer that is "no" during the fault. */
  no?: readonly HealthQuestion[];
  /** eligd cannot run, so no page says that all is well. */
  is_down?: boolean;
  /** eligd can store nothing, so `eligd status` shows the missing heartbeat, and not the alert. */
  is_unstorable?: boolean;
  /** Hours after Tuesday, 10:00: the end of the fault, and the comparison of the pages. */
  lasts_hours?: number;
  compared_after_hours?: number;
  /**
   * How long the test watches the clinic after the end, because an alert ends later than its fault.
   */
  watched_hours?: number;
  settings?: (clinic: SimulatedClinic) => Settings;
  /** Before the daemon starts on Tuesday morning. */
  prepare?: (clinic: SimulatedClinic) => Promise<void> | void;
  begin: (clinic: SimulatedClinic) => Promise<void> | void;
  end: (clinic: SimulatedClinic) => Promise<void> | void;
};

/** Makes every matching request fail until `repair`. */
export function failing(path: string, status: number, more: object = {}) {
  return async (clinic: SimulatedClinic): Promise<void> => {
    const fault = { path, action: 'status', status, when: 'before', times: 1_000_000, ...more };
    await clinic.sandbox('POST', 'faults', fault);
  };
}

export async function repair(clinic: SimulatedClinic): Promise<void> {
  await clinic.sandbox('DELETE', 'faults');
}
