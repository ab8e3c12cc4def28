import type { Store } from '../../src/store/engine/store.ts';
import { type MessageContent, storeMessages } from '../../src/store/intake/messages.ts';
import { beginReading, type UnreadMessage } from '../../src/store/intake/unread-messages.ts';
import { FRIDAY_MS } from '../domain/examples.ts';

/** Reads the oldest unread messages of the connector `lab`, as the pull stage does. */
export async function readMessages(store: Store, read: (text: string) => MessageContent) {
  const at = { connector: 'lab', now: FRIDAY_MS };
  const { messages } = await store.write((tx) => beginReading({ ...at, tx }, { is_single: false }));
  if (messages.length === 0) return { messages: 0, errors: [] };
  const contentOf = (of: UnreadMessage) => {
    try {
      return { of, content: of.text === null ? null : read(of.text) };
    } catch (error) {
      return { of, error };
    }
  };
  const contents = messages.map(contentOf);
  const { errors } = await store.write((tx) => storeMessages({ ...at, tx }, contents));
  return { messages: messages.length, errors };
}
