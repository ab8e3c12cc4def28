import type { InquiryState } from './states.ts';

/**
 * Of two inquiries that have become the same need, the one that is further counts: the last in this
 * order.
 */
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

type Attempt = { attempt: number; state: InquiryState };

export type MergedNeed<Row> = {
  /** All attempts of both in the order in which they count from now on, the winner last. */
  order: Row[];
  /** Planned attempts that lost: nobody sends them any more. */
  unneeded: Row[];
};

/**
 * What becomes of one need that two records of the same patient both had (G1): the newest attempt
 * that is further becomes the last one, which planning finds, and the other is not sent any more.
 */
export function mergeNeed<Row extends Attempt>(
  standing: readonly Row[],
  moving: readonly Row[],
): MergedNeed<Row> {
  const [stands, moves] = [newest(standing), newest(moving)];
  const winner = winnerOf(stands, moves);
  const others = [...inOrder(standing), ...inOrder(moving)].filter((row) => row !== winner);
  return {
    order: winner === undefined ? others : [...others, winner],
    unneeded: [stands, moves].flatMap((row) =>
      row !== undefined && row !== winner && row.state === 'planned' ? [row] : [],
    ),
  };
}

const inOrder = <Row extends Attempt>(rows: readonly Row[]) =>
  rows.toSorted((a, b) => a.attempt - b.attempt);

const newest = <Row extends Attempt>(rows: readonly Row[]) => inOrder(rows).at(-1);

/** Which of the two newest attempts is further; the standing one when they are alike. */
function winnerOf<Row extends Attempt>(
  standing: Row | undefined,
  moving: Row | undefined,
): Row | undefined {
  if (standing === undefined || moving === undefined) return standing ?? moving;
  return ADVANCEMENT.indexOf(moving.state) > ADVANCEMENT.indexOf(standing.state)
    ? moving
    : standing;
}
