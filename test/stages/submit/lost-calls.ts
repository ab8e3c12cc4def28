/** Shared by the tests about lost replies and about inquiries that the service already has. */

import { HOUR_MS } from '../../../src/domain/time.ts';
import type { ListedInquiry } from '../../../src/service/api.ts';
import { currentHalts } from '../../../src/store/calls/halts.ts';
import { aCoverage } from '../../domain/examples.ts';
import { AWAY, type Installation, SETTLE_MS, send } from '../installation.ts';

/** Twins have all of this in common. */
export const TWINS = {
  type: 'BENEFITS',
  desired_completion_date: '12-31-2026',
  dob: '01-02-2018',
  member_id: 'W123',
  tax_id: '123456789',
  benefits_query: ['STANDARD'],
  insurance: 'DELTA_DENTAL',
  billing_npi: '1234567893',
};

export const twin = (first_name: string) => ({
  patient: { id: first_name, first_name, last_name: 'Example', birth_date: '2018-01-02' },
});

/** Visits that differ in this ask different questions. */
export const about = (member_id: string) => ({ coverages: [aCoverage({ member_id })] });

/** Time passes for the clinic and for the service. */
export async function advance(clinic: Installation, duration_ms: number): Promise<void> {
  clinic.pass(duration_ms);
  await clinic.service.advance({ seconds: duration_ms / 1000 });
}

/** Why submission is stopped. */
export const haltsOf = async ({ store }: Installation) =>
  (await currentHalts(store.db)).map(({ reason }) => reason);

/** The service's inquiries are listed only after `show` is called. */
export function hideCalls({ client, service }: Installation): {
  show: (index: number) => Promise<void>;
} {
  const { list } = client;
  const shown = new Set<string>();
  client.list = async (...given) => {
    const result = await list(...given);
    if (!result.ok) return result;
    return {
      ok: true,
      value: {
        ...result.value,
        inquiries: result.value.inquiries.filter(({ id }) => shown.has(id)),
      },
    };
  };
  return { show: async (index) => void shown.add((await service.ledger())[index]!.id) };
}

/**
 * For this many creates, the reply is lost (`after` the service accepted the call), or the request.
 */
export async function loseCreates(
  { service }: Installation,
  times: number,
  when: 'before' | 'after' = 'after',
): Promise<void> {
  const path = '/api/v0/dental/inquiries';
  await service.fault({ method: 'POST', path, times, when, action: 'reset' });
}

/** Replies to creates are lost, and the list hides their inquiries. */
export async function loseAndHide(clinic: Installation, times: number) {
  await loseCreates(clinic, times);
  return hideCalls(clinic);
}

/** eligd calls twice for a visit, because two lookups did not find the first call. */
export async function callTwice(clinic: Installation, times = 1) {
  const hidden = await loseAndHide(clinic, times);
  await send(clinic, clinic.visit('A-1'));
  await clinic.service.advance({ seconds: 60 });
  await lookUp(clinic);
  return hidden;
}

/** The service reports this status for its calls. */
export function callsEnd(
  { client }: Installation,
  statusOf: (form: { id: string }) => string,
): void {
  const { list, read } = client;
  const ended = <Form extends { id: string; status: string }>(form: Form): Form => ({
    ...form,
    status: statusOf(form),
  });
  client.list = async (...given) => {
    const result = await list(...given);
    return result.ok
      ? { ok: true, value: { ...result.value, inquiries: result.value.inquiries.map(ended) } }
      : result;
  };
  client.read = async (...given) => {
    const result = await read(...given);
    return result.ok && result.value !== null ? { ok: true, value: ended(result.value) } : result;
  };
}

export function callsBringNothing(clinic: Installation): void {
  callsEnd(clinic, () => 'UNSUCCESSFUL');
}

/** Both lookups, a settle time apart. */
export async function lookUp({ pass, service, submitNow }: Installation): Promise<void> {
  for (let taken = 0; taken < 2; taken += 1) {
    pass(SETTLE_MS + 1);
    await service.advance({ seconds: SETTLE_MS / 1000 });
    await submitNow();
  }
}

/**
 * eligd calls again for a visit, because two lookups did not find the first call; then it finds the
 * first call, which is unsuccessful.
 */
export async function callTwiceForNothing(clinic: Installation, times: number) {
  const hidden = await callTwice(clinic, times);
  await hidden.show(0);
  await lookUp(clinic);
  callsBringNothing(clinic);
  await clinic.collectAll();
  return hidden;
}

/** The service's IDs of the duplicate calls. */
export async function duplicates({ store }: Installation): Promise<(string | null)[]> {
  const rows = await store.db
    .selectFrom('calls')
    .select('service_id')
    .where('role', '=', 'duplicate')
    .execute();
  return rows.map(({ service_id }) => service_id);
}

/** The request of the first call, or of the first one with this label, as sent. */
export async function firstBody(
  { store }: Installation,
  label?: string,
): Promise<Record<string, unknown>> {
  const calls = store.db.selectFrom('calls').select('body').orderBy('id');
  const call = await (label === undefined
    ? calls
    : calls.where('external_id', '=', label)
  ).executeTakeFirst();
  return JSON.parse(call?.body ?? '') as Record<string, unknown>;
}

/**
 * Moves the clock to December 30, from which the next visits are in two benefit years. Returns the
 * last day of the year as the service writes it.
 */
