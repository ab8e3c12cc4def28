/**
 * Due times of visits and claims that planning must look at now. They have come by any clock: the
 * computer's clock may be set before planning looks.
 */
import { sql } from 'kysely';

/**
 * Due at once: planning has not seen the content as it is now. Until then, no answer is written:
 * it may be about a former coverage or another person (G8).
 */
export const CHANGED = 0;
/** Due at once, and planning has seen the content. */
const AGAIN = 1;

/** What eligd failed to plan may have changed, too. */
const MAY_HAVE_CHANGED = sql`(plan_due_at = ${sql.lit(CHANGED)} or plan_wait = 'planning_failed')`;

/** Returns whether planning has not seen the content of the visit or claim as it is now. */
export function mayHaveChanged(due: { plan_due_at: number | null; plan_wait: string | null }) {
  return due.plan_due_at === CHANGED || due.plan_wait === 'planning_failed';
}

/** The due time of a visit or claim to plan at once. One that has changed stays so. */
export const AT_ONCE = sql<number>`case when ${MAY_HAVE_CHANGED}
  then ${sql.lit(CHANGED)} else ${sql.lit(AGAIN)} end`;

/** The due time of a visit or claim that is closed: null, unless planning must see a change. */
export const UNLESS_CHANGED = sql<number | null>`case when ${MAY_HAVE_CHANGED}
  then ${sql.lit(CHANGED)} end`;
