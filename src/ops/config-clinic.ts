/** Configuration keys: the clinic, and what differs by location or provider. */
import { z } from 'zod';
import { SPECIALTIES } from '../domain/specialty.ts';
import { localDate, nonEmpty, npi, taxId, timeZone } from './config-values.ts';

export const clinic = z
  .strictObject({
    name: nonEmpty
      .describe('The name of the clinic, as the payer should hear it.')
      .meta({ examples: ['Riverside Dental'] }),
    time_zone: timeZone
      .describe('IANA time zone of appointment times, business days, and "today".')
      .meta({ examples: ['America/Chicago'] }),
    specialty: z
      .enum(SPECIALTIES)
      .describe(
        'The specialty of appointments, unless an appointment, a provider, or a location ' +
          'says otherwise.',
      ),
    tax_id: taxId
      .describe('Tax ID of the billing practice, 9 digits in quotes.')
      .meta({ examples: ['123456789'] }),
    billing_npi: npi
      .describe('NPI of the billing practice, 10 digits in quotes.')
      .meta({ examples: ['1234567893'] }),
    is_specialist: z
      .boolean()
      .default(false)
      .describe('Whether the providers are specialists, such as periodontists.'),
    in_network: z
      .boolean()
      .nullable()
      .default(null)
      .describe(
        'Whether the providers are in network with the plans; null: the service finds out.',
      ),
    practice_billing_address: nonEmpty
      .nullable()
      .default(null)
      .describe('Billing address in one line, for payers that ask for it.')
      .meta({ examples: ['100 Main Street, Springfield, IL 62701'] }),
    place_of_service: nonEmpty
      .nullable()
      .default(null)
      .describe(
        'The place of service, for medical and mental health, unless an appointment, a ' +
          'provider, or a location says otherwise.',
      )
      .meta({ examples: ['11'] }),
    closed: z
      .array(localDate)
      .default([])
      .describe('Dates on which the clinic is closed, besides weekends and federal holidays.')
      .meta({ examples: [['2026-12-24']] }),
  })
  .describe('Who asks.');

export const override = z.strictObject({
  specialty: z
    .enum(SPECIALTIES)
    .exactOptional()
    .describe('The specialty, if the appointment has none.'),
  tax_id: taxId
    .exactOptional()
    .describe('Tax ID, 9 digits in quotes.')
    .meta({ examples: ['123456789'] }),
  billing_npi: npi
    .exactOptional()
    .describe('Billing NPI, 10 digits in quotes.')
    .meta({ examples: ['1234567893'] }),
  is_specialist: z.boolean().exactOptional(),
  in_network: z.boolean().exactOptional(),
  place_of_service: nonEmpty
    .exactOptional()
    .describe('The place of service, for medical and mental health.'),
});
