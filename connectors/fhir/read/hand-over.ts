/** Passes a reading to the core in batches. */
import { createHash } from 'node:crypto';
import type { PullBatch, PullCall } from '../../contract.ts';
import type { Mapped } from './findings.ts';
import type { Reading } from './reading.ts';

export const BATCH_SIZE = 500;

type Handing = {
  reading: Reading;
  mapped: Omit<Mapped, 'failed'>;
  is_full: boolean;
  next: string | null;
};

/**
 * Passes a reading in batches, with a key derived from its content: after a crash, the same content
 * has the same key. The cursor moves with the last batch (G3).
 */
export async function handOver(
  { reading, mapped, is_full, next }: Handing,
  { accept, isAccepted, signal }: PullCall,
): Promise<void> {
  const { appointments, cancelled_ids, rejected } = mapped;
  const is_empty = appointments.length + cancelled_ids.length + rejected.length === 0;
  const key = `${reading.kind}:${createHash('sha256')
    .update(JSON.stringify([appointments, cancelled_ids, rejected]))
    .digest('hex')}`;
  if (is_empty && (reading.kind === 'changes' || next === null)) return;
  if (reading.kind === 'changes' && (await isAccepted(key))) return;
  for (let from = 0; from === 0 || from < appointments.length; from += BATCH_SIZE) {
    signal.throwIfAborted();
    const is_last = from + BATCH_SIZE >= appointments.length;
    const batch: PullBatch = {
      source: { key, name: reading.name, is_last, completeness: is_full ? 'full' : 'changes' },
      appointments: appointments.slice(from, from + BATCH_SIZE),
      cancelled_ids: is_last ? cancelled_ids : [],
      rejected: is_last ? rejected : [],
      cursor: is_last ? next : null,
    };
    await accept(batch);
  }
}
