/** `npm run bench -- encryption`: the price of a database key. */
import type { EncryptionJob, EncryptionResult } from './encrypted-store.ts';
import { WORK } from './encrypted-store.ts';
import { measureInChild, printTable, spread } from './measure.ts';

const ROUNDS = 3;

/** Medians of time and processor time without and with a key, and how many times as much. */
export async function benchEncryption(): Promise<void> {
  const results: Record<'plain' | 'keyed', EncryptionResult[]> = { plain: [], keyed: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const which of ['plain', 'keyed'] as const) {
      const job: EncryptionJob = { is_encrypted: which === 'keyed' };
      results[which].push(await measureInChild<EncryptionResult>('encrypted-store.ts', job));
    }
  }
  const rows = Object.entries(WORK).map(([name, title]) => {
    const work = name as keyof typeof WORK;
    const cells = (['passed', 'cpu'] as const).flatMap((what) => {
      const median = (which: 'plain' | 'keyed') =>
        spread(results[which].map((each) => each[work][what])).median;
      const [plain, keyed] = [median('plain'), median('keyed')];
      return [String(Math.round(plain)), String(Math.round(keyed)), (keyed / plain).toFixed(2)];
    });
    return [title, ...cells];
  });
  printTable([
    ['the database, ms', 'without key', 'with key', 'ratio', 'CPU without', 'CPU with', 'ratio'],
    ...rows,
  ]);
  console.log();
}
