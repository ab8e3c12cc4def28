/**
 * Assigns the segments of a message to patients. A PID opens a patient group; the following
 * segments belong to that patient until the next PID or the first resource (HL7 v2.5.1, section
 * 10.3.1, SIU_S12; chapter 3 for ADT, chapter 6 for DFT).
 */
import type { Scope } from '../v2/fields.ts';
import { scopeOf } from '../v2/fields.ts';
import type { Message, Segment } from '../v2/message.ts';

/** Segments of the whole message or appointment, at any position. */
const OF_MESSAGE = new Set(['MSH', 'SFT', 'EVN', 'SCH', 'ARQ', 'TQ1']);

/** Segments of the resources group. In SIU, it follows the last patient and closes that group. */
const OF_RESOURCES = new Set(['RGS', 'AIS', 'AIG', 'AIL', 'AIP']);

/**
 * Returns one scope for each patient, in the order of their PIDs: the patient's own segments, with
 * those of the message and its resources. A message with one PID or none is one scope, in any
 * order.
 *
 * With several patients, a segment outside all groups is ignored: an IN1 before the first PID or
 * after the resources might belong to any of them, and a wrong chart is worse than a missing value
 * (G8). Vendor segments (Z…) outside the groups belong to the message.
 */
export function patientGroups(message: Message): Scope[] {
  if (message.all('PID').length < 2) return [message];
  const own: number[][] = [];
  const shared: number[] = [];
  let group: number[] | undefined;
  for (const [at, segment] of message.segments.entries()) {
    if (segment.name === 'PID') {
      group = [];
      own.push(group);
    } else if (OF_RESOURCES.has(segment.name)) group = undefined;
    if (isShared(segment, group)) shared.push(at);
    else group?.push(at);
  }
  return own.map((places) => {
    const in_order = [...places, ...shared].toSorted((a, b) => a - b);
    return scopeOf(in_order.flatMap((at) => message.segments[at] ?? []));
  });
}

function isShared({ name }: Segment, group: readonly number[] | undefined): boolean {
  if (OF_MESSAGE.has(name) || OF_RESOURCES.has(name)) return true;
  return group === undefined && name.startsWith('Z');
}
