/**
 * More cases in the manner of test/fixtures/verdicts/cases.json: what a biller concludes by the
 * rules of `docs/verdicts.md`. Each rule, and rules that meet in one visit. Where an expected value
 * is not plain from the rule, a comment argues for it.
 */
import { LIMITS } from './cases/limits.ts';
import { MEETING_AMOUNTS } from './cases/meeting-amounts.ts';
import { MEETING_LIMITS } from './cases/meeting-limits.ts';
import { MONEY } from './cases/money.ts';
import { OTHERS } from './cases/others.ts';
import { PLANS } from './cases/plans.ts';
import { UNCLEAR } from './cases/unclear.ts';
import type { VerdictCase } from './verdict-cases.ts';

/** One visit each, of one coverage; ids F01 and on. */
export const FURTHER_CASES: readonly VerdictCase[] = [
  ...[...MONEY, ...LIMITS],
  ...[...PLANS, ...OTHERS, ...MEETING_LIMITS, ...MEETING_AMOUNTS, ...UNCLEAR],
].map((each, index) => ({ ...each, id: `F${String(index + 1).padStart(2, '0')}` }));