export async function goToYearsEnd({ now, pass, service }: Installation): Promise<string> {
  const year = new Date(now()).getUTCFullYear();
  const ahead_ms = Date.UTC(year, 11, 30, 18) - now();
  pass(ahead_ms);
  await service.advance({ seconds: Math.round(ahead_ms / 1000) });
  return `12-31-${year}`;
}

/** The list leaves these fields out while `on`, except of the call `not_of`. */
export function withhold({ client }: Installation, ...fields: string[]) {
  const { list } = client;
  const state = { on: true, not_of: '' };
  client.list = async (...given) => {
    const result = await list(...given);
    if (!result.ok || !state.on) return result;
    const inquiries = result.value.inquiries.map((each) =>
      each.id === state.not_of
        ? each
        : {
            ...each,
            request: Object.fromEntries(
              Object.entries(each.request).filter(([name]) => !fields.includes(name)),
            ),
          },
    );
    return { ok: true, value: { ...result.value, inquiries } };
  };
  return state;
}

/** The external IDs of all calls that were made, oldest first. */
export const labelsOf = async ({ service }: Installation) =>
  (await service.ledger()).map(({ external_id }) => external_id);

/** A call for Ada that the database does not know. */
export const anOldCall = (clinic: Installation, external_id = 'OLD') =>
  clinic.service.createBeside({ ...TWINS, patient_name: 'Ada Example', external_id });

/** This many creates do not leave. Returns how many were tried. */
export function refuseCreates({ client }: Installation, times: number): { tries: number } {
  const { create } = client;
  const seen = { tries: 0 };
  client.create = async (...given) => {
    seen.tries += 1;
    if (seen.tries > times) return await create(...given);
    return AWAY;
  };
  return seen;
}

/** The service refuses the next call. */
export const refuseNextCall = ({ service }: Installation) =>
  service.fault({
    method: 'POST',
    path: '/api/v0/dental/inquiries',
    times: 1,
    when: 'before',
    action: 'status',
    status: 422,
  });

/** The service no longer knows the call. No other call is answered before eligd has noticed. */
export async function forgetCall(clinic: Installation, label: string): Promise<void> {
  const ledger = await clinic.service.ledger();
  const forgotten = ledger.find(({ external_id }) => external_id === label)?.id;
  const { list, read } = clinic.client;
  let is_noticed = false;
  clinic.client.read = async (specialty, id, ...how) => {
    const result = await read(specialty, id, ...how);
    if (id === forgotten) return { ok: true, value: null };
    return result.ok && result.value !== null && !is_noticed
      ? { ok: true, value: { ...result.value, status: 'IN_PROGRESS' } }
      : result;
  };
  clinic.client.list = async (...given) => {
    const result = await list(...given);
    if (!result.ok) return result;
    const inquiries = result.value.inquiries.filter(({ id }) => id !== forgotten);
    return { ok: true, value: { ...result.value, inquiries } };
  };
  const poll_at = clinic.now();
  for (let time = 0; time < 3; time += 1) {
    await clinic.store.db
      .updateTable('inquiries')
      .set({ poll_at })
      .where('state', '=', 'open')
      .execute();
    await clinic.collectNow();
    clinic.pass(HOUR_MS);
  }
  is_noticed = true;
}

const ACCEPTED_WITHOUT_ID = {
  ok: false,
  failure: {
    class: 'ambiguous',
    cause: 'truncated',
    status: 200,
    retry_after_ms: null,
    accepted: true,
  },
} as const;

/** The service says that it has accepted what is sent, but its list does not show it. */
export async function acceptUnlisted(
  clinic: Installation,
  send: () => Promise<unknown>,
): Promise<void> {
  const { create } = clinic.client;
  clinic.client.create = async () => ACCEPTED_WITHOUT_ID;
  await send();
  clinic.client.create = create;
  await lookUp(clinic);
}

/** The service calls for what is sent, but states no ID, and its list hides these calls. */
export async function acceptAndHide(clinic: Installation, send: () => Promise<unknown>) {
  const { create } = clinic.client;
  const before = await clinic.service.ledger();
  const hidden = hideCalls(clinic);
  for (const index of before.keys()) await hidden.show(index);
  await acceptUnlisted(clinic, async () => {
    clinic.client.create = async (...given) => {
      await create(...given);
      return ACCEPTED_WITHOUT_ID;
    };
    await send();
  });
  clinic.client.create = create;
  return hidden;
}

/** The service's list does not say when the inquiries were created. */
export function withholdTimes({ client }: Installation): void {
  const { list } = client;
  client.list = async (...given) => {
    const result = await list(...given);
    if (!result.ok) return result;
    const inquiries = result.value.inquiries.map((each) => ({ ...each, creation_ts: null }));
    return { ok: true, value: { ...result.value, inquiries } };
  };
}

/** The list says that these calls, or all, were made this much earlier than they were. */
export function makeOlder(
  { client }: Installation,
  age_ms: number,
  isTheirs: (listed: ListedInquiry) => boolean = () => true,
): void {
  const { list } = client;
  client.list = async (...given) => {
    const result = await list(...given);
    if (!result.ok) return result;
    const inquiries = result.value.inquiries.map((each) =>
      each.creation_ts === null || !isTheirs(each)
        ? each
        : { ...each, creation_ts: new Date(Date.parse(each.creation_ts) - age_ms).toISOString() },
    );
    return { ok: true, value: { ...result.value, inquiries } };
  };
}
