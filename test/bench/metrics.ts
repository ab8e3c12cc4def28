/** The cost of a scrape in a clinic with 400 days of history: 30,000 delivered visits. */
import { growDatabase } from '../faults/grow.ts';
import { HOUR_MS, SimulatedClinic } from '../faults/simulated-clinic.ts';

const START_MS = Date.parse('2030-03-04T11:00:00Z');
const VISITS = 30_000;
const SCRAPES = 21;

export type MetricsResult = { visits: number; scrape_ms: number[]; cpu_ms: number };

/** `scrape_ms`: sorted, by the wall clock; `cpu_ms`: of one scrape, the whole process. */
async function measureMetrics(): Promise<MetricsResult> {
  const clinic = await SimulatedClinic.open(START_MS, null);
  try {
    await clinic.turnOn();
    await clinic.live(START_MS + 14 * 24 * HOUR_MS);
    await clinic.turnOff();
    growDatabase(clinic.path('state/eligd.db'), VISITS);
    await clinic.turnOn();
    await clinic.live(clinic.clock.trueNow() + HOUR_MS);
    await clinic.monitor('/metrics');
    const scrape_ms: number[] = [];
    const used = process.cpuUsage();
    for (let scrape = 0; scrape < SCRAPES; scrape += 1) {
      const begun = performance.now();
      await clinic.monitor('/metrics');
      scrape_ms.push(performance.now() - begun);
    }
    const { user, system } = process.cpuUsage(used);
    const page = (await clinic.monitor('/metrics'))?.text ?? '';
    const delivered = /^eligd_appointments\{situation="(?:delivered|closed)"\} (\d+)$/gm;
    const visits = [...page.matchAll(delivered)].reduce((sum, [, each]) => sum + Number(each), 0);
    const cpu_ms = (user + system) / 1000 / SCRAPES;
    return { visits, scrape_ms: scrape_ms.toSorted((a, b) => a - b), cpu_ms };
  } finally {
    await clinic.close();
  }
}

process.stdout.write(JSON.stringify(await measureMetrics()));
// The simulated clinic leaves timers of its clock behind.
process.exit(0);
