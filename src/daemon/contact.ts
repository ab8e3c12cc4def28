/** Watches whether the calling service answers: every request of the daemon passes here. */
import type { Clock } from '../domain/env.ts';
import { ContactLog } from '../domain/service-contact.ts';
import type { ServiceClient, ServiceFailure } from '../service/api.ts';

export type ContactWatch = { calls: ContactLog; answers: ContactLog };

/** `onChange` is called when the service is lost or back. */
export function watchContact(
  client: ServiceClient,
  clock: Clock,
  onChange: () => void,
): { client: ServiceClient; contact: ContactWatch } {
  const contact = { calls: new ContactLog(), answers: new ContactLog() };
  const noted = async <Outcome extends { ok: true } | { ok: false; failure: ServiceFailure }>(
    log: ContactLog,
    request: Promise<Outcome>,
  ): Promise<Outcome> => {
    const outcome = await request;
    if (log.note(outcome.ok ? null : told(outcome.failure), clock.now())) onChange();
    return outcome;
  };
  return {
    contact,
    client: {
      ...client,
      create: (...args) => noted(contact.calls, client.create(...args)),
      createBulk: (...args) => noted(contact.calls, client.createBulk(...args)),
      list: (...args) => noted(contact.calls, client.list(...args)),
      read: (...args) => noted(contact.answers, client.read(...args)),
    },
  };
}

/** Without the service's words, which may repeat a patient's data. */
function told(failure: ServiceFailure) {
  return {
    class: failure.class,
    status: failure.status,
    ...('cause' in failure ? { cause: failure.cause } : {}),
  };
}
