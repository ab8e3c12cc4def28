/** Configuration keys: when eligd makes a call, and what it asks. */
import { z } from 'zod';
import { CLAIM_REQUIRED_FIELDS, REQUIRED_FIELDS } from '../domain/policy.ts';
import { dollarAmount } from './config-prices.ts';
import {
  hoursOfDay,
  localDate,
  nonEmpty,
  timeOfDay,
  timeZone,
  wholeFrom,
} from './config-values.ts';

const defaultFields = (
  [
    'patient_name',
    'dob',
    'member_id',
    'tax_id',
    'billing_npi',
  ] satisfies (typeof REQUIRED_FIELDS)[number][]
).slice();

const requiredFields = z.array(z.enum(REQUIRED_FIELDS)).default(defaultFields);

const claims = z
  .strictObject({
    ask_after_days: wholeFrom(0)
      .max(364)
      .default(14)
      .describe('Days after the date of service at which eligd asks about an open claim.'),
    ask_again_days: wholeFrom(1)
      .default(14)
      .describe('Days until eligd asks again if the payer has not decided on the claim.'),
    max_calls: wholeFrom(1)
      .default(6)
      .describe('Maximum calls about one claim; then the claim goes on the attention list.'),
    required_fields: z
      .array(z.enum(CLAIM_REQUIRED_FIELDS))
      .default(['patient_name', 'dob', 'member_id', 'tax_id', 'billing_npi', 'date_of_service'])
      .describe('Fields without which no call is made.'),
    beneficiary: nonEmpty
      .default('PRIMARY')
      .describe(
        "The service's word for the primary coverage in questions about medical claims; " +
          'none: do not send it.',
      ),
  })
  .prefault({})
  .describe('When eligd asks payers about claims.');

const payerHours = z
  .strictObject({
    hours: hoursOfDay
      .default('08:00-17:00')
      .describe('The hours of a business day in which payers answer, in each time zone.'),
    zones: z
      .array(timeZone)
      .min(1)
      .default(['America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles'])
      .describe(
        'Time zones of the payers: they answer from the first opening to the last closing.',
      ),
    holidays: z
      .array(localDate)
      .default([])
      .describe('Days on which no payer answers, besides weekends and US federal holidays.')
      .meta({ examples: [['2026-11-27']] }),
    same_day_cutoff: timeOfDay
      .nullable()
      .default('12:00')
      .describe(
        'The latest time (Eastern) at which a call can be sent and answered on the same ' +
          'day; null: never.',
      ),
    turnaround_days: z
      .number()
      .min(0)
      .max(30)
      .default(2)
      .describe(
        'Business days from sending a call to its answer, until eligd has learned the ' +
          "payer's usual time from its own calls.",
      ),
  })
  .prefault({})
  .describe('When payers answer the phone; for one payer: hours and zone in payers.csv.');

const attentionKind = (description: string) => z.boolean().default(true).describe(description);

export const policy = z
  .strictObject({
    look_ahead_days: z
      .number()
      .min(0)
      .max(365)
      .default(7)
      .describe('The earliest day of a call, in days before the visit.'),
    min_lead_hours: z
      .number()
      .min(0)
      .default(4)
      .describe(
        'If the visit is fewer payer hours away than this, eligd makes no call and puts ' +
          'the visit on the attention list.',
      ),
    late_visits: z
      .enum(['call_yourself', 'buy'])
      .default('call_yourself')
      .describe(
        'What to do if the payer will probably not answer before the visit. ' +
          'call_yourself: no call; the visit goes on the attention list with the questions ' +
          'to ask. buy: make the call anyway, unless less than min_lead_hours are left.',
      ),
    payer_hours: payerHours,
    reverify_after_days: z
      .number()
      .min(0)
      .default(30)
      .describe('How many days an answer is reused for later visits with the same need.'),
    benefits_days: z
      .number()
      .min(0)
      .default(365)
      .describe(
        "How many days a plan's shares and limits count as known, never beyond the plan " +
          'year. eligd asks again after reverify_after_days whether a patient is covered.',
      ),
    attempts: wholeFrom(1)
      .max(10)
      .default(2)
      .describe('Maximum calls for one need, including the first.'),
    attempt_pause_hours: z
      .number()
      .min(0)
      .default(20)
      .describe('Pause after an unsuccessful call.'),
    give_up_after_days: z
      .number()
      .min(0)
      .default(14)
      .describe('Days after the visit at which eligd stops asking for the answer.'),
    calls_per_day: wholeFrom(0)
      .nullable()
      .default(null)
      .describe('Maximum calls in a day; null: no limit. Further calls wait.'),
    calls_per_month: wholeFrom(0)
      .nullable()
      .default(null)
      .describe('Maximum calls in a month; null: no limit. Further calls wait.'),
    dollars_per_day: dollarAmount
      .nullable()
      .default(null)
      .describe('Maximum US dollars in a day; null: no limit. It needs prices.per_inquiry.'),
    dollars_per_month: dollarAmount
      .nullable()
      .default(null)
      .describe('Maximum US dollars in a month; null: no limit. It needs prices.per_inquiry.'),
    new_codes: z
      .enum(['note', 'call'])
      .default('note')
      .describe(
        'If a visit has procedure codes that its call did not ask about: note puts it on ' +
          'the attention list; call orders another call.',
      ),
    required_fields: z
      .strictObject({
        dental: requiredFields,
        medical: requiredFields,
        mental_health: requiredFields,
      })
      .prefault({})
      .describe('Fields without which no call is made, by specialty.'),
    claims,
    attention: z
      .strictObject({
        not_eligible: attentionKind('The plan is inactive, has ended, or has not begun.'),
        not_covered: attentionKind('A scheduled procedure is not covered.'),
        limit_reached: attentionKind('A frequency or age limit applies to a procedure.'),
        maximum_used_up: attentionKind('The maximum is used up.'),
        prior_authorization: attentionKind('A procedure needs prior authorization.'),
        out_of_network: attentionKind('The office is out of network.'),
        downgrade: attentionKind('The plan pays for a cheaper procedure instead.'),
        referral_required: attentionKind('The plan requires a referral.'),
        not_primary: attentionKind('Another coverage pays first.'),
      })
      .prefault({})
      .describe('Which answers go on the attention list; false turns a kind off.'),
    payers: nonEmpty
      .nullable()
      .default(null)
      .describe(
        'Path of payers.csv, which maps the payers in your PMS to the service’s names; ' +
          'null: payers.csv next to the configuration, if it exists.',
      )
      .meta({ examples: ['./payers.csv'] }),
    fees: nonEmpty
      .nullable()
      .default(null)
      .describe(
        "Path of the fee schedule (code, payer or *, fee): the clinic's fees, if the " +
          'export has none. Null: fees.csv next to the configuration, if it exists.',
      )
      .meta({ examples: ['./fees.csv'] }),
  })
  .prefault({})
  .describe('When eligd makes a call.');
