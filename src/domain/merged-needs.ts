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
  is_ordered?: number;
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
  const dropped = [furtherCall(standing, moving), furtherCall(moving, standing)].filter(
    (row) => row !== undefined,
  );
  const [stays, moves] = [standing, moving].map((rows) =>
    rows.filter((row) => !dropped.includes(row)),
  ) as [Row[], Row[]];
  const [first, last] = isMovingBetter(stays, moves) ? [stays, moves] : [moves, stays];
  const loser = newest(first);
  return {
    order: [...dropped, ...inOrder(first), ...inOrder(last)],
    unneeded: [...dropped, ...(loser !== undefined && BRINGS_NONE.has(loser.state) ? [loser] : [])],
  };
}

/**
 * Returns the unsent call of a need that does not count: the other need has ended or is lost, so it
 * is compared with the answer before the call, and planning decides about a further call again.
 */
function furtherCall<Row extends Attempt>(
  rows: readonly Row[],
  others: readonly Row[],
): Row | undefined {
  const [last, other] = [newest(rows), newest(others)];
  if (last?.state !== 'planned' || last.retry > 0) return undefined;
  if (other?.state === 'undecidable') return last;
  return other?.state === 'answered' && last.is_ordered !== 1 ? last : undefined;
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
 * a successful one wins, then the later one. Of two calls without an answer, one after a success
 * wins, for that may serve if the call is not made or does not exist; of two planned ones, so does
 * the next attempt after a failure, which counts the failed one.
 */
function isMovingBetter(standing: readonly Attempt[], moving: readonly Attempt[]): boolean {
  const [those, these] = [ranks(standing, moving), ranks(moving, standing)];
  const differing = these.findIndex((rank, index) => rank !== those[index]);
  return (these[differing] ?? 0) > (those[differing] ?? 0);
}

/** The first numbers of two needs are compared, then, if they are equal, the second ones. */
function ranks(attempts: readonly Attempt[], others: readonly Attempt[]): number[] {
  const last = newest(attempts);
  if (last === undefined) return [-1];
  // What the office has ordered is asked although there is an answer.
  if (last.state === 'planned' && last.is_ordered === 1 && newest(others)?.state === 'answered')
    return [ADVANCEMENT.length];
  const rank = ADVANCEMENT.indexOf(last.state);
  if (last.state === 'planned') return [rank, last.retry > 0 || hasSuccess(attempts) ? 1 : 0];
  if (last.state !== 'answered') return [rank, hasSuccess(attempts) ? 1 : 0];
  return [rank, hasSuccess(attempts) ? 1 : 0, last.answered_at ?? 0];
}
