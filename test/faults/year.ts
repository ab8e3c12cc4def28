/**
 * `npm run faults -- --year`: a year of a clinic without faults. The office exports at about the
 * same hour, closes on holidays and for a week at Christmas, and has full and quiet weeks; the
 * computer is updated at night, and the internet is down for some minutes now and then. No one
 * needs an alert about any of it.
 */
import { addDays, dayOfWeek, instantOf, localDate } from '../../src/domain/time.ts';
import { Random } from '../simulation/random.ts';
import {
  csv,
  DAY_MS,
  MINUTE_MS,
  SimulatedClinic,
  type Told,
  visitOn,
  ZONE,
} from './simulated-clinic.ts';

const START_MS = Date.parse('2030-03-04T11:00:00Z');
const DAYS = 365;
/** How far ahead the office exports. */
const EXPORT_DAYS = 14;
const CLOSED = new Set([
  ...['2030-05-27', '2030-07-04', '2030-09-02', '2030-11-28', '2030-11-29'],
  // The week at Christmas, when a dental office is closed.
  ...['2030-12-24', '2030-12-25', '2030-12-26', '2030-12-27', '2030-12-30', '2030-12-31'],
  '2031-01-01',
]);
/** Visits on each weekday of an ordinary week. */
const VISITS = [5, 6, 6, 5, 3];

/** `days`: fewer than a year for a trial. Returns the messages in order. */
export async function liveYear(seed: number, days = DAYS): Promise<Told[]> {
  const clinic = await SimulatedClinic.open(START_MS, null);
  try {
    clinic.configure({ schedule: { pull_seconds: (30 * MINUTE_MS) / 1000 } });
    clinic.exportMinute = (day) => new Random(seed, `export ${day}`).int(0, 70);
    clinic.exports = (day) => (isOpen(day) ? csv(visitsAfter(seed, day)) : null);
    await clinic.turnOn();
    for (let day = localDate(START_MS, ZONE), left = days; left > 0; left -= 1) {
      await liveDay(clinic, seed, day);
      day = addDays(day, 1);
    }
    return clinic.told();
  } finally {
    await clinic.close();
  }
}

async function liveDay(clinic: SimulatedClinic, seed: number, day: string): Promise<void> {
  const random = new Random(seed, `day ${day}`);
  const begins_at = clinic.clock.trueNow();
  if (dayOfWeek(day) === 7) {
    await clinic.live(instantOf(day, 22, ZONE, 0));
    await clinic.turnOff();
    await clinic.live(clinic.clock.trueNow() + random.int(2, 20) * MINUTE_MS);
    await clinic.turnOn();
  } else if (random.chance(0.07)) {
    await clinic.live(instantOf(day, random.int(8, 20), ZONE, 10));
    await clinic.wire.cut();
    await clinic.live(clinic.clock.trueNow() + random.int(1, 6) * MINUTE_MS);
    await clinic.wire.repair();
  }
  await clinic.live(begins_at + DAY_MS);
}

function isOpen(day: string): boolean {
  return dayOfWeek(day) <= 5 && !CLOSED.has(day);
}

function visitsAfter(seed: number, today: string) {
  return Array.from({ length: EXPORT_DAYS }, (_, ahead) => addDays(today, ahead + 1))
    .filter(isOpen)
    .flatMap((day) => {
      const usual = VISITS[dayOfWeek(day) - 1] ?? 0;
      const count = usual + new Random(seed, `visits ${day}`).int(-2, 2);
      return Array.from({ length: count }, (_, index) => visitOn(day, index));
    });
}
