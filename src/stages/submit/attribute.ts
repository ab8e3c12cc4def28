/**
 * Applies the verdicts of `domain/attribution.ts` to the inquiries at the service. Used by a
 * lookup, by the reconciliation of the whole list, by the check before a call, and, for an inquiry
 * that has more than one call, after a reply.
 */
import { attribute } from '../../domain/attribution.ts';
import type {
  Account,
  Clock,
  ListedCall,
  MadeCall,
  Need,
  Stage,
} from '../../domain/attribution-account.ts';
import { claimAsSent, givenNameOf, readDraft } from '../../domain/inquiry.ts';
import { canonicalExternalId } from '../../domain/matching.ts';
import { externalId } from '../../domain/needs.ts';
import type { Specialty } from '../../domain/specialty.ts';
import { DAY_MS } from '../../domain/time.ts';
import { isOnList, resolveAttention } from '../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../store/bookkeeping/audit.ts';
import type { MadeCallRow } from '../../store/calls/absent-calls.ts';
import { attemptsBefore } from '../../store/calls/attempts.ts';
import {
  type Assignment,
  assignListedCall,
  type CallRow,
  callsAlike,
  callsOf,
  releaseIds,
  type SeenInquiry,
  settleCalls,
} from '../../store/calls/calls.ts';
import { doubtsOf } from '../../store/calls/doubtful-calls.ts';
import {
  type InquiryRow,
  inquiriesById,
  inquiriesByMatch,
  inquiryById,
  moveInquiries,
  updateInquiry,
} from '../../store/calls/inquiries.ts';
import { raiseForInquiry } from '../../store/calls/inquiry-attention.ts';
import { appointmentsOf } from '../../store/calls/links.ts';
import { priceNow, type SubmitContext, type SubmitDeps } from './deps.ts';
import { waitForOffice } from './doubtful-calls.ts';

export type Question = {
  specialty: Specialty;
  match_keys: readonly string[];
  /** In a lookup, the IDs that the list has just returned. */
  shown?: ReadonlySet<string>;
  comparison?: Comparison;
  /** The inquiry that eligd is about to send. */
  calling?: Calling | null;
};

/**
 * `unseen`: IDs that no list had shown. `compared_at`: since when they may be strangers'.
 * `is_released`: the office has resumed submission since the last comparison.
 */
type Comparison = Pick<Account, 'is_whole' | 'sought'> &
  Pick<Clock, 'compared_at'> & { unseen: ReadonlySet<string>; is_released: boolean };

type Calling = { row: InquiryRow; labels: readonly string[]; earlier: readonly number[] };

/**
 * `served`: the inquiries that an inquiry at the service now serves. `doubtful`: IDs of listed
 * inquiries that may be calls for the inquiry that eligd is about to send.
 */
type Attributed = {
  served: ReadonlySet<number>;
  strangers: number;
  doubtful: readonly string[];
};

/**
 * Decides to which of our inquiries each listed inquiry with these match keys belongs, and records
 * the result (G1).
 */
export async function attributeCalls(
  context: SubmitContext,
  question: Question,
): Promise<Attributed> {
  const { deps, now } = context;
  const { settle_ms, timeout_ms, reverify_after_days } = deps.settings;
  const { account, rows } = await gather(context, question);
  const verdicts = attribute(account, {
    now: now - (deps.clockSkew() ?? 0),
    settle_ms,
    timeout_ms,
    reverify_ms: reverify_after_days * DAY_MS,
    compared_at: question.comparison?.compared_at ?? null,
  });
  const served = new Set<number>();
  const doubtful: string[] = [];
  let strangers = 0;
  for (const each of account.listed) {
    const verdict = verdicts.get(each.service_id);
    // One without a time may be from before the release: the office knows of it.
    const is_known = each.created_at === null && question.comparison?.is_released === true;
    if (verdict?.is === 'stranger' && !is_known) strangers += 1;
    if (verdict?.is === 'doubtful') doubtful.push(each.service_id);
    const row = verdict !== undefined && 'inquiry' in verdict ? rows.get(verdict.inquiry) : null;
    if (verdict?.is === 'unneeded' && row != null && each.is_new)
      await reportUnneeded(context, row, each);
    if ((verdict?.is !== 'call' && verdict?.is !== 'duplicate') || row == null) continue;
    const found = { ...each, service_status: each.status, call: verdict.call };
    if (verdict.is === 'duplicate') {
      if (each.owner === null) await report(context, row, found);
    } else if (row.state in FOUND_IN_STATE) {
      await serve(context, row, found);
      served.add(row.id);
      for (const { id } of rows.values())
        if ([row.id, each.owner?.inquiry].includes(id) || (await isReported(context, id, each)))
          await resolveDuplicates(context, id);
    }
  }
  // Any other listed call of an inquiry that is now served is a duplicate call.
  const { specialty } = question;
  for (const id of served) await attributeDuplicates(context, { id, specialty });
  return { served, strangers, doubtful };
}

