/**
 * Converts transcript verifications (docs/service.md "Transcript verification record") into the
 * part that every record has.
 */
import type { Check, Confidence, Verification } from './parts.ts';
import { isObject, ObjectReader, pathTo, Remainder } from './reader.ts';
import { isSilent, readText, readTimestamp } from './values.ts';

/**
 * Reads the service's array, newest first; if nothing in it is readable, returns `verification:
 * null`. Only the status MET counts as met: the other words are not documented, so none of them
 * counts as success.
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
 * Returns, for each name, the checks of the newest call that has it: a second call may make up for
 * what the first one missed. Within one call, all checks count. Checks without a name all count,
 * because they cannot be matched.
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
  // The record already belongs to this inquiry.
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
 * Returns when the newest check was made, in epoch milliseconds; null when the service does not
 * say.
 */
export function lastCheckedAt(raw: readonly unknown[]): number | null {
  const { verification } = readVerification(raw, new Remainder());
  const times = (verification?.checks ?? []).flatMap(({ checked_at }) =>
    checked_at === null ? [] : [Date.parse(checked_at)],
  );
  return times.length === 0 ? null : Math.max(...times);
}
