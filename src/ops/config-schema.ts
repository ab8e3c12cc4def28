import { z } from 'zod';
import { CLAIM_REQUIRED_FIELDS, REQUIRED_FIELDS } from '../domain/policy.ts';
import { SPECIALTIES } from '../domain/specialty.ts';
import { alertsSchema } from './config-alerts.ts';
import { dollarAmount, prices } from './config-prices.ts';
import { questions } from './config-questions.ts';
import {
  connectorId,
  cronLine,
  externalIdTemplate,
  headerName,
  hoursOfDay,
  listenAddress,
  localDate,
  nonEmpty,
  npi,
  pageAddress,
  taxId,
  timeOfDay,
  timeZone,
  urlPath,
  webAddress,
} from './config-values.ts';

/*
 * Every key of the configuration, with its default and what it means. The descriptions are shown by
 * editors through config/schemas/config.schema.json; config/example.yaml shows the same defaults
 * and is compared with this by a test.
 */

const wholeFrom = (low: number) => z.number().int().min(low);
const above0 = z.number().positive();

const clinic = z
  .strictObject({
    name: nonEmpty
      .describe('The name of the clinic, as the payer should hear it.')
      .meta({ examples: ['Riverside Dental'] }),
    time_zone: timeZone
      .describe('IANA time zone in which appointment times, business days and "today" are meant.')
      .meta({ examples: ['America/Chicago'] }),
    specialty: z
      .enum(SPECIALTIES)
      .describe(
        'What the appointments are for, unless an appointment, a provider or a location says ' +
          'otherwise.',
      ),
    tax_id: taxId
      .describe('Tax id of the billing practice, 9 digits in quotes.')
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
        'Whether the providers are in the network of the plans; null: the service finds out.',
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
        'Where services are given, for medical and mental health, unless an appointment, a ' +
          'provider or a location says otherwise.',
      )
      .meta({ examples: ['11'] }),
    closed: z
      .array(localDate)
      .default([])
      .describe('Dates on which the clinic is closed, besides weekends and federal holidays.')
      .meta({ examples: [['2026-12-24']] }),
  })
  .describe('Who asks.');

const submission = z
  .strictObject({
    mode: z
      .enum(['auto', 'bulk', 'single'])
      .default('auto')
      .describe('Several inquiries in one request, or one each; auto: what the service can.'),
    batch_size: wholeFrom(1)
      .max(1000)
      .default(25)
      .describe('Inquiries in one bulk request at most.'),
    max_per_minute: wholeFrom(0)
      .default(60)
      .describe('Requests to the service in any minute at most; 0: no limit.'),
    concurrency: wholeFrom(1)
      .max(64)
      .default(4)
      .describe('Requests to the service at the same time at most.'),
    bulk_shape: z
      .enum(['auto', 'array', 'object'])
      .default('auto')
      .describe(
        'Body of a bulk request: a bare array, or an object with `inquiries`; auto: what the ' +
          'service takes.',
      ),
  })
  .prefault({})
  .describe('How inquiries are sent.');

const service = z
  .strictObject({
    base_url: webAddress
      .describe('Address of the insurance inquiry service.')
      .meta({ examples: ['https://inquiries.example'] }),
    auth: z
      .enum(['oauth', 'basic'])
      .describe(
        'How eligd logs in: oauth (user name and password) or basic (project id and API key).',
      ),
    external_id: externalIdTemplate
      .default('{appointment}')
      .describe(
        'The label that an inquiry carries at the service; with more than one connector it ' +
          'must hold {connector}.',
      ),
    submission,
    send_npi: z
      .enum(['auto', 'always', 'never'])
      .default('auto')
      .describe(
        'Whether the deprecated field npi is sent; auto: once the service has refused an inquiry ' +
          'for want of it.',
      ),
    settle_seconds: z
      .number()
      .min(0)
      .default(300)
      .describe(
        'How long the service may need until a new inquiry appears in its list. Small values ' +
          'are for trying out.',
      ),
    timeout_seconds: above0.default(30).describe('How long a request may take.'),
    shared_account: z
      .boolean()
      .default(false)
      .describe(
        'Whether other programs send inquiries with the same account; otherwise an unknown ' +
          'inquiry stops submission.',
      ),
    proxy: webAddress
      .nullable()
      .default(null)
      .describe(
        'Address of the HTTP proxy by which the service is reached; null: none. Without a login.',
      )
      .meta({ examples: ['http://proxy.clinic.example:3128'] }),
    allow_insecure: z
      .boolean()
      .default(false)
      .describe(
        'Allows plain http to another machine, where patient data can be read on the way, and ' +
          'lets NODE_TLS_REJECT_UNAUTHORIZED=0 turn off the checking of certificates. ' +
          'For tests only.',
      ),
  })
  .describe('The insurance inquiry service.');

