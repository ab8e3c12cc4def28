/** The PMS's form of a visit, and its conversion to eligd's appointment. */
import { z } from 'zod';
import type { AppointmentInput } from '../../src/domain/appointment.ts';

/**
 * Requires only the ID and the time of the visit; if planning needs another field, the visit goes
 * on the attention list.
 */
export const visitSchema = z.object({
  visit_id: z.string().min(1),
  begins: z.iso.datetime({ offset: true }),
  patient: z.object({
    number: z.string().nullable().default(null),
    first_name: z.string().default(''),
    last_name: z.string().default(''),
    birth_date: z.iso.date().nullable().catch(null).default(null),
  }),
  policies: z
    .array(
      z.object({
        payer: z.string().default(''),
        payer_code: z.string().default(''),
        member_id: z.string().default(''),
        group_id: z.string().default(''),
      }),
    )
    .default([]),
  dentist_npi: z.string().default(''),
  procedures: z.array(z.string()).default([]),
});

/** A deleted visit has only its ID. */
export const deletionSchema = z.object({ visit_id: z.string().min(1), deleted: z.literal(true) });

export function toAppointment(visit: z.infer<typeof visitSchema>): AppointmentInput {
  const { number, ...patient } = visit.patient;
  return {
    source_id: visit.visit_id,
    starts_at: new Date(visit.begins).toISOString(),
    status: 'booked',
    patient: { id: number, ...patient },
    coverages: visit.policies.map(({ payer, payer_code, member_id, group_id }) => ({
      carrier: payer,
      payor_id: payer_code,
      member_id,
      group_id,
      subscriber: null,
    })),
    provider: {
      rendering_npi: visit.dentist_npi,
      billing_npi: '',
      tax_id: '',
      is_specialist: null,
      in_network: null,
    },
    location: null,
    specialty: null,
    procedure_codes: [...new Set(visit.procedures.map((code) => code.toUpperCase()))],
    diagnosis_codes: [],
    problems: [],
  };
}
