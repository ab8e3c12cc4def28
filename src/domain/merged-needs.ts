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
 * eligd no longer sends the other. Of two planned ones, one whose last answer was successful wins
 * over one whose was not, unless that is the next attempt: the successful answer may serve.
 */
export function mergeNeed<Row extends Attempt>(
  standing: readonly Row[],
  moving: readonly Row[],
): MergedNeed<Row> {
  const [newest_standing, newest_moving] = [newest(standing), newest(moving)];
  const is_moving_better =
    newest_standing?.state === 'planned' &&
    newest_standing.retry === 0 &&
    newest_moving?.state === 'planned' &&
    !hasSuccess(standing) &&
    hasSuccess(moving);
  const winner = is_moving_better ? newest_moving : winnerOf(newest_standing, newest_moving);
  const [first, last] = winner === newest_standing ? [moving, standing] : [standing, moving];
  return {
    order: [...inOrder(first), ...inOrder(last)],
    unneeded: [newest_standing, newest_moving].flatMap((row) =>
      row !== undefined && row !== winner && BRINGS_NONE.has(row.state) ? [row] : [],
    ),
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
 * Returns the more advanced of the two newest attempts. Of two answers, a successful one wins, then
 * the later one; in any other tie, the standing one.
 */
function winnerOf<Row extends Attempt>(
  standing: Row | undefined,
  moving: Row | undefined,
): Row | undefined {
  if (standing === undefined || moving === undefined) return standing ?? moving;
  const ranks = ({ state, service_status, answered_at }: Row): number[] => [
    ADVANCEMENT.indexOf(state),
    state === 'answered' && outcomeOf(service_status) === 'successful' ? 1 : 0,
    state === 'answered' ? (answered_at ?? 0) : 0,
  ];
  const [those, these] = [ranks(standing), ranks(moving)];
  const differing = these.findIndex((rank, index) => rank !== those[index]);
  return (these[differing] ?? 0) > (those[differing] ?? 0) ? moving : standing;
}
