/**
 * Lets `eligd check` ask the running daemon, through the database, whether the service accepts its
 * token. The daemon does not share the token itself.
 */
import type { Db, Tx } from '../engine/database.ts';
import { readLearned, writeLearned } from './learned-settings.ts';

const ASKED = 'access_check_asked';
const ANSWER = 'access_check';

/**
 * The service's response to the daemon's token. `asked`: the question that this answers. `status`:
 * of HTTP; null when no response came.
 */
type AccessAnswer = { asked: string; is_accepted: boolean; status: number | null };

/** Stores a question. `question` is its unique ID and holds no personal data. */
export async function askForAccess(tx: Tx, question: string, now: number): Promise<void> {
  await writeLearned(tx, ASKED, question, now);
}

/** Returns the last question and its time; null: there was none. */
export async function accessQuestion(db: Db): Promise<{ question: string; at: number } | null> {
  const setting = await readLearned(db, ASKED);
  return setting === null ? null : { question: setting.value, at: setting.updated_at };
}

export async function answerAccess(tx: Tx, answer: AccessAnswer, now: number): Promise<void> {
  await writeLearned(tx, ANSWER, JSON.stringify(answer), now);
}

export async function accessAnswer(db: Db): Promise<AccessAnswer | null> {
  const setting = await readLearned(db, ANSWER);
  return setting === null ? null : (JSON.parse(setting.value) as AccessAnswer);
}
