/** What earlier calls have taught, as planning asks for it. */
import { type CoverageHistory, NO_HISTORY } from './history.ts';
import type { InquiryDraft } from './inquiry.ts';
import type { Turnaround } from './turnaround.ts';

export type Learned = {
  /** Of a need without its year (`needBase`). */
  history: (need_base: string) => CoverageHistory;
  /** Of the payer of a draft, in payer hours; null: too few calls to say. */
  turnaround: (draft: InquiryDraft) => Turnaround | null;
};

export const NOTHING_LEARNED: Learned = {
  history: () => NO_HISTORY,
  turnaround: () => null,
};