/**
 * Marks the other calls of an inquiry that has its call: those that a list has shown are
 * duplicates.
 */
export async function attributeDuplicates(
  context: SubmitContext,
  { id, specialty }: Pick<InquiryRow, 'id' | 'specialty'>,
): Promise<void> {
  const others = (await callsOf(context.tx, [id])).filter(({ fate }) => fate === 'absent');
  const match_keys = [...new Set(others.map(({ match_key }) => match_key))];
  if (match_keys.length > 0) await attributeCalls(context, { specialty, match_keys });
}

/**
 * Checks before a call whether the service already holds an inquiry that can serve the row (G1).
 * `wait`: the service holds one that may be for the row, and the row waits for the office.
 */
export async function checkBeforeCall(
  context: SubmitContext,
  row: InquiryRow,
  external_id_template: string,
): Promise<'served' | 'wait' | 'call'> {
  const { tx } = context;
  // The check for another call of the same claim may have found this one's.
  if ((await inquiryById(tx, row.id))?.state !== 'planned') return 'served';
  const visits = await appointmentsOf(tx, row.id);
  const labels = visits.map(({ connector, source_id }) =>
    canonicalExternalId(externalId(external_id_template, connector, source_id)),
  );
  labels.push(canonicalExternalId(row.external_id));
  const calls = await callsOf(tx, [row.id]);
  const match_keys = [...new Set([row.match_key, ...calls.map((call) => call.match_key)])];
  const earlier = await attemptsBefore(tx, row);
  const { specialty } = row;
  const question = { specialty, match_keys, calling: { row, labels, earlier } };
  const { served, doubtful } = await attributeCalls(context, question);
  if (served.has(row.id)) return 'served';
  return (await waitForOffice(context, { row, earlier, doubtful })) ? 'wait' : 'call';
}

/**
 * Reads the calls and needs that share the match keys; before a call, also calls under its labels
 * whose requests cannot be read in full, and those of earlier attempts.
 */
async function gather({ tx, now }: SubmitContext, question: Question) {
  const { specialty, match_keys, calling = null, comparison } = question;
  const { labels = [], earlier = [] } = calling ?? {};
  const asking = await inquiriesByMatch(tx, specialty, match_keys);
  const { sought = [], is_whole = true } = comparison ?? {};
  // The claim of a call that the label's list shows may have another number now.
  const of = is_whole ? earlier : asking.map(({ id }) => id);
  const calls = await callsAlike(tx, { specialty, match_keys, labels, of });
  const owners = new Set(calls.flatMap(({ inquiry }) => inquiry ?? []));
  for (const { id } of asking) owners.delete(id);
  const rows = new Map(
    [...asking, ...(await inquiriesById(tx, [...owners]))].map((row) => [row.id, row]),
  );
  const account = {
    listed: calls.flatMap((call) => listedOf(call, question)),
    calls: calls
      .filter(({ service_id }) => service_id === null)
      .flatMap((call) => madeCallOf(call, now)),
    needs: [...rows.values()].map((row) => needOf(row, calling)),
    sought,
    is_whole,
  };
  return { account, rows };
}

