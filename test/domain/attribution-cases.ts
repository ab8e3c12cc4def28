/**
 * Accounts, and the owner of each listed inquiry. Times are in minutes; eligd sends a call at
 * minute 0.
 */
import type {
  Account,
  Clock,
  ListedCall,
  MadeCall,
  Need,
  Verdict,
} from '../../src/domain/attribution-account.ts';
import { DAY_MS, MINUTE_MS } from '../../src/domain/time.ts';

export const SENT_AT = Date.UTC(2026, 10, 23, 15);
export const at = (minutes: number) => SENT_AT + minutes * MINUTE_MS;

export const CLOCK: Clock = {
  now: at(60),
  settle_ms: 5 * MINUTE_MS,
  timeout_ms: MINUTE_MS,
  reverify_ms: 30 * DAY_MS,
  compared_at: null,
};

const ASKED = { external_id: 'A-1', match_key: 'KEY', given_name: 'ADA' };

export const listed = (service_id: string, given: Partial<ListedCall> = {}): ListedCall => ({
  ...ASKED,
  id: 100,
  service_id,
  status: 'SCHEDULED',
  created_at: at(0),
  owner: null,
  is_new: true,
  ...given,
});

export const call = (id: number, inquiry: number, given: Partial<MadeCall> = {}): MadeCall => ({
  ...ASKED,
  id,
  inquiry,
  sent_at: at(0),
  sent_service_at: at(0),
  is_absent: false,
  ...given,
});

export const need = (inquiry: number, stage: Need['stage'], given: Partial<Need> = {}): Need => ({
  ...ASKED,
  inquiry,
  stage,
  labels: [given.external_id ?? ASKED.external_id],
  earlier: [],
  ...given,
});

const doubtful = (inquiry: number): Verdict => ({ is: 'doubtful', inquiry });
export const unneeded = (inquiry: number): Verdict => ({ is: 'unneeded', inquiry });
export const is = (verdict: Verdict['is']) => ({ is: verdict }) as Verdict;
export const serves = (inquiry: number, made: number | null = null): Verdict => ({
  is: 'call',
  inquiry,
  call: made,
});
const duplicate = (inquiry: number, made: number | null = null): Verdict => ({
  is: 'duplicate',
  inquiry,
  call: made,
});

export type Case = {
  what: string;
  account: Partial<Account>;
  clock?: Partial<Clock>;
  verdicts: Readonly<Record<string, Verdict>>;
};

/** A question about a claim without a number. */
const UNNUMBERED = { match_key: 'CLAIMS_STATUS|M|D|T||S' };

const lost = { calls: [call(1, 1)], needs: [need(1, 'sought')] };
export const absent = (given: Partial<MadeCall> = {}) => call(1, 1, { is_absent: true, ...given });
const later = { compared_at: at(-30) };

