/** Shared by the tests about lists that are cut off, and about labels whose query fails. */
import { MINUTE_MS } from '../../../src/domain/time.ts';
import { submitStep } from '../../../src/stages/submit/index.ts';
import type { Installation } from '../installation.ts';

/** Whole lists show only these inquiries; one for a label shows all. */
export function cutLists(
  { client }: Installation,
  shown: readonly (string | undefined)[],
  end: { is_complete: boolean; is_end_proven: boolean },
): void {
  const { list } = client;
  client.list = async (specialty, filter, options) => {
    const result = await list(specialty, filter, options);
    if (!result.ok || filter.external_id !== undefined) return result;
    const inquiries = result.value.inquiries.filter(({ id }) => shown.includes(id));
    return {
      ok: true,
      value: { ...result.value, ...end, inquiries, total_count: inquiries.length },
    };
  };
}

/** Returns the labels that are queried from now on. */
export function watchLabels({ client }: Installation): string[] {
  const { list } = client;
  const queried: string[] = [];
  client.list = async (specialty, filter, options) => {
    if (filter.external_id !== undefined) queried.push(filter.external_id);
    return await list(specialty, filter, options);
  };
  return queried;
}

export const PROVEN = { is_complete: true, is_end_proven: true };
export const CUT_OFF = { is_complete: false, is_end_proven: false };

/** Queries by these labels fail; the whole list is cut off. Returns the labels queried. */
export function failLabels(clinic: Installation, labels: readonly string[], status: number) {
  cutLists(clinic, [], CUT_OFF);
  const { list } = clinic.client;
  const queried: string[] = [];
  clinic.client.list = async (specialty, filter, options) => {
    if (filter.external_id !== undefined) queried.push(filter.external_id);
    return filter.external_id === undefined || !labels.includes(filter.external_id)
      ? await list(specialty, filter, options)
      : {
          ok: false,
          failure:
            status === 401
              ? { class: 'unsent', cause: 'unauthorized', status, retry_after_ms: null }
              : status < 500
                ? { class: 'stopped', status, retry_after_ms: null }
                : {
                    class: 'ambiguous',
                    cause: 'http_status',
                    status,
                    retry_after_ms: null,
                    accepted: false,
                  },
        };
  };
  return queried;
}

export async function minutesPass(clinic: Installation, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    clinic.pass(MINUTE_MS);
    await clinic.submitNow();
  }
}

/** eligd is stopped while the service is asked for a label. */
export async function stopDuringQuery(clinic: Installation): Promise<void> {
  const stop = new AbortController();
  const { list } = clinic.client;
  clinic.client.list = async (specialty, filter, options) => {
    if (filter.external_id !== undefined) stop.abort();
    return await list(specialty, filter, options);
  };
  const options = { external_id_template: '{appointment}', signal: stop.signal };
  await submitStep(clinic.submit, options);
  clinic.client.list = list;
  if (!stop.signal.aborted) throw new Error('No label was queried.');
}