/** Returns the call as an inquiry that the service lists; empty if it does not count as listed. */
function listedOf(call: CallRow, { shown, comparison }: Question): ListedCall[] {
  const { id, service_id, inquiry, role, external_id, match_key, given_name } = call;
  if (service_id === null) return [];
  // An inquiry that serves a row counts only when the list shows it now: the row may be the subject
  // of another lookup.
  if (role === 'serves' && shown?.has(service_id) !== true) return [];
  const owner =
    inquiry === null || role === null || role === 'unclaimed' ? null : { inquiry, role };
  const is_new = comparison?.unseen.has(service_id) === true;
  const created_at = call.sent_service_at;
  const status = call.service_status;
  const asked = { external_id, match_key, given_name };
  return [{ ...asked, id, service_id, status, created_at, owner, is_new }];
}

/** Returns the call as a request of ours; empty if it is not. */
export function madeCallOf(
  call: MadeCallRow,
  now: number,
  is_absent = call.fate === 'absent',
): MadeCall[] {
  const { id, inquiry, external_id, match_key, given_name, fate } = call;
  if (inquiry === null || fate === 'unsent') return [];
  const { sent_service_at } = call;
  const sent_at = sent_service_at ?? call.sent_at ?? now;
  const asked = { external_id, match_key, given_name };
  return [{ ...asked, id, inquiry, sent_at, sent_service_at, is_absent }];
}

function needOf(row: InquiryRow, calling: Calling | null): Need {
  const external_id = canonicalExternalId(row.external_id);
  const is_calling = row.id === calling?.row.id;
  return {
    inquiry: row.id,
    external_id,
    match_key: row.match_key,
    given_name: givenNameOf(row),
    stage: is_calling ? 'calling' : stageOf(row),
    labels: is_calling ? calling.labels : [external_id],
    earlier: is_calling ? calling.earlier : [],
  };
}

function stageOf({ state, service_id }: InquiryRow): Stage {
  if (state === 'planned') return 'planned';
  if (state === 'sending') return 'out';
  if (state === 'uncertain' || (state === 'undecidable' && service_id === null)) return 'sought';
  return state === 'rejected' || state === 'withdrawn' ? 'over' : 'served';
}

type Found = SeenInquiry & { call: number | null };

/** Binds the row to the inquiry at the service whose content a list showed. */
async function serve(context: SubmitContext, row: InquiryRow, found: Found): Promise<void> {
  const { tx, deps, now } = context;
  const { service_id, created_at } = found;
  const set = {
    service_status: found.service_status || null,
    hold_reason: null,
    lookup_at: null,
    poll_at: now,
    empty_polls: 0,
    // Later queries use the label that the call was sent with.
    ...(canonicalExternalId(row.external_id) === found.external_id
      ? {}
      : { external_id: found.external_id }),
  };
  const { reason, event } = FOUND_IN_STATE[row.state as keyof typeof FOUND_IN_STATE];
  await moveInquiries(tx, [row.id], { from: row.state, to: 'open', reason, set }, now);
  await settleCalls(tx, [row.id], 'absent');
  if (row.service_id !== null && row.service_id !== service_id)
    await releaseIds(tx, [row.id], 'absent');
  const bill = billOf(deps, row, created_at ?? now);
  await assignListedCall(tx, { ...found, inquiry: row.id, role: 'serves', bill });
  if (found.match_key !== row.match_key) await askAsCalled(context, row);
  // Of an inquiry that was sent, the office still has to ask about other doubtful calls.
  const doubts = [...(await doubtsOf(tx, [row.id])).keys()];
  const is_clear = row.state === 'planned' || doubts.every((id) => id === service_id);
  const ended = is_clear ? [...ENDED, 'doubtful_call' as const] : ENDED;
  await resolveAttention(tx, inquirySubject(row.id), now, ended);
  tx.after(() => {
    deps.env.log(event, { inquiry: row.id, service_id });
    deps.onOpen();
  });
}

/**
 * Restores the claim as the call asked about it: the practice has corrected its number or date
 * since. The answer is about the former one, and planning asks about the corrected one (G2).
 */
