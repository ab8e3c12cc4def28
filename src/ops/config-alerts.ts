/** The section `alerts` of the configuration: who gets a message when something is wrong. */
import { z } from 'zod';
import { ALERT_LEVELS } from '../domain/alerts/catalog.ts';
import {
  connectionTls,
  connectorId,
  nonEmpty,
  PROXY_TOLD,
  proxyAddress,
  timeOfDay,
  webAddress,
} from './config-values.ts';

const common = {
  id: connectorId
    .describe('A short name of your choice: letters, digits, dashes.')
    .meta({ examples: ['it-mail'] }),
  level: z
    .enum(ALERT_LEVELS)
    .default('soon')
    .describe('urgent: only urgent alerts; soon: all alerts.'),
};

const emailAddress = z.email({ error: 'is not an e-mail address.' });

const email = z
  .strictObject({
    ...common,
    type: z.literal('email'),
    to: z.array(emailAddress).min(1).describe('The recipients.'),
    from: emailAddress.describe("The sender's address."),
    host: nonEmpty.describe('The mail server.').meta({ examples: ['smtp.clinic.example'] }),
    port: z.number().int().min(1).max(65_535).default(587).describe('Its port.'),
    security: z
      .enum(['starttls', 'tls', 'none'])
      .default('starttls')
      .describe('starttls: encrypted after the greeting (587); tls: from the start (465).'),
    login: nonEmpty
      .nullable()
      .default(null)
      .describe('User name at the mail server; its password is ELIGD_ALERT_<ID>_PASSWORD.'),
    proxy: proxyAddress
      .describe(
        'An HTTP proxy for the connection to the mail server (CONNECT); null: direct. Its ' +
          'login: ELIGD_ALERT_<ID>_PROXY_USERNAME and _PASSWORD.',
      )
      .meta({ examples: ['http://proxy.clinic.example:3128'] }),
    tls: connectionTls.describe('Certificates for this connection.'),
  })
  .refine(({ security, login }) => security !== 'none' || login === null, {
    error: 'sends the password without encryption.',
    params: { next: 'Set security: starttls or tls, or leave login out.' },
    path: ['security'],
  })
  .describe('An e-mail.');

const command = z
  .strictObject({
    ...common,
    type: z.literal('command'),
    command: z
      .array(nonEmpty)
      .min(1)
      .describe('A program and its arguments; it reads the message from its standard input.')
      .meta({ examples: [['/usr/local/bin/page-it', '--quiet']] }),
  })
  .describe('A program on this computer.');

const webhook = z
  .strictObject({
    ...common,
    type: z.literal('webhook'),
    url: webAddress
      .nullable()
      .default(null)
      .describe(
        'The address to which the message is posted as JSON; null: the secret ' +
          'ELIGD_ALERT_<ID>_URL.',
      )
      .meta({ examples: ['https://alerts.clinic.example/eligd'] }),
    proxy: proxyAddress
      .describe(`${PROXY_TOLD} Its login: ELIGD_ALERT_<ID>_PROXY_USERNAME and _PASSWORD.`)
      .meta({ examples: ['http://proxy.clinic.example:3128'] }),
    tls: connectionTls.describe('Certificates for this connection.'),
  })
  .describe('A POST of JSON; ELIGD_ALERT_<ID>_TOKEN, if set, is sent as the Bearer token.');

const file = z
  .strictObject({
    ...common,
    type: z.literal('file'),
    path: nonEmpty
      .describe('A file to which each message is appended as a line of JSON.')
      .meta({ examples: ['./alerts.jsonl'] }),
  })
  .describe('A file.');

export const alertsSchema = z
  .strictObject({
    targets: z
      .array(z.discriminatedUnion('type', [email, command, webhook, file]))
      .default([])
      .describe('Alert targets. Every alert goes to each of them.'),
    quiet_hours: z
      .strictObject({
        from: timeOfDay.describe('The start, by the clinic’s clock.').meta({ examples: ['18:00'] }),
        to: timeOfDay.describe('The end, on the next day if it is earlier.').meta({
          examples: ['07:00'],
        }),
        weekends: z
          .boolean()
          .default(false)
          .describe('Whether Saturday and Sunday are quiet all day.'),
      })
      .nullable()
      .default(null)
      .describe(
        'Hours in which only urgent alerts are sent; others wait until the end. Null: none.',
      ),
  })
  .prefault({})
  .describe(
    'Who gets an alert when something is wrong with the installation. Alerts contain no ' +
      'patient data.',
  );
