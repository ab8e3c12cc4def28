/**
 * `eligd check` asks the running daemon whether the service takes its token, which the daemon keeps
 * to itself: a question and an answer in the database.
 */
import type { Db, Tx } from '../engine/database.ts';
import { readLearned, writeLearned } from './learned-settings.ts';

const ASKED = 'access_check_asked';
const ANSWER = 'access_check';

/**
 * What the service said to the daemon's own token. `asked`: the question that it answers. `status`:
 * of HTTP; null when no reply came.
 */
export type AccessAnswer = { asked: string; is_accepted: boolean; status: number | null };

/** `question` names this one among others; it holds nothing about anybody. */
export async function askForAccess(tx: Tx, question: string, now: number): Promise<void> {
  await writeLearned(tx, ASKED, question, now);
}

/** The last question, and when it was asked; null: there was none. */
export async function accessQuestion(db: Db): Promise<{ question: string; at: number } | null> {
  const fact = await readLearned(db, ASKED);
  return fact === null ? null : { question: fact.value, at: fact.updated_at };
}

export async function answerAccess(tx: Tx, answer: AccessAnswer, now: number): Promise<void> {
  await writeLearned(tx, ANSWER, JSON.stringify(answer), now);
}

export async function accessAnswer(db: Db): Promise<AccessAnswer | null> {
  const fact = await readLearned(db, ANSWER);
  return fact === null ? null : (JSON.parse(fact.value) as AccessAnswer);
}
