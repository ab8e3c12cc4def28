/**
 * Decides what `eligd retry`, `hold`, `release`, and `withdraw` do to an inquiry;
 * `store/bookkeeping/operator.ts` stores it. Nothing here makes a second call possible (G1): eligd
 * looks up what may be at the service before it sends it again.
 */
import { actorName } from './actor.ts';
import type { AttentionReason } from './attention.ts';
import { outcomeOf } from './outcome.ts';
import { type InquiryState, isInquiryStep } from './states.ts';

/** The hold reason for an inquiry that the operator holds; planning keeps it. */
export const OPERATOR_HOLD = 'operator';

/** Returns the reason for the audit trail. */
export const requestedBy = (actor: string | undefined): string =>
  `Requested by ${actor === undefined ? 'the operator' : actorName(actor)}.`;

/** One sentence for each action that was done, or that cannot be done and why. */
export type Done = { did: boolean; what: string };

/** Joins the sentences for the audit trail. */
export const said = (done: readonly Done[]): string =>
  done.length === 0 ? 'Nothing changed.' : done.map(({ what }) => what).join(' ');

export type OperatedInquiry = {
  id: number;
  state: InquiryState;
  hold_reason: string | null;
  service_status: string | null;
  /** 1: the service said that it has the call, so absence leads to no other. */
  was_accepted?: number | null;
};

/** Columns that an operation sets; `now` is the time of the operation. */
export type OperatedColumns = Partial<{
  lookup_at: 'now';
  poll_at: 'now';
  due_at: 'now';
  empty_lookups: 0;
  hold_reason: string | null;
  is_ordered: 0;
}>;

export type Operation = {
  done: Done | null;
  /** Null: nothing changes. `to` is the new state, or null if the state does not change. */
  change: null | {
    to: InquiryState | null;
    columns: OperatedColumns;
    /** The audit trail's word for a change without a new state; null: not in the audit trail. */
    note: string | null;
    /** Attention items about the inquiry that the operation resolves: 'all', or these. */
    resolves: readonly AttentionReason[] | 'all';
  };
};

const unchanged = (what: string): Operation => ({ done: { did: false, what }, change: null });

const changed = (
  what: string,
  columns: OperatedColumns,
  change: Partial<NonNullable<Operation['change']>> = {},
): Operation => ({
  done: { did: true, what },
  change: { to: null, note: null, resolves: [], columns, ...change },
});

/** Retries an inquiry now that is waiting or was given up. */
export function retryInquiry(row: OperatedInquiry): Operation {
  const name = `Inquiry ${row.id}`;
  const after = row.hold_reason === null ? '' : ' after "eligd release"';
  switch (row.state) {
    case 'uncertain':
      return changed(
        `eligd looks up ${name.toLowerCase()} at the service now. It is sent again only if the ` +
          'service provably does not have it' +
          (row.hold_reason === null ? '.' : ', and after "eligd release".'),
        { lookup_at: 'now' },
      );
    case 'undecidable':
      return changed(
        `eligd looks up ${name.toLowerCase()} twice more. It is not sent again, because the ` +
          'service said that it has it.',
        { lookup_at: 'now', empty_lookups: 0 },
        { to: 'uncertain', resolves: ['undecidable', 'lost_at_service'] },
      );
    case 'rejected':
      return changed(
        `${name} is sent again unchanged${after}, if it is still needed and not too late. ` +
          'The service rejected it, so no call exists.',
        { due_at: 'now' },
        { to: 'planned', resolves: ['refused'] },
      );
    case 'open':
      return changed(`The service has ${name.toLowerCase()}; eligd asks for the answer now.`, {
        poll_at: 'now',
      });
    case 'planned':
      return unchanged(
        row.hold_reason === null
          ? `${name} is sent automatically when it is due.`
          : `${name} is on hold. Run "eligd release" to resume.`,
      );
    case 'answered':
      return outcomeOf(row.service_status) === 'successful'
        ? { done: null, change: null }
        : unchanged(
            `${name} ended as ${outcomeOf(row.service_status)}; more calls follow ` +
              'policy.attempts.',
          );
    default:
      return { done: null, change: null };
  }
}

