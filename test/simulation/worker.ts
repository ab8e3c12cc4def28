/**
 * Runs the worlds of a range of seeds, and prints one line of JSON for each. main.ts starts it as a
 * process.
 */
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyMutation } from './mutations.ts';
import { takeOverTime } from './scheduler.ts';

const order = JSON.parse(process.argv[2] ?? '{}') as {
  seeds: number[];
  mutation: string | null;
  tell: 'about' | 'all';
  folder: string;
};

const print = process.stdout.write.bind(process.stdout);
const usedMs = () => process.cpuUsage().user / 1000;
if (order.mutation !== null) applyMutation(order.mutation);
takeOverTime();
const { watchDisk } = await import('./disk.ts');
const { watchDoors } = await import('./door.ts');
const { live } = await import('./world.ts');
watchDisk();
watchDoors();
// A dead daemon's promises may fail long after its death.
process.on('unhandledRejection', (error) => {
  if (!(error instanceof Error) || !/process is dead|connection is not open/.test(error.message)) {
    print(
      `${JSON.stringify({ unhandled: error instanceof Error ? error.stack : String(error) })}\n`,
    );
  }
});
mkdirSync(order.folder === '' ? join(tmpdir(), 'eligd-simulation') : order.folder, {
  recursive: true,
});
for (const seed of order.seeds) {
  const began = usedMs();
  const outcome = await live(seed, order.folder, { tell: order.tell });
  const line = `${JSON.stringify({ ...outcome, took_ms: Math.round(usedMs() - began) })}\n`;
  // A long trace fills the pipe; a process that exits before all of it is written loses the rest.
  await new Promise<void>((resolve) => print(line, () => resolve()));
  if (outcome.broken !== null && order.mutation !== null) break;
}
process.exit(0);
