/** Tells the office about messages that are acknowledged and stay unread. */
import type { Env } from '../domain/env.ts';
import { MINUTE_MS } from '../domain/time.ts';
import { openIncidents, setIncidents } from '../store/bookkeeping/incidents.ts';
import type { Store } from '../store/engine/store.ts';
import { type UnreadCount, unreadCounts } from '../store/intake/unread-messages.ts';

/** Reading takes a moment; this long, something is wrong. */
export const UNREAD_MS_MAX = 3 * MINUTE_MS;

/** `messages`: null if the connector has none that are read after their answer. */
type Watched = {
  options: { env: Pick<Env, 'clock' | 'log'> };
  store: Store;
  connectors: readonly { id: string; messages: object | null }[];
};

/**
 * Raises and ends the incident about messages that stay unread, also those of a connector that is
 * no longer in the configuration. `excused_from`: this process has just started, and may soon read
 * what came since then; before that, the process before had its time to read it. An incident that
 * is open stays open. Null: this process had its time.
 */
export async function watchUnread(
  { options, store, connectors }: Watched,
  { excused_from }: { excused_from: number | null },
): Promise<void> {
  const { env } = options;
  const now = env.clock.now();
  const open = (await openIncidents(store.db)).filter(({ reason }) => reason === REASON);
  const isRead = (connector: string) =>
    connectors.some(({ id, messages }) => id === connector && messages !== null);
  const isOpen = (id: string) => open.some(({ connector }) => connector === id);
  const isExcused = ({ connector, since }: UnreadCount) =>
    excused_from !== null && since >= excused_from && isRead(connector) && !isOpen(connector);
  const late = (await unreadCounts(store.db)).filter(
    (each) => now - each.since > UNREAD_MS_MAX && !isExcused(each),
  );
  const ids = new Set([...open, ...late].flatMap(({ connector }) => connector ?? []));
  const states = [...ids].map((connector) => {
    const is_late = late.some((each) => each.connector === connector);
    const entry = is_late ? entryOf(connector, isRead(connector)) : null;
    return { reason: REASON, connector, entry };
  });
  await setIncidents(store, states, now);
  for (const { connector, count } of late)
    if (!isOpen(connector)) env.log('messages_unread', { connector, messages: count });
}

const REASON = 'messages_unread' as const;

function entryOf(connector: string, is_read: boolean): { what: string; next: string } {
  const what =
    `Messages of the connector ${connector} are received but not read. eligd makes no call for ` +
    'its visits until it has read them: they may cancel a visit.';
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
      `Put the connector ${connector} back into the configuration, with its old ID, type, and ` +
      'settings, and restart eligd: it reads them. Then you can remove it again. eligd keeps ' +
      'these messages until then, whatever retention says. Call the insurance companies of ' +
      'close visits yourself.',
  };
}
