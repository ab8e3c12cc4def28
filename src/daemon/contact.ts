/** Watches whether the calling service answers; every request of the daemon passes through here. */
import type { Clock } from '../domain/env.ts';
import { ContactLog } from '../domain/service-contact.ts';
import type { Metrics } from '../http/metrics.ts';
import type { ServiceClient, ServiceFailure } from '../service/api.ts';

export type ContactWatch = { calls: ContactLog; answers: ContactLog };

type Watched = { clock: Clock; onChange: () => void; metrics: Metrics | null };
type Outcome = { ok: true } | { ok: false; failure: ServiceFailure };

/** Wraps the client. `onChange` is called when contact with the service is lost or restored. */
export function watchContact(
  client: ServiceClient,
  { clock, onChange, metrics }: Watched,
): { client: ServiceClient; contact: ContactWatch } {
  const contact = { calls: new ContactLog(), answers: new ContactLog() };
  const measured = async <Value extends Outcome>(kind: string, request: Promise<Value>) => {
    const begun_ms = clock.elapsed();
    const outcome = await request;
    const result = outcome.ok ? 'ok' : outcome.failure.class;
    metrics?.noteRequest({ kind, result, duration_ms: clock.elapsed() - begun_ms });
    return outcome;
  };
  const noted = async <Value extends Outcome>(
    log: ContactLog,
    kind: string,
    request: Promise<Value>,
  ): Promise<Value> => {
    const outcome = await measured(kind, request);
    if (log.note(outcome.ok ? null : withoutWords(outcome.failure), clock.now())) onChange();
    return outcome;
  };
  return {
    contact,
    client: {
      ...client,
      create: (...args) => noted(contact.calls, 'create', client.create(...args)),
      createBulk: (...args) => noted(contact.calls, 'create_bulk', client.createBulk(...args)),
      list: (...args) => noted(contact.calls, 'list', client.list(...args)),
      read: (...args) => noted(contact.answers, 'read', client.read(...args)),
      verifications: (...args) => measured('verifications', client.verifications(...args)),
      getSubscription: async (...args) => {
        const outcome = await measured('subscription', client.getSubscription(...args));
        // It shows that the service is reachable, not that it takes calls again after a failure.
        if (outcome.ok && contact.calls.current().trouble === null) {
          if (contact.calls.note(null, clock.now())) onChange();
        }
        return outcome;
      },
      setSubscription: (...args) => measured('subscription', client.setSubscription(...args)),
    },
  };
}

/** Leaves out the service's words, which may repeat patient data. */
function withoutWords(failure: ServiceFailure) {
  return {
    class: failure.class,
    status: failure.status,
    ...('cause' in failure ? { cause: failure.cause } : {}),
  };
}
