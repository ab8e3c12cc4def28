import { outcomeOf } from './outcome.ts';
import type { InquiryState } from './states.ts';

/** When two inquiries become the same need, the one whose state is later in this list wins. */
const ADVANCEMENT: readonly InquiryState[] = [
  'withdrawn',
  'rejected',
  'planned',
  'undecidable',
  'uncertain',
  'sending',
  'open',
  'answered',
];

/** Of two inquiries, one in these states leaves its visits to the other. */
const BRINGS_NONE: ReadonlySet<InquiryState> = new Set(['planned', 'rejected', 'undecidable']);

type Attempt = {
  attempt: number;
  retry: number;
  state: InquiryState;
  service_status: string | null;
  answered_at: number | null;
};

type MergedNeed<Row> = {
  /** The attempts of both needs in their new order: those of one after those of the other. */
  order: Row[];
  /** Attempts that lost and bring no answer. eligd does not send the planned ones. */
  unneeded: Row[];
};

/**
 * Merges one need that two records of the same patient both had (G1). The newest attempt that is
 * more advanced becomes the last one, which planning finds, after the attempts that it follows;
 * eligd no longer sends the other.
 */
export function mergeNeed<Row extends Attempt>(
  standing: readonly Row[],
  moving: readonly Row[],
): MergedNeed<Row> {
  const [first, last] = isMovingBetter(standing, moving) ? [standing, moving] : [moving, standing];
  const loser = newest(first);
  return {
    order: [...inOrder(first), ...inOrder(last)],
    unneeded: loser !== undefined && BRINGS_NONE.has(loser.state) ? [loser] : [],
  };
}

/** Returns whether the last attempt with an answer was successful. */
function hasSuccess(rows: readonly Attempt[]): boolean {
  const answered = inOrder(rows).findLast(({ state }) => state === 'answered');
  return answered !== undefined && outcomeOf(answered.service_status) === 'successful';
}

const inOrder = <Row extends Attempt>(rows: readonly Row[]) =>
  rows.toSorted((a, b) => a.attempt - b.attempt);

/** Returns the newest attempt that was not withdrawn; the newest of all if each was. */
function newest<Row extends Attempt>(rows: readonly Row[]): Row | undefined {
  const attempts = inOrder(rows);
  return attempts.findLast(({ state }) => state !== 'withdrawn') ?? attempts.at(-1);
}

/**
 * Returns whether the newest moving attempt is more advanced than the standing one. Of two answers,
 * a successful one wins, then the later one. Of two planned calls, one after a success wins, for
 * that may serve; so does the next attempt after a failure, which counts the failed one.
 */
function isMovingBetter(standing: readonly Attempt[], moving: readonly Attempt[]): boolean {
  const [those, these] = [ranks(standing), ranks(moving)];
  const differing = these.findIndex((rank, index) => rank !== those[index]);
  return (these[differing] ?? 0) > (those[differing] ?? 0);
}

/** The first numbers of two needs are compared, then, if they are equal, the second ones. */
function ranks(attempts: readonly Attempt[]): number[] {
  const last = newest(attempts);
  if (last === undefined) return [-1];
  const rank = ADVANCEMENT.indexOf(last.state);
  if (last.state === 'planned') return [rank, last.retry > 0 || hasSuccess(attempts) ? 1 : 0];
  if (last.state !== 'answered') return [rank];
  return [rank, hasSuccess(attempts) ? 1 : 0, last.answered_at ?? 0];
}
