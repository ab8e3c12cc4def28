/**
 * Puts one resource of eligd's on the server, exactly once (G4), and never touches anybody else's.
 *
 * A resource is ours when it carries our identifier; one that a search returns without it is not,
 * whatever was searched for. The order:
 *
 * 1. the id that the journal holds, read and judged;
 * 2. otherwise a conditional create (`If-None-Exist`) where the server honors it, else a search
 *    first and a plain create after it;
 * 3. after a lost reply, a look before anything is written again: at once where the server itself
 *    looks before a create, and otherwise when the core comes back, since many servers show in
 *    searches only after a while what they have taken;
 * 4. what is there and differs is updated with `If-Match`, and after a conflict read and judged
 *    again.
 */

import { isJson, type Resource, textAt } from '../element.ts';
import type { FhirEnv } from '../events.ts';
import type { Capability } from '../server/capability.ts';
import type { FhirClient, Written } from '../server/client.ts';
import { FhirError, isPassing, unlessRefused } from '../server/failure.ts';
import { printable } from './printable.ts';

export type Slot = {
  /** What is to be there. */
  resource: Resource;
  isOurs: (found: Resource) => boolean;
  /**
   * A search that finds it; also the condition of a conditional create when `is_condition`. Null:
   * it cannot be searched for.
   */
  look: { parameter: string; value: string; is_condition: boolean } | null;
  /** The id that the journal holds, null when it holds none. */
  known_id: string | null;
  /** Whether a write was begun of which the id was never learned. */
  may_exist: boolean;
  /** Whether it cannot have been written before, except in a write that was begun. */
  is_fresh?: boolean;
  /** Whether what is there is known to be older, even if it seems to say the same. */
  is_newer: boolean;
  /** Keeps what an earlier write of ours put there, e.g. for another visit. */
  merge?: (found: Resource, wanted: Resource) => Resource;
};

export type Placed = { id: string; is_new: boolean };

type WriteParts = { client: FhirClient; capability: Capability; env: FhirEnv };

const TRIES = 6;
const PAUSE_MS = 50;
/** A longer wait is left to the core. */
const PATIENCE_MS = 20_000;

/** Throws a FhirError: `isPassing` when trying again may help, otherwise the server's refusal. */
export async function place(parts: WriteParts, wanted: Slot, signal: AbortSignal): Promise<Placed> {
  const slot = { ...wanted, resource: printable(wanted.resource) };
  // Whether a write of ours may be there already.
  let may_exist = slot.may_exist;
  for (let tries = 1; ; tries += 1) {
    const { found, is_certain } = await find(parts, slot, may_exist, signal);
    if (found === null && !is_certain) {
      // What was written is there as far as anybody can tell.
      if (slot.known_id !== null && !slot.is_newer) return { id: slot.known_id, is_new: false };
      if (slot.known_id !== null || may_exist) throw undecidable(slot);
    }
    try {
      if (found !== null) {
        await bringUpToDate(parts, slot, found, signal);
        return { id: found.id, is_new: false };
      }
      const settled = await judgeCreated(parts, slot, await create(parts, slot, signal), signal);
      if (settled !== null) return settled;
    } catch (error) {
      if (
        !(error instanceof FhirError) ||
        tries >= TRIES ||
        !(isPassing(error) || error.kind === 'conflict')
      )
        throw error;
      const shows_at_once = parts.capability.conditionalCreate(slot.resource.resourceType);
      if (error.may_be_done && found === null && !shows_at_once) throw error;
      // The reply was lost, or somebody was faster: what is there now decides.
      may_exist ||= error.may_be_done || error.kind === 'conflict';
      if (error.retry_after_ms !== null && error.retry_after_ms > PATIENCE_MS) throw error;
      await parts.env.clock.sleep(error.retry_after_ms ?? PAUSE_MS * tries, signal);
    }
    if (tries >= TRIES)
      throw new FhirError('broken', {
        what:
          `The FHIR server does not show the ${slot.resource.resourceType} that it said it ` +
          'has.',
      });
  }
}

type Found = Resource & { id: string };

const hasId = (resource: Resource): resource is Found => resource.id !== undefined;

/** Whether a create finds what is there already, in one step. */
function isAtomic({ capability }: WriteParts, { look, resource }: Slot): boolean {
  return look?.is_condition === true && capability.conditionalCreate(resource.resourceType);
}

/**
 * `is_certain`: nothing found means that nothing is there, or that a create would notice what is.
 */
