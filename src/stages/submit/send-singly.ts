/** Single creates: several at a time, and the replies that arrive together in one commit. */
import { GroupCommit } from '../../store/engine/group-commit.ts';
import type { SubmitContext, SubmitDeps } from './deps.ts';
import { noticeClock } from './notice-clock.ts';
import { bindAccepted, giveBack, type Intent, settleFailure } from './outcome.ts';

/** Replies to single creates that arrive within this time share a commit. */
const REPLIES_TOGETHER_MS = 10;

/**
 * `settled`: how many were accepted or refused, became uncertain, or taught eligd the form of a
 * bulk. Inquiries that were proven unsent are not counted and wait until they are due again.
 */
export type Sent = { accepted: number; settled: number };

/** A reply to a single create. */
type Reply = { intent: Intent; result: Awaited<ReturnType<SubmitDeps['client']['create']>> };

/**
 * Sends one create per inquiry, `concurrency` at a time. Ends at a stop request or at the first
 * failure that affects all. Returns inquiries that were not tried to `planned`. `onSuccess`: called
 * after the work that settles the last reply has been given to the store, if all were accepted.
 */
export async function sendSingly(
  deps: SubmitDeps,
  intents: readonly Intent[],
  { signal, onSuccess }: { signal: AbortSignal; onSuccess: () => void },
): Promise<Sent> {
  const waiting = [...intents];
  const sent: Sent = { accepted: 0, settled: 0 };
  let settled_count = 0;
  const all_in = new AbortController();
  const replies = new GroupCommit<Reply, null>({
    items_per_commit_max: intents.length,
    gather: () => deps.env.clock.sleep(REPLIES_TOGETHER_MS, all_in.signal).catch(() => {}),
    commit: async (take) => {
      const taken = take();
      const settling = settleTogether(deps, taken);
      settled_count += taken.length;
      if (settled_count === intents.length && sent.accepted === intents.length) onSuccess();
      return await settling;
    },
  });
  const commits: Promise<null>[] = [];
  let is_ended = false;
  const end = () => {
    is_ended = true;
  };
  const work = async () => {
    while (!is_ended && !signal.aborted) {
      const intent = waiting.shift();
      if (intent === undefined) return;
      const { row, request } = intent;
      const result = await deps.client.create(row.specialty, request, { priority: 'send' });
      await noticeClock(deps);
      const commit = replies.add({ intent, result });
      commit.catch(end);
      commits.push(commit);
      if (result.ok) sent.accepted += 1;
      if (!result.ok && ['unsent', 'stopped'].includes(result.failure.class)) end();
      else sent.settled += 1;
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: deps.settings.concurrency }, work));
  // With a reason of its own, Node makes no error with a stack.
  all_in.abort('all replies are in');
  const settled = [...workers, ...(await Promise.allSettled(commits))];
  if (waiting.length > 0) {
    const now = deps.env.clock.now();
    await deps.store.write((tx) => giveBack({ tx, deps, now }, waiting));
  }
  for (const each of settled) if (each.status === 'rejected') throw each.reason;
  return sent;
}

/** Settles replies in one commit, or each in its own, so that a bad one harms no other (G7). */
async function settleTogether(deps: SubmitDeps, replies: readonly Reply[]) {
  const settle = async (some: readonly Reply[]) => {
    const now = deps.env.clock.now();
    await deps.store.write((tx) => settleReplies({ tx, deps, now }, some));
    return { value: null };
  };
  try {
    const settled = await settle(replies);
    return replies.map(() => settled);
  } catch (error) {
    if (replies.length === 1) throw error;
  }
  return await Promise.all(
    replies.map((reply) => settle([reply]).catch((error: unknown) => ({ error }))),
  );
}

/** Settles single creates in one transaction. A failure that stops sending has the last word. */
async function settleReplies(context: SubmitContext, replies: readonly Reply[]): Promise<void> {
  const accepted = replies.flatMap(({ intent, result }) => {
    if (!result.ok) return [];
    const reply_group = `single:${intent.row.id}:${context.now}`;
    return [{ intent, inquiry_id: result.value.inquiry_id, reply_group, is_sample: false }];
  });
  await bindAccepted(context, accepted);
  for (const { intent, result } of replies)
    if (!result.ok) await settleFailure(context, [intent], result.failure);
}