/** Leaves a rejected inquiry as it is: planning has its visits served by another one (G1). */
export function leaveToOther({ id }: OperatedInquiry): Operation {
  return unchanged(
    `Inquiry ${id} is not sent again: eligd plans its appointments now with another inquiry for ` +
      'the same patient and coverage.',
  );
}

/** Leaves an inquiry as it is while another one with its label and question is under way (G1). */
export function waitForTwin(
  { id }: OperatedInquiry,
  first: Pick<OperatedInquiry, 'id'>,
): Operation {
  return unchanged(
    `Inquiry ${id} is left as it is: the service could not tell it from inquiry ${first.id}, ` +
      'which comes first.',
  );
}

/** Prevents a planned inquiry from being sent until it is released. */
export function holdInquiry({ id, state }: OperatedInquiry): Operation {
  if (state !== 'planned')
    return unchanged(`Inquiry ${id} is ${state}: only a planned one can be held.`);
  return changed(
    `Inquiry ${id} is on hold until "eligd release".`,
    { hold_reason: OPERATOR_HOLD },
    { note: 'held' },
  );
}

/**
 * Returns whether the inquiry is on hold. A lost call may be, after a merge, in case that the
 * service does not have it.
 */
export function isOnHold({ state, hold_reason }: OperatedInquiry): boolean {
  return hold_reason !== null && ['planned', 'uncertain', 'rejected'].includes(state);
}

/** What a released call still waits for. */
const RELEASED_IF: Partial<Record<InquiryState, string>> = {
  uncertain: ' and the service does not have it',
  rejected: ' and you have corrected it in your practice software',
};

/** Has an inquiry on hold sent when it is due. */
export function releaseInquiry(row: OperatedInquiry): Operation {
  const { id, state } = row;
  if (!isOnHold(row)) return unchanged(`Inquiry ${id} is not on hold.`);
  const set = { hold_reason: null };
  if (state === 'uncertain' && row.was_accepted === 1)
    return changed(
      `Inquiry ${id} is not on hold anymore. The service said that it has it, so eligd does not ` +
        'send it again.',
      set,
      { note: 'released' },
    );
  const also = RELEASED_IF[state] ?? '';
  return changed(`Inquiry ${id} is sent when it is due, if a visit still needs it${also}.`, set, {
    note: 'released',
  });
}

/**
 * Returns why an appointment's inquiries cannot be withdrawn: a call that may have begun cannot be
 * taken back. Empty when nothing prevents it.
 */
export function refuseWithdrawal(rows: readonly OperatedInquiry[]): Done[] {
  return rows
    .filter(({ state }) => state === 'sending' || state === 'uncertain' || state === 'open')
    .map(({ id, state }) => ({
      did: false,
      what: `Inquiry ${id} is ${state}: its call may have begun and cannot be canceled.`,
    }));
}

/**
 * Returns whether an inquiry can be withdrawn: it was never sent, or the service has no call for
 * it.
 */
export function isWithdrawable({ state }: OperatedInquiry): boolean {
  return isInquiryStep(state, 'withdrawn');
}

/** Withdraws an inquiry, unless other appointments need it. */
export function withdrawInquiry({ id }: OperatedInquiry, is_needed: boolean): Operation {
  if (is_needed)
    return {
      done: { did: true, what: `Inquiry ${id} stays for other appointments.` },
      change: null,
    };
  return changed(
    `Inquiry ${id} is withdrawn; no call is made.`,
    { hold_reason: null, is_ordered: 0 },
    { to: 'withdrawn', resolves: 'all' },
  );
}

export const PLANNED_AT_ONCE: Done = { did: true, what: 'eligd plans the appointment again now.' };

export const NEXT_RELEASED: Done = {
  did: true,
  what: 'The next call for this visit or claim is no longer on hold.',
};

export const WITHDRAWN: Done = {
  did: true,
  what: 'It is closed. If the practice management system changes it, eligd plans it again.',
};

/** Reports that `count` parked records are written again. */
export function rewritten(count: number): Done[] {
  if (count === 0) return [];
  const records = count === 1 ? 'record is' : 'records are';
  return [{ did: true, what: `${count} ${records} written again.` }];
}