/** A connector's own keys are judged by its own schema (connectors.ts). */
const connectorBase = z
  .looseObject({
    id: connectorId
      .describe('A short name of your choice: letters, digits, dashes.')
      .meta({ examples: ['front-desk'] }),
    type: nonEmpty
      .describe('A connector that comes with eligd, or the path of a module.')
      .meta({ examples: ['csv'] }),
    expected_by: timeOfDay
      .nullable()
      .default(null)
      .describe(
        'By when an export arrives on every business day, by the clinic’s clock; without one ' +
          'eligd raises an alert. Null or absent: eligd learns the usual hour of each weekday.',
      )
      .meta({ examples: ['07:30'] }),
  })
  .describe('A practice management system: where appointments come from and answers go to.');

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
      .describe('Days after the service at which the payer is asked about an open claim.'),
    ask_again_days: wholeFrom(1)
      .default(14)
      .describe('Days until it is asked again, while the payer has not decided about the claim.'),
    max_calls: wholeFrom(1)
      .default(6)
      .describe('Calls about one claim at most; then it is on the attention list.'),
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

const policy = z
  .strictObject({
    look_ahead_days: z
      .number()
      .min(0)
      .max(365)
      .default(7)
      .describe('How many days before the visit the payer is called at the earliest.'),
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
      .describe('How long an answer serves later visits with the same need.'),
    attempts: wholeFrom(1)
      .max(10)
      .default(2)
      .describe('Calls for one need at most, counting the first.'),
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
      .describe('Calls in a day at most; null: no limit. What exceeds it waits.'),
    calls_per_month: wholeFrom(0)
      .nullable()
      .default(null)
      .describe('Calls in a month at most; null: no limit. What exceeds it waits.'),
    dollars_per_day: dollarAmount
      .nullable()
      .default(null)
      .describe('US dollars in a day at most; null: no limit. It needs prices.per_inquiry.'),
    dollars_per_month: dollarAmount
      .nullable()
      .default(null)
      .describe('US dollars in a month at most; null: no limit. It needs prices.per_inquiry.'),
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
        limit_reached: attentionKind('A frequency or age limit stands against a procedure.'),
        maximum_used_up: attentionKind('The yearly maximum is used up.'),
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
        'Path of payers.csv, which says how the service calls the payers of the PMS; null: ' +
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

const override = z.strictObject({
  specialty: z
    .enum(SPECIALTIES)
    .exactOptional()
    .describe('What is done there or by them, where the appointment does not say.'),
  tax_id: taxId
    .exactOptional()
    .describe('Tax id, 9 digits in quotes.')
    .meta({ examples: ['123456789'] }),
  billing_npi: npi
    .exactOptional()
    .describe('NPI that bills, 10 digits in quotes.')
    .meta({ examples: ['1234567893'] }),
  is_specialist: z.boolean().exactOptional(),
  in_network: z.boolean().exactOptional(),
  place_of_service: nonEmpty
    .exactOptional()
    .describe('Where services are given, for medical and mental health.'),
});

const verification = z
  .strictObject({
    ask_for_hours: z
      .number()
      .min(0)
      .default(48)
      .describe(
        'How long after an answer the checks of its calls are asked for, since they may come ' +
          'later; 0: never.',
      ),
    require: z
      .array(nonEmpty)
      .default([])
      .describe(
        'Names of checks that must be met; an answer of which one is not, or never came, is ' +
          'on the attention list.',
      )
      .meta({ examples: [['reference_number_asked']] }),
  })
  .prefault({})
  .refine((value) => value.require.length === 0 || value.ask_for_hours > 0, {
    error: 'requires checks that are never asked for.',
    params: { next: 'Raise verification.ask_for_hours, or take the names away.' },
    path: ['require'],
  })
  .describe("What becomes of the service's checks of its calls (transcript verification).");

const webhook = z
  .strictObject({
    listen: listenAddress
      .describe('Where eligd listens for the service, or for the reverse proxy in front of it.')
      .meta({ examples: ['127.0.0.1:8686'] }),
    public_url: webAddress
      .describe('The address at which the service reaches it.')
      .meta({ examples: ['https://clinic.example/webhooks/inquiries'] }),
    path: urlPath
      .nullable()
      .default(null)
      .describe('The path at which eligd itself receives; null: that of public_url.')
      .meta({ examples: ['/webhooks/inquiries'] }),
    signature_header: headerName
      .default('X-Service-Signature')
      .describe("Name of the header that holds the service's signature."),
    update_frequency_minutes: wholeFrom(1)
      .default(5)
      .describe('How often the service shall report, in minutes.'),
    take_over: z
      .boolean()
      .default(false)
      .describe(
        'Whether a subscription that points elsewhere is replaced. The account has only one, ' +
          'so somebody else loses theirs.',
      ),
    max_body_megabytes: above0.max(256).default(16).describe('The longest delivery that is taken.'),
  })
  .nullable()
  .default(null)
  .describe('Lets the service send webhook events. Null or absent: eligd only asks.');

const office = z
  .strictObject({
    listen: pageAddress
      .describe(
        'Where the office’s page is offered: host and port, or unix:PATH for a proxy on this ' +
          'machine. Another address than 127.0.0.1 needs `tls`.',
      )
      .meta({ examples: ['127.0.0.1:8688'] }),
    tls: z
      .strictObject({
        certificate: nonEmpty
          .describe('Path of the certificate with its chain, PEM.')
          .meta({ examples: ['./office.pem'] }),
        key: nonEmpty
          .describe('Path of its key, PEM; only eligd may read it.')
          .meta({ examples: ['./office.key'] }),
      })
      .nullable()
      .default(null)
      .describe('A certificate of its own; null: plain http, for this machine or a proxy on it.'),
    public_url: webAddress
      .nullable()
      .default(null)
      .describe('The address that people type, when a proxy is in front; null: that of `listen`.')
      .meta({ examples: ['https://eligd.clinic.example'] }),
    users: nonEmpty
      .nullable()
      .default(null)
      .describe(
        'Path of the file of users, which "eligd user" writes; null: office-users next to the ' +
          'database.',
      )
      .meta({ examples: ['./office-users'] }),
    idle_minutes: wholeFrom(1)
      .max(720)
      .default(30)
      .describe('Minutes without a click after which a login ends.'),
  })
  .nullable()
  .default(null)
  .describe('The page for the office, with a login. Null or absent: there is no page.');

const report = z
  .strictObject({
    folder: nonEmpty
      .nullable()
      .default(null)
      .describe(
        'A folder into which schedule.html is written as well, with patient data; null: none. ' +
          'A site without a drop folder sets it.',
      )
      .meta({ examples: ['/srv/eligd/report'] }),
    days: wholeFrom(1).max(31).default(5).describe('How many days with visits it shows.'),
  })
  .prefault({})
  .describe('The page of the coming days as a file, for people without a browser login.');

/** The whole file. */
export const configSchema = z.strictObject({
  mode: z
    .enum(['live', 'observe'])
    .default('live')
    .describe('observe: eligd reads and plans as usual, and makes no calls. live: it makes them.'),
  clinic,
  service,
  connectors: z
    .array(connectorBase)
    .min(1)
    .describe('Where appointments come from and answers go to.'),
  state: z
    .strictObject({
      path: nonEmpty
        .describe('The database file; it and its folder hold patient data.')
        .meta({ examples: ['./state/eligd.db'] }),
    })
    .describe('What eligd remembers.'),
  policy,
  prices,
  claim_words: z
    .record(
      nonEmpty,
      z.enum(['paid', 'partly_paid', 'approved', 'denied', 'pending', 'not_on_file']),
    )
    .default({})
    .describe(
      "What a payer's words for the status of a claim mean, where eligd does not know them; " +
        'without regard to case and punctuation.',
    )
    .meta({ examples: [{ 'AWAITING COB': 'pending' }] }),
  questions,
  locations: z
    .record(nonEmpty, override)
    .default({})
    .describe("What differs by place, by the PMS's name or id of it (without regard to case)."),
  providers: z
    .record(npi, override)
    .default({})
    .describe('What differs by provider, by rendering NPI (in quotes).'),
  polling: z
    .strictObject({
      interval_minutes: above0
        .default(60)
        .describe(
          'How often an open inquiry is asked about from the morning on which its answer is due. ' +
            'Before that, 24 times as rarely but at least once a day, and more often around the ' +
            "time that its payer's calls usually take. While webhook events come, much more " +
            'rarely.',
        ),
      urgent_interval_minutes: above0.default(15).describe('The same when the visit is near.'),
    })
    .prefault({})
    .describe('How the service is asked for answers.'),
  verification,
  schedule: z
    .strictObject({
      pull_seconds: above0.default(30).describe('How often connectors are asked for appointments.'),
      sweep_cron: cronLine
        .default('0 5 * * *')
        .describe(
          "When the service's list is compared with the database, as a line of cron in the " +
            "clinic's time zone.",
        ),
    })
    .prefault({})
    .describe('What happens when.'),
  webhook,
  monitoring: z
    .strictObject({
      listen: listenAddress
        .describe(
          'Where /healthz, /readyz and /metrics are offered, without login; it may be the ' +
            'address of the webhook.',
        )
        .meta({ examples: ['127.0.0.1:8687'] }),
    })
    .nullable()
    .default(null)
    .describe(
      'Lets a monitoring program look at eligd (Prometheus). Null or absent: no port is open ' +
        'for it.',
    ),
  office,
  alerts: alertsSchema,
  report,
  retention: z
    .strictObject({
      days: wholeFrom(60)
        .nullable()
        .default(400)
        .describe(
          'Days after the visit at which eligd deletes what it knows of it, patient data ' +
            'included; null: never.',
        ),
    })
    .prefault({})
    .describe(
      "How long eligd keeps what it knows. The practice management system's own records are " +
        'not touched.',
    ),
  backup: z
    .strictObject({
      folder: nonEmpty
        .nullable()
        .default(null)
        .describe(
          'Where copies of the database go; null: the folder `backups` next to it. It holds ' +
            'patient data.',
        )
        .meta({ examples: ['/mnt/backup/eligd'] }),
      cron: cronLine
        .nullable()
        .default('30 3 * * *')
        .describe(
          "When the daemon makes one, as a line of cron in the clinic's time zone; null: " +
            'never automatically.',
        ),
      keep: wholeFrom(1).default(14).describe('How many of them are kept.'),
    })
    .prefault({})
    .describe('Copies of the database, made while eligd runs.'),
  log: z
    .strictObject({
      level: z
        .enum(['debug', 'info', 'warn', 'error'])
        .default('info')
        .describe('The least serious event that is logged; ELIGD_LOG_LEVEL wins.'),
    })
    .prefault({})
    .describe('What eligd says while it runs.'),
});

/**
 * The configuration with every default filled in and every path absolute (a connector's own paths
 * excepted).
 */
export type Config = DeepReadonly<Omit<z.output<typeof configSchema>, 'connectors' | 'backup'>> & {
  readonly backup: { readonly folder: string; readonly cron: string | null; readonly keep: number };
  readonly file: string;
  /** Relative paths are relative to it, and `.env` lies in it. */
  readonly folder: string;
  readonly connectors: readonly ConnectorConfig[];
};

export type AlertTarget = Config['alerts']['targets'][number];

export type ConnectorConfig = {
  readonly id: string;
  /** A built-in name, or the absolute path of a module. */
  readonly type: string;
  /** `07:30`; null: learned. */
  readonly expected_by: string | null;
  /** What the connector's own schema made of the other keys. */
  readonly options: unknown;
};

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;
