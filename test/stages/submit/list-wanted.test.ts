/** When a process must read the service's list before it plans or sends (`isListWanted`). */
import { expect, test } from 'vitest';
import { DAY_MS } from '../../../src/domain/time.ts';
import { isListWanted } from '../../../src/stages/submit/index.ts';
import { explainDatabase } from '../../../src/store/bookkeeping/new-database.ts';
import { type HaltReason, halt } from '../../../src/store/calls/halts.ts';
import { type Installation, install, reconcile, send } from '../installation.ts';
import { about } from './lost-calls.ts';

const stop = (reason: HaltReason) => async (clinic: Installation) => {
  const why = { reason, detail: '', next_try_at: null };
  await clinic.store.write((tx) => halt(tx, why, { what: '', next: '' }, clinic.now()));
};

test.each<[string, boolean, (clinic: Installation) => Promise<void> | void]>([
  ['everything is sent', false, () => {}],
  ['a visit waits for planning', true, ({ read, visit }) => read(visit('A-2', {}, 5))],
  [
    'a call waits to be sent',
    true,
    async ({ read, visit, planNow }) => {
      await read(visit('A-2', about('W9'), 5));
      await planNow();
    },
  ],
  ['another installation uses the account', true, stop('foreign')],
  ['the office only observes', false, stop('observe')],
  ['the database is new', true, ({ store, now }) => explainDatabase(store, [], now())],
  ['the lock file counts a further send', true, ({ submit: { sends } }) => sends.write(99)],
  ['a day has passed', true, ({ pass }) => pass(DAY_MS)],
])('when %s, the list is wanted: %s', async (_, is_wanted, happen) => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-1', {}, 5));
  await reconcile(clinic);
  await happen(clinic);
  expect(await isListWanted(clinic.submit, 'dental')).toBe(is_wanted);
});
