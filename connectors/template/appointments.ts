/**
 * The PMS's form of an appointment, and its conversion to eligd's. This is the part of a connector
 * that differs most.
 */
import { z } from 'zod';
import type { AppointmentInput } from '../../src/domain/appointment.ts';

/**
 * Requires only the ID and the time of the visit; if planning needs another field, the visit goes
 * on the attention list.
 */
export const templateAppointmentSchema = z.object({
  id: z.string().min(1),
  start: z.iso.datetime({ offset: true }),
  cancelled: z.boolean().default(false),
  patient: z.object({
    id: z.string().nullable().default(null),
    first_name: z.string().default(''),
    last_name: z.string().default(''),
    birth_date: z.iso.date().nullable().catch(null).default(null),
  }),
  insurance: z
    .array(
      z.object({
        carrier: z.string().default(''),
        payor_id: z.string().default(''),
        member_id: z.string().default(''),
        group_id: z.string().default(''),
      }),
    )
    .default([]),
  npi: z.string().default(''),
  codes: z.array(z.string()).default([]),
});

export type TemplateAppointment = z.infer<typeof templateAppointmentSchema>;

export function toAppointment(item: TemplateAppointment): AppointmentInput {
  return {
    source_id: item.id,
    starts_at: new Date(item.start).toISOString(),
    status: item.cancelled ? 'cancelled' : 'booked',
    patient: item.patient,
    coverages: item.insurance.map((coverage) => ({ ...coverage, subscriber: null })),
    provider: {
      rendering_npi: item.npi,
      billing_npi: '',
      tax_id: '',
      is_specialist: null,
      in_network: null,
    },
    location: null,
    specialty: null,
    procedure_codes: [...new Set(item.codes.map((code) => code.toUpperCase()))],
    diagnosis_codes: [],
    problems: [],
  };
}