export const CASES: readonly Case[] = [
  {
    what: 'a lost reply was about the inquiry under its label',
    account: { ...lost, listed: [listed('L')] },
    verdicts: { L: serves(1, 1) },
  },
  {
    what: 'an inquiry that asks something else is not the lost call',
    account: { ...lost, listed: [listed('L', { match_key: 'OTHER' })] },
    verdicts: { L: is('unclaimed') },
  },
  {
    what: 'an inquiry with another label is not the lost call',
    account: { ...lost, listed: [listed('L', { external_id: 'B-1' })] },
    verdicts: { L: is('unclaimed') },
  },
  {
    what: "a twin's inquiry is not the lost call, although the twin had the label before",
    account: { ...lost, listed: [listed('L', { given_name: 'BEN' })] },
    verdicts: { L: is('unclaimed') },
  },
  {
    what: 'if the service leaves the name out, the label decides',
    account: { ...lost, listed: [listed('L', { given_name: '' })] },
    verdicts: { L: serves(1, 1) },
  },
  {
    what: 'a call whose name an older version did not store is recognized by its label',
    account: {
      calls: [call(1, 1, { given_name: '' })],
      needs: [need(1, 'served')],
      listed: [listed('L')],
    },
    verdicts: { L: duplicate(1, 1) },
  },
  {
    what: 'a clock that was wrong when the call was sent does not hide it',
    account: { ...lost, listed: [listed('L', { created_at: at(3 * 24 * 60) })] },
    verdicts: { L: serves(1) },
  },
  {
    what: 'of two that a wrong clock may have sent, the older one serves',
    account: {
      ...lost,
      listed: [
        listed('L2', { created_at: at(4 * 24 * 60) }),
        listed('L1', { created_at: at(3 * 24 * 60) }),
      ],
    },
    verdicts: { L1: serves(1), L2: is('unclaimed') },
  },
  {
    what: 'a call without a time counts',
    account: { ...lost, listed: [listed('L', { created_at: null })] },
    verdicts: { L: serves(1, 1) },
  },
  {
    what: 'of two under the label, its own call serves, and that of a lost database is a duplicate',
    account: { ...lost, listed: [listed('L2'), listed('L1', { created_at: at(-120) })] },
    verdicts: { L2: serves(1, 1), L1: duplicate(1) },
  },
  {
    what: 'the call of a lost database serves while the own one is not listed',
    account: { ...lost, listed: [listed('L1', { created_at: at(-120) })] },
    verdicts: { L1: serves(1) },
  },
  {
    what: 'what a list showed before, and what is too old, is not the lost call',
    account: {
      calls: [call(7, 1)],
      needs: [need(1, 'sought')],
      listed: [
        listed('L1', { id: 5, created_at: at(-40 * 24 * 60) }),
        listed('L2', { id: 6, created_at: at(-30 * 24 * 60) }),
      ],
    },
    verdicts: { L1: is('unclaimed'), L2: is('unclaimed') },
  },
  {
    what: 'what a list showed before, and what is not too old, serves while ours is not listed',
    account: {
      calls: [call(7, 1)],
      needs: [need(1, 'sought')],
      listed: [listed('L', { id: 5, created_at: at(-120) })],
    },
    verdicts: { L: serves(1) },
  },
  {
    what: 'an old call that no list showed before serves, because it may be the lost one',
    account: { ...lost, listed: [listed('L', { created_at: at(-40 * 24 * 60) })] },
    verdicts: { L: serves(1) },
  },
  {
    what: 'a lost call that is listed after months serves, although a wrong clock sent it',
    account: { ...lost, listed: [listed('L', { created_at: at(60) })] },
    clock: { now: at(60 + 40 * 24 * 60) },
    verdicts: { L: serves(1) },
  },
  {
    what: 'of two lost calls, the one about the number of today serves, although it is newer',
    account: {
      calls: [absent({ match_key: 'BEFORE' }), call(2, 1, { sent_at: at(20), is_absent: true })],
      needs: [need(1, 'planned')],
      listed: [
        listed('L1', { match_key: 'BEFORE' }),
        listed('L2', { created_at: at(20) }),
        listed('L3', { created_at: at(5) }),
      ],
    },
    verdicts: { L1: duplicate(1, 1), L2: serves(1, 2), L3: duplicate(1) },
  },
  {
    what: 'of two lost calls, the one about the number of today serves, however old both are',
    account: {
      calls: [absent({ match_key: 'BEFORE' }), call(2, 1, { sent_at: at(20), is_absent: true })],
      needs: [need(1, 'planned')],
      listed: [listed('L1', { match_key: 'BEFORE' }), listed('L2', { created_at: at(20) })],
    },
    clock: { now: at(60 + 40 * 24 * 60) },
    verdicts: { L1: duplicate(1, 1), L2: serves(1, 2) },
  },
  {
    what: 'an own call about a former number comes before one of a lost database that is too old',
    account: {
      calls: [absent({ match_key: 'BEFORE' }), call(2, 1, { sent_at: at(20), is_absent: true })],
      needs: [need(1, 'planned')],
      listed: [
        listed('L1', { match_key: 'BEFORE' }),
        listed('L2', { created_at: at(-40 * 24 * 60) }),
      ],
    },
    verdicts: { L1: serves(1, 1), L2: duplicate(1) },
  },
  {
    what: 'of two calls that no need has, about two numbers, both are kept',
    account: {
      calls: [absent({ match_key: 'BEFORE' }), call(2, 1, { is_absent: true })],
      needs: [need(1, 'over')],
      listed: [listed('L1', { match_key: 'BEFORE' }), listed('L2')],
    },
    verdicts: { L1: unneeded(1), L2: unneeded(1) },
  },
  {
    what: 'a call about the number of today that left late comes before one about a former number',
    account: {
      calls: [absent({ match_key: 'BEFORE' }), call(2, 1)],
      needs: [need(1, 'sought')],
      listed: [listed('L1', { match_key: 'BEFORE' }), listed('L2', { created_at: at(50) })],
    },
    verdicts: { L1: duplicate(1, 1), L2: serves(1) },
  },
  {
    what: 'a call about the number of today comes before an own one about a former number',
    account: {
      calls: [absent({ match_key: 'BEFORE' }), call(2, 1, { sent_at: at(20), is_absent: true })],
      needs: [need(1, 'planned')],
      listed: [listed('L1', { match_key: 'BEFORE' }), listed('L2', { created_at: at(5) })],
    },
    verdicts: { L1: duplicate(1, 1), L2: serves(1) },
  },
  {
    what: 'an inquiry from before the lost call is the absent one that was sent before',
    account: {
      calls: [absent(), call(2, 2, { sent_at: at(15) })],
      needs: [need(1, 'planned'), need(2, 'sought')],
      listed: [listed('L1', { created_at: at(1) }), listed('L2', { created_at: at(16) })],
    },
    verdicts: { L1: serves(1, 1), L2: serves(2, 2) },
  },
  {
    what: 'of two lost needs, the one that was sent first has the call',
    account: {
      calls: [call(2, 2), call(1, 1)],
      needs: [need(2, 'sought'), need(1, 'sought')],
      listed: [listed('L')],
    },
    verdicts: { L: serves(1, 1) },
  },
  {
    what: 'a listed inquiry is the call of one lost need only',
    account: {
      calls: [call(1, 1), call(2, 2)],
      needs: [need(1, 'sought'), need(2, 'sought')],
      listed: [listed('L')],
    },
    verdicts: { L: serves(1, 1) },
  },
  {
    what: 'what a list showed before is not the lost call, although others were sent before',
    account: {
      calls: [
        call(3, 2, { external_id: 'B-1' }),
        absent({ id: 2, sent_at: at(-90 * 24 * 60) }),
        call(7, 1),
      ],
      needs: [need(1, 'sought'), need(2, 'sought', { external_id: 'B-1' })],
      listed: [listed('L', { id: 5, created_at: at(-40 * 24 * 60) })],
    },
    verdicts: { L: is('unclaimed') },
  },
  {
    what: 'two calls of one need: the older one serves, and each is one call',
    account: {
      calls: [absent(), call(2, 1, { sent_at: at(5) })],
      needs: [need(1, 'sought')],
      listed: [listed('L2', { created_at: at(6) }), listed('L1', { created_at: at(1) })],
    },
    verdicts: { L1: serves(1, 1), L2: duplicate(1, 2) },
  },
  {
    what: 'of two calls of one need, the only listed one is the last that had left by then',
    account: {
      calls: [absent(), call(2, 1, { sent_at: at(5) })],
      needs: [need(1, 'sought')],
      listed: [listed('L', { created_at: at(4) - 500 })],
    },
    verdicts: { L: serves(1, 2) },
  },
  {
    what: 'two calls that were accepted after both requests were accepted in their order',
    account: {
      calls: [absent(), call(2, 1, { sent_at: at(5) })],
      needs: [need(1, 'sought')],
      listed: [listed('L1', { created_at: at(6) }), listed('L2', { created_at: at(7) })],
    },
    verdicts: { L1: serves(1, 1), L2: duplicate(1, 2) },
  },
  {
    what: 'of two such calls, one that a list showed before a request is not that call',
    account: {
      calls: [absent(), call(2, 1, { sent_at: at(5) })],
      needs: [need(1, 'sought')],
      listed: [listed('L1', { created_at: at(6) }), listed('L2', { id: 1.5, created_at: at(7) })],
    },
    verdicts: { L1: serves(1, 2), L2: duplicate(1, 1) },
  },
  {
    what: 'two such calls for two names keep their requests, although one list has no name',
    account: {
      calls: [absent({ given_name: 'ANNA' }), call(2, 1, { given_name: 'ANN', sent_at: at(5) })],
      needs: [need(1, 'sought')],
      listed: [
        listed('L1', { given_name: 'ANN', created_at: at(6) }),
        listed('L2', { given_name: '', created_at: at(7) }),
      ],
    },
    verdicts: { L1: serves(1, 2), L2: duplicate(1, 1) },
  },
  {
    what: 'a likelier call of another inquiry may come first',
    account: {
      calls: [absent(), call(2, 2, { sent_at: at(1) })],
      needs: [need(1, 'over'), need(2, 'sought')],
      listed: [listed('L1', { created_at: at(2) }), listed('L2', { created_at: at(3) })],
    },
    verdicts: { L1: serves(2, 2), L2: unneeded(1) },
  },
  {
    what: 'two calls without a time were accepted in the order of their IDs',
    account: {
      calls: [absent(), call(2, 1, { sent_at: at(5) })],
      needs: [need(1, 'sought')],
      listed: [listed('L1', { created_at: null }), listed('L2', { created_at: null })],
    },
    verdicts: { L1: serves(1, 1), L2: duplicate(1, 2) },
  },
  {
    what: 'of two calls of one need that had not left by a wrong clock, the older one is listed',
    account: {
      calls: [absent({ sent_at: at(5) }), call(2, 1, { sent_at: at(8) })],
      needs: [need(1, 'sought')],
      listed: [listed('L')],
    },
    verdicts: { L: serves(1, 1) },
  },
  {
    what: 'the older of two listed calls is the first one, so the newer is no stranger’s call',
    account: {
      calls: [absent(), call(2, 1, { sent_at: at(16) })],
      needs: [need(1, 'sought')],
      listed: [listed('L1', { created_at: at(8) }), listed('L2', { created_at: at(22) })],
    },
    clock: later,
    verdicts: { L1: serves(1, 1), L2: duplicate(1, 2) },
  },
  {
    what: 'an inquiry whose reply is in progress is left to the reply',
    account: { calls: [call(1, 1)], needs: [need(1, 'out')], listed: [listed('L')] },
    verdicts: { L: is('undecided') },
  },
  {
    what: 'a call that was proven absent and is listed late is a duplicate of the one that serves',
    account: { calls: [absent()], needs: [need(1, 'served')], listed: [listed('L')] },
    verdicts: { L: duplicate(1, 1) },
  },
  {
    what: 'an inquiry made long after the absent call is not that call',
    account: {
      calls: [absent()],
      needs: [need(1, 'served')],
      listed: [listed('L', { created_at: at(22) })],
    },
    verdicts: { L: is('unclaimed') },
  },
  {
    what: 'a call that seemed absent serves its inquiry, which is due again',
    account: {
      calls: [absent()],
      needs: [need(1, 'planned'), need(2, 'calling', { external_id: 'B-1' })],
      listed: [listed('L')],
    },
    verdicts: { L: serves(1, 1) },
  },
  {
    what: 'a duplicate call serves instead of the next call, however old it is',
    account: {
      calls: [absent({ sent_at: at(-60 * 24 * 60), match_key: 'BEFORE' })],
      needs: [need(1, 'calling')],
      listed: [listed('L', { match_key: 'BEFORE', created_at: at(-60 * 24 * 60) })],
    },
    verdicts: { L: serves(1, 1) },
  },
  {
    what: 'a need that its own call serves takes no other one',
    account: {
      calls: [absent()],
      needs: [need(1, 'calling')],
      listed: [listed('L1'), listed('L2', { external_id: 'OLD' })],
    },
    verdicts: { L1: serves(1, 1), L2: is('unclaimed') },
  },
  {
    what: 'a duplicate call of an inquiry serves it if no other call does',
    account: {
      needs: [need(1, 'calling')],
      listed: [listed('L', { owner: { inquiry: 1, role: 'duplicate' } })],
    },
    verdicts: { L: serves(1, null) },
  },
  {
    what: 'a duplicate call about a former claim number serves its inquiry',
    account: {
      needs: [need(1, 'calling')],
      listed: [listed('L', { owner: { inquiry: 1, role: 'duplicate' }, match_key: 'BEFORE' })],
    },
    verdicts: { L: serves(1, null) },
  },
  {
    what: 'a duplicate call of an inquiry leaves calls that nobody has to others',
    account: {
      needs: [need(1, 'calling')],
      listed: [listed('L1'), listed('L2', { owner: { inquiry: 1, role: 'duplicate' } })],
    },
    verdicts: { L1: is('unclaimed'), L2: serves(1, null) },
  },
  {
    what: 'a duplicate call of an inquiry that is too old does not serve it',
    account: {
      needs: [need(1, 'calling')],
      listed: [
        listed('L', {
          owner: { inquiry: 1, role: 'duplicate' },
          created_at: at(-60 * 24 * 60),
        }),
      ],
    },
    verdicts: { L: duplicate(1, null) },
  },
  {
    what: 'a duplicate call of another inquiry does not serve',
    account: {
      needs: [need(1, 'calling'), need(2, 'over')],
      listed: [listed('L', { owner: { inquiry: 2, role: 'duplicate' } })],
    },
    verdicts: { L: duplicate(2, null) },
  },
  {
    what: 'of two duplicate calls that no need has, one is kept and one is a duplicate',
    account: {
      calls: [absent(), call(2, 1, { is_absent: true, sent_at: at(12) })],
      needs: [need(1, 'over')],
      listed: [listed('L1'), listed('L2', { created_at: at(12) })],
    },
    verdicts: { L1: unneeded(1), L2: duplicate(1, 2) },
  },
  {
    what: 'an inquiry that is looked up comes before one that was proven absent',
    account: {
      calls: [absent(), call(2, 2)],
      needs: [need(1, 'served'), need(2, 'sought')],
      listed: [listed('L')],
    },
    verdicts: { L: serves(2, 2) },
  },
  {
    what: 'a duplicate call belongs to a need before anything else',
    account: {
      calls: [absent(), call(2, 2, { is_absent: true })],
      needs: [need(1, 'over'), need(2, 'served')],
      listed: [listed('L')],
    },
    verdicts: { L: duplicate(2, 2) },
  },
  {
    what: 'a claimed inquiry stays claimed, and one that is looked up has no second call',
    account: {
      calls: [absent()],
      needs: [need(1, 'sought'), need(2, 'served')],
      listed: [
        listed('OWN', { owner: { inquiry: 1, role: 'serves' } }),
        listed('L'),
        listed('TWICE', { owner: { inquiry: 2, role: 'duplicate' } }),
      ],
    },
    verdicts: { OWN: serves(1), L: duplicate(1, 1), TWICE: duplicate(2) },
  },
  {
    what: 'a call of a lost database serves instead of the next call',
    account: { needs: [need(1, 'calling')], listed: [listed('L', { external_id: 'OLD' })] },
    verdicts: { L: serves(1) },
  },
  {
    what: 'an inquiry that asks something else serves no visit',
    account: { needs: [need(1, 'calling')], listed: [listed('L', { match_key: 'OTHER' })] },
    verdicts: { L: is('unclaimed') },
  },
  {
    what: "a twin's call serves no visit of the other one, under whichever label",
    account: {
      needs: [need(1, 'calling')],
      listed: [
        listed('L1', { given_name: 'BEN' }),
        listed('L2', { given_name: 'BEN', external_id: 'B-1' }),
      ],
    },
    verdicts: { L1: is('unclaimed'), L2: is('unclaimed') },
  },
  {
    what: 'without a name, the need’s own label decides',
    account: {
      needs: [need(1, 'calling')],
      listed: [
        listed('L1', { given_name: '', external_id: 'B-1', created_at: at(-9) }),
        listed('L2', { given_name: '' }),
      ],
    },
    verdicts: { L1: is('unclaimed'), L2: serves(1) },
  },
  {
    what: 'without a name, a call with another label is doubtful',
    account: {
      needs: [need(1, 'calling')],
      listed: [listed('L', { given_name: '', external_id: 'B-1' })],
    },
    verdicts: { L: doubtful(1) },
  },
  {
    what: 'if we do not know the patient’s name, a call that has one is doubtful',
    account: { needs: [need(1, 'calling', { given_name: '' })], listed: [listed('L')] },
    verdicts: { L: doubtful(1) },
  },
  {
    what: 'a call with an unreadable request is doubtful under the need’s label',
    account: {
      needs: [need(1, 'calling')],
      listed: [
        listed('L1', { match_key: '' }),
        listed('L2', { match_key: '', external_id: 'B-1' }),
      ],
    },
    verdicts: { L1: doubtful(1), L2: is('unclaimed') },
  },
  {
    what: 'a call whose echo leaves out a field is doubtful under the need’s label',
    account: {
      needs: [need(1, 'calling', { match_key: 'CLAIM|W1|7' })],
      listed: [
        listed('L1', { match_key: 'CLAIM|W1|' }),
        listed('L2', { match_key: 'CLAIM|W1|8' }),
        listed('L3', { match_key: 'CLAIM|W1|', external_id: 'B-1' }),
      ],
    },
    verdicts: { L1: doubtful(1), L2: is('unclaimed'), L3: is('unclaimed') },
  },
  {
    what: 'a call that ended without an answer is not doubtful',
    account: {
      needs: [need(1, 'calling')],
      listed: [
        listed('L1', { match_key: '', status: 'CANCELLED' }),
        listed('L2', { match_key: '', status: 'UNSUCCESSFUL' }),
      ],
    },
    verdicts: { L1: is('unclaimed'), L2: is('unclaimed') },
  },
  {
    what: 'an old call is not doubtful',
    account: {
      needs: [need(1, 'calling')],
      listed: [listed('L', { match_key: '', created_at: at(-30 * 24 * 60) })],
    },
    verdicts: { L: is('unclaimed') },
  },
  {
    what: 'a call that seemed absent serves its own need, which is due again',
    account: {
      calls: [absent({ inquiry: 2, external_id: 'OLD' })],
      needs: [need(1, 'calling'), need(2, 'planned', { external_id: 'B-1' })],
      listed: [listed('L', { external_id: 'OLD' })],
    },
    verdicts: { L: serves(2, 1) },
  },
  {
    what: 'an answer that would be too old serves no visit',
    account: {
      needs: [need(1, 'calling')],
      listed: [listed('L', { created_at: at(-30 * 24 * 60) })],
    },
    verdicts: { L: is('unclaimed') },
  },
  {
    what: 'a call of unknown time serves',
    account: { needs: [need(1, 'calling')], listed: [listed('L', { created_at: null })] },
    verdicts: { L: serves(1) },
  },
  {
    what: 'a call with the label of another waiting need is left to that need',
    account: {
      needs: [need(1, 'calling'), need(2, 'planned', { external_id: 'B-1' })],
      listed: [listed('L', { external_id: 'B-1' })],
    },
    verdicts: { L: is('unclaimed') },
  },
  {
    what: 'of two with the label of another need that is planned, one is left to that need',
    account: {
      needs: [need(1, 'calling'), need(2, 'planned', { external_id: 'B-1' })],
      listed: [
        listed('L1', { external_id: 'B-1' }),
        listed('L2', { external_id: 'B-1', created_at: at(1) }),
      ],
    },
    verdicts: { L1: is('unclaimed'), L2: serves(1) },
  },
  {
    what: 'of two with its label, the canceled one does not serve',
    account: {
      needs: [need(1, 'calling')],
      listed: [listed('L1', { status: 'CANCELLED' }), listed('L2', { created_at: at(1) })],
    },
    verdicts: { L1: is('unclaimed'), L2: serves(1) },
  },
  {
    what: 'a canceled one with its label serves before one with another label',
    account: {
      needs: [need(1, 'calling')],
      listed: [listed('L1', { external_id: 'OLD' }), listed('L2', { status: 'CANCELLED' })],
    },
    verdicts: { L1: is('unclaimed'), L2: serves(1) },
  },
  {
    what: 'a need that is planned keeps the one that may bring an answer',
    account: {
      needs: [need(1, 'calling'), need(2, 'planned', { external_id: 'B-1' })],
      listed: [
        listed('L1', { external_id: 'B-1', status: 'CANCELLED' }),
        listed('L2', { external_id: 'B-1', created_at: at(1) }),
      ],
    },
    verdicts: { L1: is('unclaimed'), L2: is('unclaimed') },
  },
  {
    what: 'a canceled call under the label of a need that is planned is left to that need',
    account: {
      needs: [need(1, 'calling'), need(2, 'planned', { external_id: 'B-1' })],
      listed: [
        listed('L1', { external_id: 'B-1' }),
        listed('L2', { external_id: 'B-1', status: 'CANCELLED' }),
      ],
    },
    verdicts: { L1: is('unclaimed'), L2: is('unclaimed') },
  },
  {
    what: 'each need that is planned keeps one',
    account: {
      needs: [
        need(1, 'calling'),
        need(2, 'planned', { external_id: 'B-1' }),
        need(3, 'planned', { external_id: 'B-1' }),
        need(4, 'planned', { external_id: 'C-1' }),
      ],
      listed: ['L1', 'L2', 'L3'].map((id) => listed(id, { external_id: 'B-1' })),
    },
    verdicts: { L1: is('unclaimed'), L2: is('unclaimed'), L3: serves(1) },
  },
  {
    what: 'each call under its label may be the one of a need whose reply is awaited',
    account: {
      needs: [need(1, 'calling'), need(2, 'out', { external_id: 'B-1' })],
      listed: [listed('L1', { external_id: 'B-1' }), listed('L2', { external_id: 'B-1' })],
    },
    verdicts: { L1: is('unclaimed'), L2: is('unclaimed') },
  },
  {
    what: 'a need that the list has just served keeps no other one',
    account: {
      calls: [absent({ inquiry: 2, external_id: 'B-1' })],
      needs: [
        need(1, 'calling'),
        need(2, 'planned', { external_id: 'B-1' }),
        need(3, 'calling'),
        need(4, 'sought', { external_id: 'C-1' }),
      ],
      listed: [
        listed('L1', { external_id: 'B-1' }),
        listed('L2', { external_id: 'B-1', created_at: at(50) }),
        listed('L3', { external_id: 'C-1' }),
        listed('L4', { external_id: 'C-1', created_at: at(51) }),
      ],
    },
    verdicts: { L1: serves(2, 1), L2: serves(1), L3: serves(4), L4: serves(3) },
  },
  {
    what: 'a call that the times explain as a duplicate of another need is not a lost call',
    account: {
      calls: [absent(), call(2, 2, { sent_at: at(-60) })],
      needs: [need(1, 'served'), need(2, 'sought')],
      listed: [listed('L')],
    },
    verdicts: { L: duplicate(1, 1) },
  },
  {
    what: 'of two lost needs that ask the same under one label, each gets one',
    account: {
      calls: [absent({ match_key: 'BEFORE' }), call(2, 1), call(3, 2)],
      needs: [need(1, 'sought'), need(2, 'sought')],
      listed: [
        listed('L1', { match_key: 'BEFORE' }),
        listed('L2', { created_at: at(50) }),
        listed('L3', { created_at: at(51) }),
      ],
    },
    verdicts: { L1: duplicate(1, 1), L2: serves(1), L3: serves(2) },
  },
  {
    what: 'a call without a name is doubtful, also under the label of a twin who has another',
    account: {
      needs: [need(1, 'calling'), need(2, 'planned', { external_id: 'B-1', given_name: 'BEN' })],
      listed: [
        listed('L1', { external_id: 'B-1', given_name: '' }),
        listed('L2', { external_id: 'B-1', given_name: '' }),
      ],
    },
    verdicts: { L1: doubtful(1), L2: doubtful(1) },
  },
  {
    what: 'a need that has its call, or waits for none, keeps no other one',
    account: {
      needs: [
        need(1, 'calling'),
        need(2, 'served', { external_id: 'B-1' }),
        need(3, 'over', { external_id: 'B-1' }),
      ],
      listed: [listed('L', { external_id: 'B-1' })],
    },
    verdicts: { L: serves(1) },
  },
  {
    what: 'of several, the one under the label of its own visits serves, else the oldest',
    account: {
      needs: [need(1, 'calling', { labels: ['A-1', 'A-2'] })],
      listed: [
        listed('L1', { external_id: 'OLD', created_at: at(-9) }),
        listed('L2', { external_id: 'A-2' }),
      ],
    },
    verdicts: { L1: is('unclaimed'), L2: serves(1) },
  },
  {
    what: 'a call about another claim of the same day does not serve a claim without a number',
    account: {
      needs: [need(1, 'calling', UNNUMBERED)],
      listed: [
        listed('L1', { ...UNNUMBERED, external_id: 'B', created_at: at(-9) }),
        listed('L2', { ...UNNUMBERED, external_id: 'B', given_name: '' }),
        listed('L3', UNNUMBERED),
      ],
    },
    verdicts: { L1: is('unclaimed'), L2: is('unclaimed'), L3: serves(1) },
  },
  {
    what: 'without a call under its label, a claim without a number has no call',
    account: {
      needs: [need(1, 'calling', UNNUMBERED)],
      listed: [
        listed('L1', { ...UNNUMBERED, external_id: 'B' }),
        listed('L2', { ...UNNUMBERED, external_id: '', given_name: '' }),
      ],
    },
    verdicts: { L1: is('unclaimed'), L2: is('unclaimed') },
  },
  {
    what: 'the oldest call of a lost database serves',
    account: {
      needs: [need(1, 'calling')],
      listed: [
        listed('L1', { external_id: 'B' }),
        listed('L2', { external_id: 'C', created_at: at(-9) }),
      ],
    },
    verdicts: { L1: is('unclaimed'), L2: serves(1) },
  },
  {
    what: 'a duplicate call of the previous attempt serves as the next attempt',
    account: {
      needs: [need(2, 'calling', { earlier: [1] }), need(1, 'served')],
      listed: [listed('D', { owner: { inquiry: 1, role: 'duplicate' } })],
    },
    verdicts: { D: serves(2) },
  },
  {
    what: 'the call of the previous attempt is not another attempt',
    account: {
      needs: [need(2, 'calling', { earlier: [1] }), need(1, 'served')],
      listed: [listed('S', { owner: { inquiry: 1, role: 'serves' } })],
    },
    verdicts: { S: serves(1) },
  },
  {
    what: 'a duplicate call of another need, of a twin, or that was cancelled serves nothing',
    account: {
      needs: [need(2, 'calling', { earlier: [1] }), need(1, 'served'), need(3, 'served')],
      listed: [
        listed('D1', { owner: { inquiry: 3, role: 'duplicate' } }),
        listed('D2', { owner: { inquiry: 1, role: 'duplicate' }, given_name: 'BEN' }),
        listed('D3', { owner: { inquiry: 1, role: 'duplicate' }, status: 'CANCELLED' }),
      ],
    },
    verdicts: { D1: duplicate(3), D2: duplicate(1), D3: duplicate(1) },
  },
  {
    what: 'a call that seemed absent, for an inquiry that was withdrawn, may serve the next one',
    account: {
      calls: [absent()],
      needs: [need(1, 'over'), need(2, 'calling')],
      listed: [listed('L')],
    },
    verdicts: { L: serves(2) },
  },
  {
    what: 'a call that was withdrawn before it seemed absent surprises nobody',
    account: { calls: [call(1, 1)], needs: [need(1, 'over')], listed: [listed('L')] },
    verdicts: { L: is('unclaimed') },
  },
  {
    what: 'a withdrawn call without an ID does not hide one that seemed absent',
    account: {
      calls: [absent(), call(2, 1, { sent_at: at(12) })],
      needs: [need(1, 'over')],
      listed: [listed('L')],
    },
    verdicts: { L: unneeded(1) },
  },
  {
    what: 'an inquiry from before a withdrawn call is not needed either, and costs as much',
    account: {
      calls: [absent()],
      needs: [need(1, 'over')],
      listed: [listed('L', { created_at: at(-60) })],
    },
    verdicts: { L: unneeded(1) },
  },
];
