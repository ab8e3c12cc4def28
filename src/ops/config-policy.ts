/** Keys of the configuration: when a call is made, and what about. */
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
      .describe('Days until eligd asks again, while the payer has not decided on the claim.'),
    max_calls: wholeFrom(1)
      .default(6)
      .describe('Maximum calls about one claim; after that it goes on the attention list.'),
    required_fields: z
      .array(z.enum(CLAIM_REQUIRED_FIELDS))
      .default(['patient_name', 'dob', 'member_id', 'tax_id', 'billing_npi', 'date_of_service'])
      .describe('Fields without which no call is made.'),
    beneficiary: nonEmpty
      .default('PRIMARY')
      .describe(
        "The service's word for the primary coverage in questions about medical claims; none: it " +
          'is not sent.',
      ),
  })
  .prefault({})
  .describe('When payers are asked about claims.');

const payerHours = z
  .strictObject({
    hours: hoursOfDay
      .default('08:00-17:00')
      .describe('When they answer on a business day, in each of the zones.'),
    zones: z
      .array(timeZone)
      .min(1)
      .default(['America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles'])
      .describe('Where payers sit: they answer from the first opening to the last closing.'),
    holidays: z
      .array(localDate)
      .default([])
      .describe('Days on which no payer answers, besides weekends and US federal holidays.')
      .meta({ examples: [['2026-11-27']] }),
    same_day_cutoff: timeOfDay
      .nullable()
      .default('12:00')
      .describe(
        'Until when (Eastern time) a call can be sent and answered on the same day; null: never.',
      ),
    turnaround_days: z
      .number()
      .min(0)
      .max(30)
      .default(2)
      .describe(
        'Business days from sending a call to its answer, until eligd has learned it of the ' +
          'payer from its own calls.',
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
      .describe('How many days before the visit eligd calls at the earliest.'),
    min_lead_hours: z
      .number()
      .min(0)
      .default(4)
      .describe(
        'A visit that is fewer payer hours away than this gets no call, but a line on the ' +
          'attention list.',
      ),
    late_visits: z
      .enum(['call_yourself', 'buy'])
      .default('call_yourself')
      .describe(
        'What happens to a visit whose payer will hardly have answered when it starts: ' +
          'call_yourself: no call, but a line on the attention list with what to ask; buy: a ' +
          'call all the same, while min_lead_hours are left.',
      ),
    payer_hours: payerHours,
    reverify_after_days: z
      .number()
      .min(0)
      .default(30)
      .describe('How many days an answer is used for later visits with the same need.'),
    benefits_days: z
      .number()
      .min(0)
      .default(365)
      .describe(
        "How long a plan's shares and limits count as known, never beyond its plan year. Whether " +
          'a patient is covered is asked again after reverify_after_days.',
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
        'A visit with procedure codes that its call did not ask about: note says so on the ' +
          'attention list; call buys another call.',
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
        maximum_used_up: attentionKind('Nothing is left of the maximum.'),
        prior_authorization: attentionKind('A procedure needs prior authorization.'),
        out_of_network: attentionKind('The office is out of network.'),
        downgrade: attentionKind('The plan pays for a cheaper procedure instead.'),
        referral_required: attentionKind('The plan requires a referral.'),
        not_primary: attentionKind('Another coverage pays first.'),
      })
      .prefault({})
      .describe('Which answers go on the attention list; false switches a kind off.'),
    payers: nonEmpty
      .nullable()
      .default(null)
      .describe(
        'Path of payers.csv, which says the service’s names for the payers in your PMS; null: ' +
          'payers.csv next to the configuration, if there is one.',
      )
      .meta({ examples: ['./payers.csv'] }),
    fees: nonEmpty
      .nullable()
      .default(null)
      .describe(
        'Path of the fee schedule (code, payer or *, fee): what the clinic charges, where the ' +
          'export does not say. Null: fees.csv next to the configuration, if there is one.',
      )
      .meta({ examples: ['./fees.csv'] }),
  })
  .prefault({})
  .describe('When a call is made.');
