/** Fields that this account requires although the specification does not; learned from refusals. */
import { fieldsMissed } from '../../domain/refusal.ts';
import type { ValidationItem } from '../../service/api.ts';
import type { AccountNeeds } from '../../service/request.ts';
import { readLearnedAll, writeLearned } from '../../store/bookkeeping/learned-settings.ts';
import type { Tx } from '../../store/engine/database.ts';
import type { SubmitContext, SubmitDeps } from './deps.ts';

const SETTINGS = { npi: 'account_needs:npi', insurance: 'account_needs:insurance' } as const;

/** Returns the optional fields that every inquiry of this account must carry. */
export async function accountNeeds(
  tx: Tx,
  { settings }: Pick<SubmitDeps, 'settings'>,
): Promise<AccountNeeds> {
  const known = await readLearnedAll(tx, Object.values(SETTINGS));
  const { send_npi } = settings;
  return {
    npi: send_npi === 'always' || (send_npi === 'auto' && known.has(SETTINGS.npi)),
    insurance: known.has(SETTINGS.insurance),
  };
}

/**
 * Returns whether the service refused the inquiry only because fields were missing that eligd can
 * send. If so, those fields are saved and the inquiry is sent again with them. A refused inquiry
 * does not exist at the service, so this is not a second call (G1).
 */
export async function learnNeeds(
  { tx, deps, now }: SubmitContext,
  errors: readonly ValidationItem[],
  sent: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const missed = fieldsMissed(errors, sent);
  if (missed === null) return false;
  const has_npi = (sent.rendering_npi ?? sent.billing_npi ?? '') !== '';
  if (missed.includes('npi') && (deps.settings.send_npi === 'never' || !has_npi)) return false;
  for (const field of missed) await writeLearned(tx, SETTINGS[field], '1', now);
  return true;
}
