import type { SendCount } from '../../src/store/engine/instance-lock.ts';

/** The count of sends of one process that has no lock file. */
export function newSendCount(): SendCount {
  let sends = 0;
  return {
    read: () => sends,
    write: (count) => {
      sends = count;
    },
  };
}
