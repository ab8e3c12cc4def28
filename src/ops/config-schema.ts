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
 * Every key of the configuration, with its default and what it means. The descriptions are shown by
 * editors through config/schemas/config.schema.json; config/example.yaml shows the same defaults
 * and is compared with this by a test.
 */

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
      urgent_interval_minutes: above0.default(15).describe('The same when the visit is close.'),
    })
    .prefault({})
    .describe('How the service is asked for answers.'),
  verification,
  schedule: z
    .strictObject({
      pull_seconds: above0.default(30).describe('How often connectors are asked for appointments.'),
      reconciliation_cron: cronLine
        .default('0 5 * * *')
        .describe(
          "When the service's list is compared with the database, as a line of cron in the " +
            "clinic's time zone.",
        ),
    })
    .prefault({})
    .describe('Schedules.'),
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
  retention,
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
        .describe('The lowest level that is logged; ELIGD_LOG_LEVEL wins.'),
    })
    .prefault({})
    .describe('The log.'),
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