async function find(
  parts: WriteParts,
  slot: Slot,
  may_exist: boolean,
  signal: AbortSignal,
): Promise<{ found: Found | null; is_certain: boolean }> {
  const { client, capability } = parts;
  const { resourceType } = slot.resource;
  if (slot.known_id !== null) {
    const found = await unlessRefused(() => client.read(resourceType, slot.known_id ?? '', signal));
    if (found !== null && hasId(found) && slot.isOurs(found)) return { found, is_certain: true };
  }
  const is_atomic = isAtomic(parts, slot);
  const { look } = slot;
  if (look === null || capability.searchParameter(resourceType, look.parameter) === false)
    return { found: null, is_certain: is_atomic };
  // An id that leads nowhere is of a restored server, or of another one: what is there is looked
  // for.
  if ((is_atomic || slot.is_fresh === true) && !may_exist && slot.known_id === null)
    return { found: null, is_certain: true };
  const result = await unlessRefused(() =>
    client.searchAll(resourceType, [[look.parameter, look.value]], signal),
  );
  if (result === null) return { found: null, is_certain: is_atomic };
  // The oldest first, so that everybody who looks means the same one.
  const age = (resource: Found) => `${textAt(resource, 'meta', 'lastUpdated')} ${resource.id}`;
  const ours = result.matches
    .filter(hasId)
    .filter(slot.isOurs)
    .toSorted((a, b) => age(a).localeCompare(age(b)));
  return { found: ours[0] ?? null, is_certain: is_atomic || !result.is_partial };
}

function create(parts: WriteParts, slot: Slot, signal: AbortSignal): Promise<Written> {
  const { look, resource } = slot;
  const condition =
    look !== null && isAtomic(parts, slot)
      ? `${look.parameter}=${encodeURIComponent(look.value)}`
      : null;
  return parts.client.create(resource, condition, signal);
}

/**
 * A conditional create answers 200 with what was there already; that has to be ours and up to date.
 * Null: look again.
 */
async function judgeCreated(
  parts: WriteParts,
  slot: Slot,
  { resource, id, is_new }: Written,
  signal: AbortSignal,
): Promise<Placed | null> {
  if (is_new) return { id, is_new };
  const found =
    resource ??
    (await unlessRefused(() => parts.client.read(slot.resource.resourceType, id, signal)));
  if (found === null || !hasId(found)) return null;
  if (!slot.isOurs(found)) {
    const what =
      `The FHIR server answered a conditional create of ${slot.resource.resourceType} with a ` +
      `resource that is not eligd's, which was left alone.`;
    throw new FhirError('refused', { what });
  }
  await bringUpToDate(parts, slot, found, signal);
  return { id: found.id, is_new };
}

async function bringUpToDate(
  { client }: WriteParts,
  slot: Slot,
  found: Found,
  signal: AbortSignal,
): Promise<void> {
  const wanted = slot.merge?.(found, slot.resource) ?? slot.resource;
  if (!slot.is_newer && holds(found, wanted)) return;
  const version = textAt(found, 'meta', 'versionId') || null;
  const { meta } = found;
  await client.update(
    { ...wanted, id: found.id, ...(isJson(meta) ? { meta: labels(meta) } : {}) },
    version,
    signal,
  );
}

/**
 * What a server keeps in `meta` besides version and time: labels that are not ours to take away.
 */
function labels(meta: object): object {
  return Object.fromEntries(
    Object.entries(meta).filter(([name]) => ['profile', 'security', 'tag'].includes(name)),
  );
}

/**
 * Whether `found` says all that `wanted` says; a server may add to it. The text for people is the
 * server's to rewrite.
 */
export function holds(found: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(found) &&
      found.length === wanted.length &&
      wanted.every((one, index) => holds(found[index], one))
    );
  }
  if (!isJson(wanted)) return sameValue(found, wanted);
  return (
    isJson(found) &&
    Object.entries(wanted).every(([name, value]) =>
      name === 'text' && isJson(value) && 'div' in value ? true : holds(found[name], value),
    )
  );
}

/** Servers write times in their own zone and precision. */
function sameValue(found: unknown, wanted: unknown): boolean {
  if (found === wanted) return true;
  if (
    typeof found !== 'string' ||
    typeof wanted !== 'string' ||
    !/^\d{4}-\d{2}-\d{2}T/.test(wanted)
  )
    return false;
  return Date.parse(found) === Date.parse(wanted);
}

function undecidable({ resource }: Slot): FhirError {
  return new FhirError('refused', {
    what:
      `Whether the FHIR server has the ${resource.resourceType} is not known, and it cannot be ` +
      'looked for, so it is not written again.',
  });
}
