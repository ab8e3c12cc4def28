/** Runs one fault, a year, or the weeks before, and prints the result. Started by main.ts. */
import { liveFault, makeHistory } from './live-fault.ts';
import { liveYear } from './year.ts';

const job = JSON.parse(process.argv[2] ?? '{}') as
  | { make: string }
  | { year: number; days?: number }
  | { fault: string; history: string };
if ('make' in job) await makeHistory(job.make);
else {
  const result =
    'year' in job ? await liveYear(job.year, job.days) : await liveFault(job.fault, job.history);
  process.stdout.write(JSON.stringify(result));
}
process.exit(0);
