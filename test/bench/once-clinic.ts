/**
 * A child of the bench: clinics with the same visits of two weeks, all answered and written, each
 * with a number of copies of them as its history.
 */
import { chmodSync, cpSync } from 'node:fs';
import { growDatabase } from '../faults/grow.ts';
import { DAY_MS, SimulatedClinic } from '../faults/simulated-clinic.ts';
import { jobOfChild } from './measure.ts';

/** `days`: over which the history extends; without it, over the retention time. */
export type OnceClinicJob = { clinics: { folder: string; visits: number; days?: number }[] };

const DAYS = 14;
/** Until the last visit has its answer and is over. */
const QUIET_DAYS = 6;

const { clinics } = jobOfChild<OnceClinicJob>();
const start_ms = Date.now() - (DAYS + QUIET_DAYS) * DAY_MS;
const clinic = await SimulatedClinic.open(start_ms, null);
await clinic.turnOn();
await clinic.live(start_ms + DAYS * DAY_MS);
clinic.exports = () => null;
await clinic.live(start_ms + (DAYS + QUIET_DAYS) * DAY_MS);
await clinic.turnOff();
for (const { folder, visits, days } of clinics) {
  cpSync(clinic.folder, folder, { recursive: true });
  chmodSync(`${folder}/state`, 0o700);
  if (visits > 0) growDatabase(`${folder}/state/eligd.db`, visits, days);
}
await clinic.close();
process.stdout.write('{}');
// The simulated clinic leaves timers of its clock behind.
process.exit(0);
