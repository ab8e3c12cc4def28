/** Payers that are missing from the payer map, in a single attention item. */
import type { UnmappedPayer } from '../../domain/payers.ts';
import type { Db, Tx } from '../engine/database.ts';
import { raiseAttention, resolveAttention } from './attention.ts';
import { forgetLearned, readLearned, writeLearned } from './learned-settings.ts';

/** The subject of the attention item about the payer map. */
export const PAYERS_SUBJECT = 'payers';

const SETTING = 'unmapped_payers';
/** More names than any clinic has payers; limits the list if an export is broken. */
const PAYERS_MAX = 500;
const NAMES_SHOWN = 8;

/** Adds payers to the list, each only once for all its patients. */
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

/** Removes payers that are in the map now, and items that older versions raised for each payer. */
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

/** Returns every payer that planning has met and that is missing from the payer map. */
export async function listedPayers(db: Db | Tx): Promise<UnmappedPayer[]> {
  const setting = await readLearned(db, SETTING);
  return setting === null ? [] : (JSON.parse(setting.value) as UnmappedPayer[]);
}

async function keep(tx: Tx, payers: readonly UnmappedPayer[], now: number): Promise<void> {
  if (payers.length === 0) {
    await forgetLearned(tx, SETTING);
    await resolveAttention(tx, PAYERS_SUBJECT, now, ['payer_unmapped']);
    return;
  }
  await writeLearned(tx, SETTING, JSON.stringify(payers), now);
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
  const names = [...new Set(payers.map(nameOf))];
  const more = names.length - NAMES_SHOWN;
  return names.slice(0, NAMES_SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** The PMS may have written a patient's name there, which is shown to nobody who does not ask. */
function nameOf({ carrier, payor_id, says_who }: UnmappedPayer): string {
  if (says_who !== true && carrier !== '') return carrier;
  return payor_id === '' ? 'one with a patient’s name' : `payer ID ${payor_id}`;
}

function isSame(one: UnmappedPayer, other: UnmappedPayer): boolean {
  return one.carrier === other.carrier && one.payor_id === other.payor_id;
}
