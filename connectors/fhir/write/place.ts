/**
 * Writes one resource of eligd to the server, exactly once (G4), and never touches others.
 *
 * A resource is ours if it has our identifier; a search result without it is not, whatever the
 * search was. The order:
 *
 * 1. Read and judge the resource with the ID in the journal.
 * 2. Otherwise, use a conditional create (`If-None-Exist`) if the server honors it; if not, search
 *    first, then use a plain create.
 * 3. After a lost reply, do a lookup before the next write: at once if the server itself checks
 *    before a create; otherwise when the core repeats the batch, because on many servers a new
 *    resource appears in searches only after a while.
 * 4. Update a different version with `If-Match`; after a conflict, read and judge it again.
 */

import { isJson, type Resource, textAt } from '../element.ts';
import type { FhirEnv } from '../events.ts';
import type { Capability } from '../server/capability.ts';
import type { FhirClient, Written } from '../server/client.ts';
import { FhirError, isPassing, unlessRefused } from '../server/failure.ts';
import { printable } from './printable.ts';

export type Slot = {
  /** The resource to write. */
  resource: Resource;
  isOurs: (found: Resource) => boolean;
  /**
   * A search that finds it; with `is_condition`, also the condition of a conditional create. Null:
   * it cannot be searched.
   */
  look: { parameter: string; value: string; is_condition: boolean } | null;
  /** The ID in the journal; null: none. */
  known_id: string | null;
  /** Whether a write was started whose ID is unknown. */
  may_exist: boolean;
  /** Whether only a started write can have written it before. */
  is_fresh?: boolean;
  /** Whether the existing resource is known to be older, even if its content looks equal. */
  is_newer: boolean;
  /** Keeps content of an earlier write of ours, such as for another visit. */
  merge?: (found: Resource, wanted: Resource) => Resource;
};

export type Placed = { id: string; is_new: boolean };

type WriteParts = { client: FhirClient; capability: Capability; env: FhirEnv };

const TRIES = 6;
const PAUSE_MS = 50;
/** For a longer wait, the core repeats the batch. */
const PATIENCE_MS = 20_000;

/**
 * Puts the resource on the server. Throws a FhirError: `isPassing` if another try may help,
 * otherwise the server's refusal.
 */
export async function place(parts: WriteParts, wanted: Slot, signal: AbortSignal): Promise<Placed> {
  const slot = { ...wanted, resource: printable(wanted.resource) };
  // Whether a write of ours may already be there.
  let may_exist = slot.may_exist;
  for (let tries = 1; ; tries += 1) {
    const { found, is_certain } = await find(parts, slot, may_exist, signal);
    if (found === null && !is_certain) {
      // The resource was written, and nothing suggests otherwise.
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
      // The reply was lost, or another write was faster: the current state decides.
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

/** Returns whether a create finds an existing resource in the same step. */
function isAtomic({ capability }: WriteParts, { look, resource }: Slot): boolean {
  return look?.is_condition === true && capability.conditionalCreate(resource.resourceType);
}

/** `is_certain`: an empty result means that nothing exists, or that a create would find it. */
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
  // An ID without a resource comes from a restored or another server, so search for the resource.
  if ((is_atomic || slot.is_fresh === true) && !may_exist && slot.known_id === null)
    return { found: null, is_certain: true };
  const result = await unlessRefused(() =>
    client.searchAll(resourceType, [[look.parameter, look.value]], signal),
  );
  if (result === null) return { found: null, is_certain: is_atomic };
  // The oldest first, so that every search chooses the same one.
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
 * A conditional create answers 200 with the existing resource, which must be ours and current.
 * Null: do another lookup.
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

/** Returns what a server stores in `meta` besides version and time: labels that eligd must keep. */
function labels(meta: object): object {
  return Object.fromEntries(
    Object.entries(meta).filter(([name]) => ['profile', 'security', 'tag'].includes(name)),
  );
}

/**
 * Returns whether `found` contains everything in `wanted`; a server may add to it. The server may
 * rewrite the text for people.
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
