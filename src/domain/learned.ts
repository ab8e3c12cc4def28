/** What eligd has learned from earlier calls, as planning requests it. */
import { type CoverageHistory, NO_HISTORY } from './history.ts';
import type { InquiryDraft } from './inquiry.ts';
import type { Turnaround } from './turnaround.ts';

export type Learned = {
  /** The history of a coverage, for a need without its year (`needBase`). */
  history: (need_base: string) => CoverageHistory;
  /** The turnaround of a draft's payer, in payer hours; null: too few calls. */
  turnaround: (draft: InquiryDraft) => Turnaround | null;
};

export const NOTHING_LEARNED: Learned = {
  history: () => NO_HISTORY,
  turnaround: () => null,
};
