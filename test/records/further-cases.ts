/**
 * More cases like those in test/fixtures/verdicts/cases.json: a biller's conclusion by the rules of
 * `docs/verdicts.md`, for each rule and for rules that meet in one visit. If an expected value is
 * not obvious from the rule, a comment explains it.
 */
import { BILLERS } from './cases/billers.ts';
import { BILLERS_AMOUNTS } from './cases/billers-amounts.ts';
import { LIMITS } from './cases/limits.ts';
import { MEETING_AMOUNTS } from './cases/meeting-amounts.ts';
import { MEETING_LIMITS } from './cases/meeting-limits.ts';
import { MONEY } from './cases/money.ts';
import { OTHERS } from './cases/others.ts';
import { PLANS } from './cases/plans.ts';
import { UNCLEAR } from './cases/unclear.ts';
import type { VerdictCase } from './verdict-cases.ts';

/** One visit each, with one coverage; IDs from F01. */
export const FURTHER_CASES: readonly VerdictCase[] = [
  ...[...MONEY, ...LIMITS],
  ...[...PLANS, ...OTHERS, ...MEETING_LIMITS, ...MEETING_AMOUNTS, ...UNCLEAR],
  ...[...BILLERS, ...BILLERS_AMOUNTS],
].map((each, index) => ({ ...each, id: `F${String(index + 1).padStart(2, '0')}` }));
