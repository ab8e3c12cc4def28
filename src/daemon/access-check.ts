/**
 * Answers `eligd check` with one cheap read that uses the daemon's own token. A token of the
 * command would prove nothing about the daemon's.
 */
import { MINUTE_MS } from '../domain/time.ts';
import { logStageFailure } from '../stages/loop.ts';
import { accessAnswer, accessQuestion, answerAccess } from '../store/bookkeeping/access-check.ts';
import type { Parts } from './parts.ts';

const LOOK_MS = 1_000;
/** After this time, the command has given up on the answer. */
const QUESTION_OLD_MS = MINUTE_MS;

/** Runs until `signal` is aborted. */
export async function answerAccessChecks(parts: Parts, signal: AbortSignal): Promise<void> {
  const { env, idle_ms } = parts.options;
  let answered = (await accessAnswer(parts.store.db).catch(() => null))?.asked ?? null;
  while (!signal.aborted) {
    await env.clock.sleep(Math.max(LOOK_MS, idle_ms ?? 0), signal).catch(() => {});
    try {
      const asked = await accessQuestion(parts.store.db);
      if (asked === null || asked.question === answered || signal.aborted) continue;
      answered = asked.question;
      if (env.clock.now() - asked.at < QUESTION_OLD_MS) await answer(parts, answered, signal);
    } catch (error) {
      logStageFailure(env, 'access check', error, LOOK_MS);
    }
  }
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
