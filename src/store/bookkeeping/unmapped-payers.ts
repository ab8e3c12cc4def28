/** The payers that the payer map does not have, in one line of the attention list for all. */
import type { UnmappedPayer } from '../../domain/payers.ts';
import type { Db, Tx } from '../engine/database.ts';
import { raiseAttention, resolveAttention } from './attention.ts';
import { forgetLearned, readLearned, writeLearned } from './learned-settings.ts';

/** Subject of what the attention list says about the payer map. */
export const PAYERS_SUBJECT = 'payers';

const FACT = 'unmapped_payers';
/** More different names than a clinic has payers; a broken export must not grow without bound. */
const PAYERS_MAX = 500;
const NAMES_SHOWN = 8;

/** Adds payers to the list, each once however many patients have it. */
export async function listForMapping(
  tx: Tx,
  payers: readonly UnmappedPayer[],
  now: number,
): Promise<void> {
  if (payers.length === 0) return;
  const known = await listedPayers(tx);
  const fresh = payers.filter((payer) => !known.some((each) => isSame(each, payer)));
  if (fresh.length === 0 || known.length >= PAYERS_MAX) return;
  await keep(tx, [...known, ...fresh], now);
}

/** Takes payers off the list that the map has by now, and what older versions listed one by one. */
export async function resolveMapped(
  tx: Tx,
  isMapped: (payor_id: string, carrier: string) => boolean,
  now: number,
): Promise<void> {
  await tx
    .updateTable('attention')
    .set({ resolved_at: now })
    .where('subject', 'like', 'payer:%')
    .where('resolved_at', 'is', null)
    .execute();
  const known = await listedPayers(tx);
  const left = known.filter(({ payor_id, carrier }) => !isMapped(payor_id, carrier));
  if (left.length < known.length) await keep(tx, left, now);
}

/** Every payer that planning has met and the payer map does not have. */
export async function listedPayers(db: Db | Tx): Promise<UnmappedPayer[]> {
  const fact = await readLearned(db, FACT);
  return fact === null ? [] : (JSON.parse(fact.value) as UnmappedPayer[]);
}

async function keep(tx: Tx, payers: readonly UnmappedPayer[], now: number): Promise<void> {
  if (payers.length === 0) {
    await forgetLearned(tx, FACT);
    await resolveAttention(tx, PAYERS_SUBJECT, now, ['payer_unmapped']);
    return;
  }
  await writeLearned(tx, FACT, JSON.stringify(payers), now);
  await raiseAttention(
    tx,
    { connector: null, appointment: null, inquiry: null, subject: PAYERS_SUBJECT },
    {
      reason: 'payer_unmapped',
      what:
        (payers.length === 1
          ? 'An insurance company is '
          : `${payers.length} insurance companies are `) +
        `not in the payer map: ${namesOf(payers)}. Visits without a payer ID get no call. For ` +
        'the others, calls go out by payer ID only.',
      next: 'Ask IT to run "eligd payers": it shows the closest known names and how to map one.',
    },
    now,
  );
}

function namesOf(payers: readonly UnmappedPayer[]): string {
  const names = [
    ...new Set(payers.map(({ carrier, payor_id }) => carrier || `payer ID ${payor_id}`)),
  ];
  const more = names.length - NAMES_SHOWN;
  return names.slice(0, NAMES_SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function isSame(one: UnmappedPayer, other: UnmappedPayer): boolean {
  return one.carrier === other.carrier && one.payor_id === other.payor_id;
}
