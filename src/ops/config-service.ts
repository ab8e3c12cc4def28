/** Configuration keys: the calling service, and how eligd sends calls to it. */
import { z } from 'zod';
import {
  above0,
  connectionTls,
  externalIdTemplate,
  nonEmpty,
  PROXY_TOLD,
  proxyAddress,
  webAddress,
  wholeFrom,
} from './config-values.ts';

const submission = z
  .strictObject({
    mode: z
      .enum(['auto', 'bulk', 'single'])
      .default('auto')
      .describe(
        'Whether to send several inquiries in one request, or one each; auto: what the ' +
          'service supports.',
      ),
    batch_size: wholeFrom(1)
      .max(1000)
      .default(25)
      .describe('Maximum inquiries in one bulk request.'),
    max_per_minute: wholeFrom(0)
      .default(60)
      .describe('Maximum requests to the service in any minute; 0: no limit.'),
    concurrency: wholeFrom(1)
      .max(64)
      .default(4)
      .describe('Maximum requests to the service at the same time.'),
    bulk_shape: z
      .enum(['auto', 'array', 'object'])
      .default('auto')
      .describe(
        'Body of a bulk request: a bare array, or an object with `inquiries`; auto: what ' +
          'the service accepts.',
      ),
  })
  .prefault({})
  .describe('How eligd sends inquiries.');

export const service = z
  .strictObject({
    base_url: webAddress
      .describe('Address of the insurance inquiry service.')
      .meta({ examples: ['https://inquiries.example'] }),
    auth: z
      .enum(['oauth', 'basic'])
      .describe(
        'How eligd logs in: oauth (user name and password) or basic (project ID and API ' + 'key).',
      ),
    external_id: externalIdTemplate
      .default('{appointment}')
      .describe(
        'The label of an inquiry at the service; with more than one connector, it must ' +
          'contain {connector}.',
      ),
    submission,
    send_npi: z
      .enum(['auto', 'always', 'never'])
      .default('auto')
      .describe(
        'Whether to send the deprecated field npi; auto: after the service has refused an ' +
          'inquiry without it.',
      ),
    settle_seconds: z
      .number()
      .min(0)
      .default(300)
      .describe(
        "How long a new inquiry may take to appear in the service's list. Use small " +
          'values only for tests.',
      ),
    timeout_seconds: above0.default(30).describe('How long a request may take.'),
    shared_account: z
      .boolean()
      .default(false)
      .describe(
        'Whether other programs send inquiries with the same account; otherwise, an ' +
          'unknown inquiry stops submission.',
      ),
    proxy: proxyAddress
      .describe(`${PROXY_TOLD} Its login: ELIGD_SERVICE_PROXY_USERNAME and _PASSWORD.`)
      .meta({ examples: ['http://proxy.clinic.example:3128'] }),
    tls: connectionTls.describe('Certificates for the connection to the service.'),
    allow_insecure: z
      .boolean()
      .default(false)
      .describe(
        'Allows plain http to another machine, where others on the network could read patient ' +
          'data, and lets NODE_TLS_REJECT_UNAUTHORIZED=0 turn off certificate checks. For tests ' +
          'only.',
      ),
  })
  .describe('The insurance inquiry service.');

export const verification = z
  .strictObject({
    ask_for_hours: z
      .number()
      .min(0)
      .default(48)
      .describe(
        'How long after an answer eligd asks for the checks of its calls, which may ' +
          'arrive later; 0: never.',
      ),
    require: z
      .array(nonEmpty)
      .default([])
      .describe(
        'Names of required checks; if one is not met or never arrives, the answer goes on ' +
          'the attention list.',
      )
      .meta({ examples: [['reference_number_asked']] }),
  })
  .prefault({})
  .refine((value) => value.require.length === 0 || value.ask_for_hours > 0, {
    error: 'requires checks that are never asked for.',
    params: { next: 'Raise verification.ask_for_hours, or remove the names.' },
    path: ['require'],
  })
  .describe("How eligd uses the service's checks of its calls (transcript verification).");
