/**
 * The complete document that eligd delivers about one visit and one coverage: the visit, the
 * patient, the verdict, and the record that the verdict is based on.
 * `config/schemas/delivery.schema.json` is the same schema for other programs; docs/json.md says
 * what a reader can rely on.
 */
import { z } from 'zod';
import { type EligibilityRecord, eligibilityRecordSchema } from './eligibility.ts';
import { dateSchema, SPECIALTY_WORDS } from './parts.ts';
import { openSchema } from './schemas.ts';
import type { Weighed } from './verdict/reasons.ts';
import { REASON_CODES, STANDINGS, VERDICTS, type Verdict } from './verdict.ts';

const DELIVERY_SCHEMA = 'eligd.delivery/1';

const dollars = z
  .string()
  .regex(/^\d+\.\d{2}$/)
  .describe('US dollars, decimal text with two decimals.');

const paysSchema = z
  .strictObject({ low: dollars, high: dollars, currency: z.literal('USD') })
  .meta({
    id: 'PatientPays',
    description: 'A range; both ends are equal when nothing is ' + 'uncertain.',
  });

const reasonSchema = z
  .strictObject({
    code: z.enum(REASON_CODES),
    text: z.string().describe('A sentence for the front desk.'),
    facts: z.array(
      z.strictObject({
        path: z.string().describe('Where in `record`: plan.is_active.'),
        value: z.unknown().describe('The value there; null when absent.'),
      }),
    ),
  })
  .meta({ id: 'Reason' });

const procedureSchema = z
  .strictObject({
    code: z.string().describe('Upper case; a dental code with its D.'),
    standing: z.enum(STANDINGS),
    reasons: z.array(reasonSchema),
    remarks: z.array(z.string()).describe('What else the payer said, quoted.'),
    next_eligible: dateSchema.nullable().describe('When a used-up limit allows it again.'),
    plan_pays_percent: z
      .number()
      .nullable()
      .describe("The plan's share, when it applies as stated; null otherwise."),
    copay: z.string().nullable().describe('US dollars, when it applies as stated; null otherwise.'),
    fee: dollars.nullable().describe("The clinic's fee; null when not known."),
    patient_pays: paysSchema.nullable().describe('Null when no fee is known.'),
  })
  .meta({ id: 'Procedure', description: 'A scheduled procedure.' });

export const deliverySchema = z
  .strictObject({
    schema: z.literal(DELIVERY_SCHEMA),
    delivery_key: z.string().describe('The permanent name of this delivery.'),
    revision: z.int().describe('1 for the first answer; each revision adds 1.'),
    written_at: z.string().describe('Clinic time with its offset.'),
    connector: z.string().describe('The ID of the connector in the configuration.'),
    appointment: z.strictObject({
      id: z.string().describe("The practice management system's."),
      starts_at: z.string().describe('Clinic time with its offset.'),
      location: z.string().nullable(),
      specialty: z.enum(SPECIALTY_WORDS),
      procedure_codes: z.array(z.string()).describe('As scheduled.'),
    }),
    patient: z.strictObject({
      id: z.string().nullable(),
      name: z.string().describe('First name, last name.'),
      dob: dateSchema.nullable(),
    }),
    coverage: z.strictObject({
      rank: z.int().describe('1 for the primary one.'),
      carrier: z.string(),
      payor_id: z.string(),
      member_id: z.string(),
      group_id: z.string(),
    }),
    verdict: z.strictObject({
      standing: z.enum(VERDICTS),
      reasons: z.array(reasonSchema).describe('Of the visit as a whole.'),
      patient_pays: paysSchema
        .nullable()
        .describe('For the whole visit; null unless every fee is known.'),
    }),
    procedures: z.array(procedureSchema),
    notes: z.array(z.string()).describe('Sentences to read before the visit.'),
    record: eligibilityRecordSchema,
  })
  .meta({
    title: 'eligd delivery',
    description: 'The answer about one visit and one coverage, with the verdict.',
  });

export type DeliveryDocument = z.infer<typeof deliverySchema>;

/** The parts of the document; times are already in clinic time with their offset. */
type DeliveryParts = {
  key: string;
  revision: number;
  written_at: string;
  connector: string;
  starts_at: string;
  appointment: {
    source_id: string;
    location: string | null;
    procedure_codes: readonly string[];
    coverage_rank: number;
    patient: {
      id: string | null;
      first_name: string;
      last_name: string;
      birth_date: string | null;
    };
    coverage: { carrier: string; payor_id: string; member_id: string; group_id: string };
  };
  verdict: Verdict;
  notes: readonly string[];
  record: EligibilityRecord;
};

/** Builds the document. Pure. */
export function deliveryDocument(parts: DeliveryParts): DeliveryDocument {
  const { appointment, verdict, record } = parts;
  const { patient, coverage } = appointment;
  return {
    schema: DELIVERY_SCHEMA,
    delivery_key: parts.key,
    revision: parts.revision,
    written_at: parts.written_at,
    connector: parts.connector,
    appointment: {
      id: appointment.source_id,
      starts_at: parts.starts_at,
      location: appointment.location,
      specialty: record.specialty,
      procedure_codes: [...appointment.procedure_codes],
    },
    patient: {
      id: patient.id,
      name: `${patient.first_name} ${patient.last_name}`.trim(),
      dob: patient.birth_date,
    },
    coverage: {
      rank: appointment.coverage_rank,
      carrier: coverage.carrier,
      payor_id: coverage.payor_id,
      member_id: coverage.member_id,
      group_id: coverage.group_id,
    },
    verdict: {
      standing: verdict.standing,
      reasons: verdict.reasons.map(asReason),
      patient_pays: verdict.patient_pays,
    },
    procedures: verdict.procedures.map((each) => ({
      ...each,
      reasons: each.reasons.map(asReason),
    })),
    notes: [...parts.notes],
    record,
  };
}

/** `standing` already expresses the effect on the procedure. */
const asReason = ({ code, text, facts }: Weighed) => ({ code, text, facts });

/** Returns the JSON Schema, as published in `config/schemas/delivery.schema.json`. */
export function deliveryJsonSchema(): Record<string, unknown> {
  return openSchema(z.toJSONSchema(deliverySchema), DELIVERY_SCHEMA);
}
