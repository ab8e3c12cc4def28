import { z } from 'zod';
import { alertsSchema } from './config-alerts.ts';
import { clinic, override } from './config-clinic.ts';
import { policy } from './config-policy.ts';
import { prices } from './config-prices.ts';
import { questions } from './config-questions.ts';
import { retention } from './config-retention.ts';
import { office, report, webhook } from './config-servers.ts';
import { service, verification } from './config-service.ts';
import {
  above0,
  connectorId,
  cronLine,
  listenAddress,
  nonEmpty,
  npi,
  timeOfDay,
  wholeFrom,
} from './config-values.ts';

/*
 * Every key of the configuration, with its default and its description. Editors show the
 * descriptions through config/schemas/config.schema.json. config/example.yaml shows the same
 * defaults, and a test compares the two.
 */

/** The connector's own schema validates its other keys (connectors.ts). */
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
        'Latest arrival of the first export on a business day, by the clinic’s clock; ' +
          'otherwise eligd raises an alert. Null or absent: eligd learns the usual hour of ' +
          'each weekday. Only for connectors that read exports.',
      )
      .meta({ examples: ['07:30'] }),
  })
  .describe(
    'A practice management system: the source of appointments and the destination of answers.',
  );

/** The whole file. */
export const configSchema = z.strictObject({
  mode: z
    .enum(['live', 'observe'])
    .default('live')
    .describe('live: eligd makes calls. observe: it reads and plans as usual, but makes no calls.'),
  clinic,
  service,
  connectors: z.array(connectorBase).min(1).describe('The practice management systems.'),
  state: z
    .strictObject({
      path: nonEmpty
        .describe('The database file; the file and its folder contain patient data.')
        .meta({ examples: ['./state/eligd.db'] }),
    })
    .describe('The database.'),
  policy,
  prices,
  claim_words: z
    .record(
      nonEmpty,
      z.enum(['paid', 'partly_paid', 'approved', 'denied', 'pending', 'not_on_file']),
    )
    .default({})
    .describe(
      "The meaning of payers' own words for the status of a claim, for words that eligd " +
        'does not know; case and punctuation are ignored.',
    )
    .meta({ examples: [{ 'AWAITING COB': 'pending' }] }),
  questions,
  locations: z
    .record(nonEmpty, override)
    .default({})
    .describe("Settings of one location, by the PMS's name or ID (case is ignored)."),
  providers: z
    .record(npi, override)
    .default({})
    .describe('Settings of one provider, by rendering NPI (in quotes).'),
  polling: z
    .strictObject({
      interval_minutes: above0
        .default(60)
        .describe(
          'How often eligd polls an open inquiry from the morning on which its answer is ' +
            'due. Before that, 24 times less often, but at least once a day, and more often ' +
            "around the usual time of the payer's answers. Much less often while webhook " +
            'events arrive.',
        ),
      urgent_interval_minutes: above0.default(15).describe('The same if the visit is soon.'),
    })
    .prefault({})
    .describe('How eligd polls the service for answers.'),
  verification,
  schedule: z
    .strictObject({
      pull_seconds: above0
        .default(30)
        .describe('How often eligd reads appointments from the connectors.'),
      reconciliation_cron: cronLine
        .default('0 5 * * *')
        .describe(
          "When eligd compares the service's list with its database, as a cron line in " +
            "the clinic's time zone.",
        ),
    })
    .prefault({})
    .describe('Schedules.'),
  webhook,
  monitoring: z
    .strictObject({
      listen: listenAddress
        .describe(
          'The address of /healthz, /readyz, and /metrics, without login; it may be the ' +
            'address of the webhook.',
        )
        .meta({ examples: ['127.0.0.1:8687'] }),
    })
    .nullable()
    .default(null)
    .describe(
      'Lets a monitoring program (Prometheus) check eligd. Null or absent: no port is open.',
    ),
  office,
  alerts: alertsSchema,
  report,
  retention,
  backup: z
    .strictObject({
      folder: nonEmpty
        .nullable()
        .default(null)
        .describe(
          'The folder for database copies; null: the folder `backups` next to the ' +
            'database. It contains patient data.',
        )
        .meta({ examples: ['/mnt/backup/eligd'] }),
      cron: cronLine
        .nullable()
        .default('30 3 * * *')
        .describe(
          "When the daemon makes a copy, as a cron line in the clinic's time zone; null: " +
            'never automatically.',
        ),
      keep: wholeFrom(1).default(14).describe('How many copies to keep.'),
    })
    .prefault({})
    .describe('Copies of the database, made while eligd runs.'),
  log: z
    .strictObject({
      level: z
        .enum(['debug', 'info', 'warn', 'error'])
        .default('info')
        .describe('The lowest level that is logged; ELIGD_LOG_LEVEL overrides it.'),
    })
    .prefault({})
    .describe('The log.'),
});

/**
 * The configuration with every default filled in and every path absolute (except for a connector's
 * own paths).
 */
export type Config = DeepReadonly<Omit<z.output<typeof configSchema>, 'connectors' | 'backup'>> & {
  readonly backup: { readonly folder: string; readonly cron: string | null; readonly keep: number };
  readonly file: string;
  /** Relative paths start here, and `.env` is here. */
  readonly folder: string;
  readonly connectors: readonly ConnectorConfig[];
};

export type AlertTarget = Config['alerts']['targets'][number];

export type ConnectorConfig = {
  readonly id: string;
  /** A built-in name, or the absolute path of a module. */
  readonly type: string;
  /** Whether an export can be missing; false: appointments come as they change. */
  readonly has_exports: boolean;
  /** `07:30`; null: learned. */
  readonly expected_by: string | null;
  /** The other keys, parsed by the connector's own schema. */
  readonly options: unknown;
};

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;
