/**
 * Answers `eligd check` with one cheap read that uses the daemon's own token. A token of the
 * command would prove nothing about the daemon's.
 */
import { MINUTE_MS } from '../domain/time.ts';
import { logStageFailure, Waker } from '../stages/loop.ts';
import { accessAnswer, accessQuestion, answerAccess } from '../store/bookkeeping/access-check.ts';
import { NOT_WATCHED, onNextChange } from '../store/engine/file-changes.ts';
import type { Parts } from './parts.ts';

/** The shortest time between two looks while the database changes. */
const LOOK_MS = 1_000;
/** How often to look if the system does not say that the database changed; check waits longer. */
const SELDOM_MS = 5_000;
/** How often to look if it does. The heartbeat changes the database as often. */
const WATCHED_MS = MINUTE_MS;
/** After this time, the command has given up on the answer. */
const QUESTION_OLD_MS = MINUTE_MS;

/** Runs until `signal` is aborted. */
export async function answerAccessChecks(parts: Parts, signal: AbortSignal): Promise<void> {
  const { env, idle_ms, config } = parts.options;
  const changed = new Waker();
  // What is written into the database is first written into this file.
  const watched = () => onNextChange(`${config.state.path}-wal`, () => changed.wake());
  let answered = (await accessAnswer(parts.store.db).catch(() => null))?.asked ?? null;
  let watch = NOT_WATCHED;
  // The first look is for a question from before the start.
  changed.wake();
  let looked_ms = env.clock.elapsed();
  while (!signal.aborted) {
    const seldom_ms = watch.is_watched ? WATCHED_MS : SELDOM_MS;
    if (idle_ms === undefined) await changed.wait(env, seldom_ms, signal);
    watch.end();
    const rest_ms = Math.max(LOOK_MS, idle_ms ?? 0) - (env.clock.elapsed() - looked_ms);
    if (rest_ms > 0) await env.clock.sleep(rest_ms, signal).catch(() => {});
    looked_ms = env.clock.elapsed();
    // Watches before it looks, so that no question falls between the two.
    if (idle_ms === undefined && !signal.aborted) watch = watched();
    try {
      const asked = await accessQuestion(parts.store.db);
      if (asked === null || asked.question === answered || signal.aborted) continue;
      answered = asked.question;
      if (env.clock.now() - asked.at < QUESTION_OLD_MS) await answer(parts, answered, signal);
    } catch (error) {
      logStageFailure(env, 'access check', error, LOOK_MS);
    }
  }
  watch.end();
}

async function answer(
  { client, store, options: { env } }: Parts,
  asked: string,
  signal: AbortSignal,
): Promise<void> {
  const result = await client.access({ priority: 'urgent', signal });
  const status = result.ok ? null : result.failure.status;
  await store.write((tx) =>
    answerAccess(tx, { asked, is_accepted: result.ok, status }, env.clock.now()),
  );
}
