/** New inquiries on a list, and whether another installation made them. */
import type { MadeCall } from '../../src/domain/attribution-account.ts';
import {
  absent,
  at,
  type Case,
  call,
  is,
  listed,
  need,
  serves,
  unneeded,
} from './attribution-cases.ts';

/** The list was last compared half an hour before the call was sent. */
const later = { compared_at: at(-30) };
const KEY = 'BENEFITS|W1|2018-01-02|1||';

/** A call whose reply was lost. */
const sought = (given: Partial<MadeCall> = {}) => call(9, 9, { match_key: KEY, ...given });

/** The list of a label. `needs`: what is to be sent under it. */
const label = { is_whole: false, needs: [need(1, 'planned')] };

export const STRANGER_CASES: readonly Case[] = [
  {
    what: 'a new inquiry that this installation did not make is a stranger’s',
    account: { listed: [listed('L')] },
    clock: later,
    verdicts: { L: is('stranger') },
  },
  {
    what: 'an inquiry that is older than the last comparison is not a stranger’s',
    account: { listed: [listed('L1', { is_new: false }), listed('L2', { created_at: at(-41) })] },
    clock: later,
    verdicts: { L1: is('unclaimed'), L2: is('unclaimed') },
  },
  {
    what: 'a new inquiry without a time is a stranger’s',
    account: { listed: [listed('L', { created_at: null })] },
    clock: later,
    verdicts: { L: is('stranger') },
  },
  {
    what: 'an unneeded duplicate, or one with a label that is looked up, is not a stranger’s',
    account: {
      calls: [absent(), call(2, 2, { external_id: 'B-1' })],
      needs: [need(1, 'over'), need(2, 'sought', { external_id: 'B-1' })],
      listed: [
        listed('L1'),
        listed('L2', { external_id: 'B-1' }),
        listed('L3', { external_id: 'B-1', created_at: at(50) }),
      ],
    },
    clock: later,
    verdicts: { L1: unneeded(1), L2: serves(2, 2), L3: is('unclaimed') },
  },
  {
    what: 'an inquiry long after a request that waits for its turn is not a stranger’s',
    account: {
      calls: [call(1, 1)],
      needs: [need(1, 'out')],
      listed: [listed('L', { created_at: at(50) })],
    },
    clock: later,
    verdicts: { L: is('unclaimed') },
  },
  {
    what: 'an inquiry days after a request whose call is sought is not a stranger’s',
    account: {
      calls: [call(1, 1)],
      needs: [need(1, 'sought')],
      listed: [listed('L1'), listed('L2', { created_at: at(3 * 24 * 60) })],
    },
    clock: later,
    verdicts: { L1: serves(1, 1), L2: is('unclaimed') },
  },
  {
    what: 'an inquiry long after a call that waited for its turn and was not found is not, either',
    account: {
      calls: [absent()],
      needs: [need(1, 'served')],
      listed: [
        listed('L1', { created_at: at(50) }),
        listed('L2', { external_id: 'B-1' }),
        listed('L3', { created_at: at(24 * 60 + 22) }),
      ],
    },
    clock: later,
    verdicts: { L1: is('unclaimed'), L2: is('stranger'), L3: is('stranger') },
  },
  {
    what: 'a new inquiry is a stranger’s although a call of ours is sought',
    account: { sought: [sought()], listed: [listed('L', { match_key: KEY, external_id: 'B-1' })] },
    clock: later,
    verdicts: { L: is('stranger') },
  },
  {
    what: 'a new inquiry that leaves out what tells may be the call that is sought',
    account: {
      sought: [sought()],
      listed: [
        listed('L1', { match_key: 'BENEFITS|W1|2018-01-02|||' }),
        listed('L2', { match_key: KEY, external_id: '' }),
        listed('L3', { match_key: KEY, external_id: '', given_name: '' }),
        listed('L4', { match_key: '', external_id: '', given_name: 'BEN' }),
        listed('L5', { match_key: KEY, external_id: '', created_at: null }),
      ],
    },
    clock: later,
    verdicts: {
      L1: is('unclaimed'),
      L2: is('unclaimed'),
      L3: is('unclaimed'),
      L4: is('unclaimed'),
      L5: is('unclaimed'),
    },
  },
  {
    what: 'a new inquiry may be a call that lookups did not find only if its time agrees',
    account: {
      sought: [sought({ is_absent: true })],
      listed: [
        listed('L1', { match_key: KEY, external_id: '' }),
        listed('L2', { match_key: KEY, external_id: '', created_at: null }),
        listed('L3', { match_key: KEY, external_id: '', created_at: at(22) }),
      ],
    },
    clock: later,
    verdicts: { L1: is('unclaimed'), L2: is('stranger'), L3: is('stranger') },
  },
  {
    what: 'a new inquiry that tells enough is not the call that is sought',
    account: {
      sought: [sought()],
      listed: [
        listed('L1', { match_key: 'BENEFITS|W2|2018-01-02|||' }),
        listed('L2', { match_key: KEY, given_name: 'BEN' }),
        listed('L3', { match_key: KEY, external_id: '', given_name: 'BEN' }),
      ],
    },
    clock: later,
    verdicts: { L1: is('stranger'), L2: is('stranger'), L3: is('stranger') },
  },
  {
    what: 'a new inquiry from before or long after the call that is sought is another one',
    account: {
      sought: [sought()],
      listed: [
        listed('L1', { match_key: '', created_at: at(-11) }),
        listed('L2', { match_key: '', created_at: at(-9) }),
        listed('L3', { match_key: '', created_at: at(20) }),
        listed('L4', { match_key: '', created_at: at(22) }),
      ],
    },
    clock: later,
    verdicts: {
      L1: is('stranger'),
      L2: is('unclaimed'),
      L3: is('unclaimed'),
      L4: is('stranger'),
    },
  },
  {
    what: 'without the service’s clock, an inquiry of any time may be the call that is sought',
    account: {
      sought: [sought({ sent_service_at: null })],
      listed: [
        listed('L1', { match_key: '', created_at: at(-11) }),
        listed('L2', { match_key: '', created_at: at(22) }),
      ],
    },
    clock: later,
    verdicts: { L1: is('unclaimed'), L2: is('unclaimed') },
  },
  {
    what: 'the list of a label shows a stranger’s call in place of one that is planned',
    account: {
      ...label,
      calls: [call(1, 1, { match_key: 'OTHER' }), call(2, 2, { external_id: 'B-1' })],
      listed: [listed('L')],
    },
    clock: later,
    verdicts: { L: is('stranger') },
  },
  {
    what: 'an inquiry in the list of a label may be a call of ours that has no ID',
    account: {
      is_whole: false,
      calls: [call(1, 1, { match_key: 'CLAIM|1' }), call(2, 2, { external_id: 'B-1' })],
      needs: [
        need(1, 'planned', { match_key: 'CLAIM|' }),
        need(2, 'served', { external_id: 'B-1' }),
        need(3, 'planned', { external_id: 'B-1' }),
      ],
      listed: [
        listed('L1', { match_key: 'CLAIM|' }),
        listed('L2', { external_id: 'B-1', created_at: at(50) }),
      ],
    },
    clock: later,
    verdicts: { L1: is('unclaimed'), L2: is('unclaimed') },
  },
  {
    what: 'an inquiry in the list of a label that no call would be made for may be ours',
    account: {
      is_whole: false,
      needs: [
        need(1, 'served'),
        need(2, 'planned', { external_id: 'B-1' }),
        need(3, 'planned', { match_key: 'OTHER' }),
      ],
      listed: [listed('L')],
    },
    clock: later,
    verdicts: { L: is('unclaimed') },
  },
  {
    what: 'an inquiry in the list of a label that has no time may be ours',
    account: { ...label, listed: [listed('L', { created_at: null })] },
    clock: later,
    verdicts: { L: is('unclaimed') },
  },
];
