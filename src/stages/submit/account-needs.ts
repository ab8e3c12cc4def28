/** Fields that an account requires although the specification does not: learned from a refusal. */
import { fieldsMissed } from '../../domain/refusal.ts';
import type { ValidationItem } from '../../service/api.ts';
import type { AccountNeeds } from '../../service/request.ts';
import { readLearnedAll, writeLearned } from '../../store/bookkeeping/learned-settings.ts';
import type { Tx } from '../../store/engine/database.ts';
import type { SubmitContext, SubmitDeps } from './deps.ts';

const FACTS = { npi: 'account_needs:npi', insurance: 'account_needs:insurance' } as const;

/** What goes along with every inquiry of this account. */
export async function accountNeeds(
  tx: Tx,
  { settings }: Pick<SubmitDeps, 'settings'>,
): Promise<AccountNeeds> {
  const known = await readLearnedAll(tx, Object.values(FACTS));
  const { send_npi } = settings;
  return {
    npi: send_npi === 'always' || (send_npi === 'auto' && known.has(FACTS.npi)),
    insurance: known.has(FACTS.insurance),
  };
}

/**
 * Whether the refusal was for nothing but fields that can go along from now on: then the inquiry is
 * sent again with them. A refused inquiry does not exist, so that is no second call (G1).
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
  for (const field of missed) await writeLearned(tx, FACTS[field], '1', now);
  return true;
}
