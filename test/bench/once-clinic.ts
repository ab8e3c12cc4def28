/**
 * A child of the bench: two clinics with the same visits of two weeks, all answered and written,
 * and one of them with copies of them as its history.
 */
import { chmodSync, cpSync } from 'node:fs';
import { growDatabase } from '../faults/grow.ts';
import { DAY_MS, SimulatedClinic } from '../faults/simulated-clinic.ts';
import { jobOfChild } from './measure.ts';

export type OnceClinicJob = { few: string; many: string; visits: number };

const DAYS = 14;
/** Until the last visit has its answer and is over. */
const QUIET_DAYS = 6;

const { few, many, visits } = jobOfChild<OnceClinicJob>();
const start_ms = Date.now() - (DAYS + QUIET_DAYS) * DAY_MS;
const clinic = await SimulatedClinic.open(start_ms, null);
await clinic.turnOn();
await clinic.live(start_ms + DAYS * DAY_MS);
clinic.exports = () => null;
await clinic.live(start_ms + (DAYS + QUIET_DAYS) * DAY_MS);
await clinic.turnOff();
for (const to of [few, many]) {
  cpSync(clinic.folder, to, { recursive: true });
  chmodSync(`${to}/state`, 0o700);
}
growDatabase(`${many}/state/eligd.db`, visits);
await clinic.close();
process.stdout.write('{}');
// The simulated clinic leaves timers of its clock behind.
process.exit(0);
