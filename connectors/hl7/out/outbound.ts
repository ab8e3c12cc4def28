/**
 * Writes messages: segments from values, the header, and IDs that stay the same for the same
 * delivery (G4).
 */
import { createHash } from 'node:crypto';
import type { Hl7Config } from '../config.ts';
import { encode } from '../v2/escapes.ts';
import { writeInstant } from '../v2/times.ts';

/**
 * A field: text, its components, or repetitions of either; `raw` allows subcomponents. Empty: no
 * value.
 */
export type Field =
  | string
  | null
  | readonly (string | null)[]
  | { repeated: readonly (string | readonly string[])[] }
  | { raw: string };

/** Returns `SEG|1|…` without the final carriage return; omits empty fields at the end. */
export function segment(name: string, ...fields: readonly Field[]): string {
  return [name, ...fields.map(written)].join('|').replace(/\|+$/, '');
}

function written(field: Field): string {
  if (field === null) return '';
  if (typeof field === 'string') return encode(field);
  if ('raw' in field) return field.raw;
  if ('repeated' in field)
    return field.repeated.map((one) => components(typeof one === 'string' ? [one] : one)).join('~');
  return components(field);
}

function components(parts: readonly (string | null)[]): string {
  return parts
    .map((part) => encode(part ?? ''))
    .join('^')
    .replace(/\^+$/, '');
}

/** Places fields at their numbers: `at({ 3: 'x' })` is `null, null, 'x'`. */
export function at(fields: Readonly<Record<number, Field>>): Field[] {
  const last = Math.max(0, ...Object.keys(fields).map(Number));
  return Array.from({ length: last }, (_, index) => fields[index + 1] ?? null);
}

/**
 * Derives MSH-10 from the delivery, so that it is the same each time it is sent. It has twenty
 * characters, which every version allows.
 */
function controlId(delivery_key: string, service_id: string): string {
  const digest = createHash('sha256').update(`${delivery_key} ${service_id}`).digest('hex');
  return `E${digest.slice(0, 19).toUpperCase()}`;
}

/** A message to send, and its MSH-10. */
export type Outgoing = { control_id: string; text: string };

/**
 * Shared by the messages of a batch. `written_at`: the instant at which the batch was created; the
 * same delivery of the same batch gives the same bytes (G4).
 */
export type Writing = { config: Hl7Config; time_zone: string; written_at: string };

type Structure = { type: string; trigger: string; structure: string };

/** Builds a whole message; each segment ends with a carriage return. */
export function compose(
  { config: { header }, time_zone, written_at }: Writing,
  { type, trigger, structure }: Structure,
  delivery: { key: string; record: { inquiry_id: string } },
  segments: readonly string[],
): Outgoing {
  const control_id = controlId(delivery.key, delivery.record.inquiry_id);
  const msh = [
    'MSH',
    '^~\\&',
    ...[
      header.sending_application,
      header.sending_facility,
      header.receiving_application,
      header.receiving_facility,
    ].map(entity),
    writeInstant(written_at, time_zone),
    '',
    // The message structure exists from version 2.3.1 on.
    header.version === '2.3' ? `${type}^${trigger}` : `${type}^${trigger}^${structure}`,
    control_id,
    header.processing_id,
    header.version,
    '',
    '',
    header.accept_acknowledgment,
    header.application_acknowledgment,
    '',
    header.character_set,
  ].join('|');
  return { control_id, text: `${[msh, ...segments].join('\r')}\r` };
}

/** The configuration may contain `name^universal id^type`, so carets are kept. */
function entity(text: string): string {
  return text
    .split('^')
    .map((part) => encode(part))
    .join('^');
}
