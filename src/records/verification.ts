/**
 * Transcript verifications (docs/service.md "Transcript verification record"), made into the part
 * that every record has.
 */
import type { Check, Confidence, Verification } from './parts.ts';
import { isObject, ObjectReader, pathTo, Remainder } from './reader.ts';
import { isSilent, readText, readTimestamp } from './values.ts';

/**
 * `raw` is the array of the service, newest first; nothing readable in it gives `verification:
 * null`. Only a status of MET is met: the other words are not documented, so none of them is taken
 * for good news.
 */
export function readVerification(
  raw: unknown,
  remainder: Remainder,
): { verification: Verification | null; confidence?: Confidence } {
  if (!isSilent(raw) && !Array.isArray(raw)) remainder.add('verifications', raw, 'not a list');
  const records: unknown[] = Array.isArray(raw) ? raw : [];
  const checks = records.flatMap((record, index) =>
    readRecord(record, pathTo('verifications', index), remainder),
  );
  if (checks.length === 0) return { verification: null };
  const latest = latestChecks({ checks });
  return {
    confidence: latest.every(({ is_met }) => is_met) ? 'high' : 'low',
    verification: { checks },
  };
}

/**
 * Of each name the checks of the newest call that has it: a second call may have made good what the
 * first one missed. Within one call all count, and so do those without a name, of which nobody can
 * say which one makes good which.
 */
export function latestChecks({ checks }: Verification): Check[] {
  const newest = new Map<string, string | null>();
  return checks.filter(({ name, call_log_id }) => {
    if (name === null) return true;
    if (!newest.has(name)) newest.set(name, call_log_id);
    return newest.get(name) === call_log_id;
  });
}

function readRecord(raw: unknown, path: string, remainder: Remainder): Check[] {
  const fields = new ObjectReader(raw, path, remainder);
  const shared = {
    call_log_id: fields.read('call_log_id', readText) ?? null,
    checked_at: fields.read('creation_ts', readTimestamp) ?? null,
  };
  // Whose record it is stands in the record that it is kept with.
  fields.take('id');
  fields.take('inquiry_id');
  const items = fields.take('verification_items');
  if (!isSilent(items) && !Array.isArray(items)) fields.flag('verification_items', 'not a list');
  fields.finish();
  return (Array.isArray(items) ? items : []).flatMap((item: unknown, index) => {
    const at = pathTo(pathTo(path, 'verification_items'), index);
    return isSilent(item) ? [] : readItem(item, at, shared, remainder);
  });
}

function readItem(
  raw: unknown,
  path: string,
  shared: Pick<Check, 'call_log_id' | 'checked_at'>,
  remainder: Remainder,
): Check[] {
  const fields = new ObjectReader(raw, path, remainder);
  if (!isObject(raw)) return [];
  const status = fields.read('status', readText) ?? null;
  const validation = fields.take('validation');
  const check = {
    name: fields.read('name', readText) ?? null,
    description: fields.read('description', readText) ?? null,
    status,
    is_met: status !== null && status.trim().toUpperCase() === 'MET',
    evidence: fields.read('evidence', readText) ?? null,
    reasoning: fields.read('reasoning', readText) ?? null,
    ...(isSilent(validation) ? {} : { validation }),
    ...shared,
  };
  fields.finish();
  return [check];
}

/**
 * When the newest of the checks was made, in epoch milliseconds; null when the service does not
 * say.
 */
export function lastCheckedAt(raw: readonly unknown[]): number | null {
  const { verification } = readVerification(raw, new Remainder());
  const times = (verification?.checks ?? []).flatMap(({ checked_at }) =>
    checked_at === null ? [] : [Date.parse(checked_at)],
  );
  return times.length === 0 ? null : Math.max(...times);
}