async function askAsCalled({ tx, now }: SubmitContext, row: InquiryRow): Promise<void> {
  const [call] = (await callsOf(tx, [row.id])).filter(({ role }) => role === 'serves');
  if (call === undefined) return;
  const draft = readDraft(row.draft);
  const asked = draft === null ? {} : { draft: JSON.stringify(claimAsSent(draft, call)) };
  await updateInquiry(tx, row.id, { match_key: call.match_key, ...asked }, now);
}

/** What kept the inquiry from its call, or eligd from knowing of its call. */
const ENDED = ['inquiry_unreadable', 'unconfirmed', 'undecidable'] as const;

const FOUND_IN_STATE = {
  planned: {
    reason: 'The service already has an inquiry for this, so no call is made.',
    event: 'inquiry_adopted',
  },
  uncertain: {
    reason: 'The service has the inquiry; only its reply was lost.',
    event: 'inquiry_found',
  },
  undecidable: {
    reason: 'The service has the inquiry; its list showed it later than expected.',
    event: 'inquiry_found',
  },
} as const;

/**
 * Returns when a call that this database does not know was sent, and its price: it is billed like
 * any other, and in place of a call of the row that got lost.
 */
function billOf(
  deps: Pick<SubmitDeps, 'settings'>,
  row: InquiryRow,
  created_at: number,
): NonNullable<Assignment['bill']> {
  const { sent_at, price_cents, free_outcomes } = row;
  if (sent_at !== null) return { sent_at, price_cents, free_outcomes };
  const draft = readDraft(row.draft);
  const price = draft === null ? {} : priceNow(deps, draft, created_at);
  return { sent_at: created_at, ...price };
}

/** Records a duplicate call and puts it on the attention list, because the office pays for it. */
async function report(context: SubmitContext, row: InquiryRow, found: Found): Promise<void> {
  const { tx, deps, now } = context;
  const { service_id } = found;
  await assignListedCall(tx, { ...found, inquiry: row.id, role: 'duplicate' });
  tx.after(() => deps.env.log('duplicate_call_found', { inquiry: row.id, service_id }));
  await raiseForInquiry(
    tx,
    row,
    {
      reason: 'duplicate_call',
      what: `The service has a second inquiry (${service_id}) for the same question.`,
      next:
        'Ask the calling service not to charge for it, and raise service.settle_seconds if it ' +
        'happens again.',
    },
    now,
  );
}

/**
 * Tells the office of a call that the service did not list in time: it costs money, and nothing
 * needs it, because the visit was canceled, the service refused the next call, or another record
 * of the patient got one.
 */
async function reportUnneeded(
  { tx, deps, now }: SubmitContext,
  row: InquiryRow,
  { service_id }: ListedCall,
): Promise<void> {
  tx.after(() => deps.env.log('unneeded_call_found', { inquiry: row.id, service_id }));
  await raiseForInquiry(
    tx,
    row,
    {
      reason: 'duplicate_call',
      what:
        `The service has an inquiry (${service_id}) that its list did not show in time. Nothing ` +
        'needs the call now.',
      next:
        'Ask the calling service to cancel it or not to charge for it, and raise ' +
        'service.settle_seconds if it happens again. If eligd needs the answer after all, it ' +
        'uses this call, and this entry ends.',
    },
    now,
  );
}

/** Returns whether the office was told of the listed inquiry as a call for this one of ours. */
const isReported = ({ tx }: SubmitContext, inquiry: number, { service_id }: ListedCall) =>
  isOnList(tx, inquirySubject(inquiry), 'duplicate_call', `(${service_id})`);

/**
 * Resolves the attention item when every duplicate call of the inquiry now serves a later attempt;
 * then the office has no refund to request.
 */
async function resolveDuplicates({ tx, now }: SubmitContext, inquiry: number): Promise<void> {
  const calls = await callsOf(tx, [inquiry]);
  if (calls.every(({ role }) => role !== 'duplicate'))
    await resolveAttention(tx, inquirySubject(inquiry), now, ['duplicate_call']);
}
