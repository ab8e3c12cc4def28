/** Two visits that share one call, of which the office has held the first. */
import { hold } from '../../../src/store/bookkeeping/operator.ts';
import { type Installation, install } from '../installation.ts';
import { visit } from '../submit/merges.ts';

export const FIRST = { kind: 'appointment', id: 1 } as const;
export const CANCELED = { status: 'cancelled' } as const;

/** The PMS has these visits now, and eligd plans them. */
export async function plan(
  clinic: Installation,
  ...visits: Parameters<Installation['read']>
): Promise<void> {
  await clinic.read(...visits);
  await clinic.planNow();
}

export const holdFirst = ({ store, now }: Installation) =>
  store.write((tx) => hold(tx, FIRST, now()));

/** A-1 was on hold and canceled; A-2 needs the call, which A-1 shares when it is back. */
export async function installShared() {
  const clinic = await install();
  await clinic.planNow();
  const [first, second] = [visit(clinic, 'A-1'), visit(clinic, 'A-2')];
  await plan(clinic, first);
  await holdFirst(clinic);
  await plan(clinic, { ...first, ...CANCELED });
  await plan(clinic, second);
  await plan(clinic, first);
  return { clinic, first, second, leave: () => plan(clinic, { ...second, ...CANCELED }) };
}

/** The stored text of the visit is damaged, and planning is to read it. */
export async function damage({ store }: Installation, label: string): Promise<void> {
  await store.db
    .updateTable('appointments')
    .set({ content: '{', plan_due_at: 1 })
    .where('source_id', '=', label)
    .execute();
}
