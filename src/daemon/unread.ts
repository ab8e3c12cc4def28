/** Messages that are acknowledged and not read yet: calls wait for them, and the office is told. */
import { MINUTE_MS } from '../domain/time.ts';
import type { Messages } from '../stages/pull/index.ts';
import { openIncidents, setIncidents } from '../store/bookkeeping/incidents.ts';
import { unreadCounts } from '../store/intake/unread-messages.ts';
import type { Parts } from './parts.ts';

/** Reading takes a moment; this long, something is wrong. */
const UNREAD_MS_MAX = 3 * MINUTE_MS;

/**
 * Runs `claim` when all acknowledged messages are read; until it ends, no other is acknowledged. So
 * no call is claimed for a visit whose cancellation is only acknowledged. `is_read`: false when
 * some could not be read, because the database failed.
 */
export async function afterReading<Value>(
  connectors: readonly { messages: Messages | null }[],
  claim: (is_read: boolean) => Promise<Value>,
): Promise<Value> {
  const all = connectors.flatMap(({ messages }) => messages ?? []);
  // Most are read here, while others arrive; so the senders then wait only briefly.
  for (const messages of all) await messages.readAll();
  const releases: (() => void)[] = [];
  try {
    let is_read = true;
    for (const messages of all) {
      releases.push(await messages.hold());
      is_read = (await messages.readAll()) && is_read;
    }
    return await claim(is_read);
  } finally {
    for (const release of releases) release();
  }
}

/**
 * Raises and ends the incident about messages that stay unread, also those of a connector that is
 * no longer in the configuration.
 */
export async function watchUnread({ options, store, connectors }: Parts): Promise<void> {
  const { env } = options;
  const now = env.clock.now();
  const open = (await openIncidents(store.db)).filter(({ reason }) => reason === REASON);
  const late = (await unreadCounts(store.db)).filter(({ since }) => now - since > UNREAD_MS_MAX);
  const ids = new Set([...open, ...late].flatMap(({ connector }) => connector ?? []));
  const states = [...ids].map((connector) => {
    const is_read = connectors.some(({ id, messages }) => id === connector && messages !== null);
    const is_late = late.some((each) => each.connector === connector);
    return { reason: REASON, connector, entry: is_late ? entryOf(connector, is_read) : null };
  });
  await setIncidents(store, states, now);
  for (const { connector, count } of late)
    if (!open.some((each) => each.connector === connector))
      env.log('messages_unread', { connector, messages: count });
}

const REASON = 'messages_unread' as const;

function entryOf(connector: string, is_read: boolean): { what: string; next: string } {
  const what = `Messages of the connector ${connector} are received but not read.`;
  if (is_read)
    return {
      what: `${what} The database fails while eligd reads them.`,
      next:
        'Check the free disk space and the permissions of the state folder, then run "eligd ' +
        'check". eligd tries again automatically.',
    };
  return {
    what: `${what} The configuration has no connector with this ID that could read them.`,
    next:
      `Put the connector ${connector} back into the configuration, with its old ID and type, and ` +
      'restart eligd: it reads them.',
  };
}
