/** Lives one fault, or makes the weeks before; prints what came of it. Started by main.ts. */
import { liveFault, makeHistory } from './live-fault.ts';

const job = JSON.parse(process.argv[2] ?? '{}') as
  | { make: string }
  | { fault: string; history: string };
if ('make' in job) await makeHistory(job.make);
else process.stdout.write(JSON.stringify(await liveFault(job.fault, job.history)));
process.exit(0);
