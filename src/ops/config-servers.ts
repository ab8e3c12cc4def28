/** Configuration keys: the addresses that eligd listens on, and its pages. */
import { z } from 'zod';
import {
  above0,
  connectionTls,
  headerName,
  listenAddress,
  nonEmpty,
  PROXY_TOLD,
  pageAddress,
  proxyAddress,
  urlPath,
  webAddress,
  wholeFrom,
} from './config-values.ts';

export const webhook = z
  .strictObject({
    listen: listenAddress
      .describe(
        'The address on which eligd listens for the service, or for the reverse proxy in ' +
          'front of it.',
      )
      .meta({ examples: ['127.0.0.1:8686'] }),
    public_url: webAddress
      .describe('The public address for the service.')
      .meta({ examples: ['https://clinic.example/webhooks/inquiries'] }),
    path: urlPath
      .nullable()
      .default(null)
      .describe('The path on which eligd itself receives; null: the path of public_url.')
      .meta({ examples: ['/webhooks/inquiries'] }),
    signature_header: headerName
      .default('X-Service-Signature')
      .describe("The header with the service's signature."),
    update_frequency_minutes: wholeFrom(1)
      .default(5)
      .describe('How often the service should send webhook events, in minutes.'),
    take_over: z
      .boolean()
      .default(false)
      .describe(
        'Whether to replace a subscription to another address. The account has only one, ' +
          'so its other user would lose it.',
      ),
    max_body_megabytes: above0
      .max(256)
      .default(16)
      .describe('The largest webhook event that eligd accepts.'),
  })
  .nullable()
  .default(null)
  .describe('Lets the service send webhook events. Null or absent: eligd only polls.');

export const office = z
  .strictObject({
    listen: pageAddress
      .describe(
        'The address of the office page: host and port, or unix:PATH for a proxy on this ' +
          'machine. Any address other than 127.0.0.1 requires `tls`.',
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
      .describe("The page's own certificate; null: plain http, for this machine or a proxy on it."),
    public_url: webAddress
      .nullable()
      .default(null)
      .describe(
        'The address that people type, if a proxy is in front; null: the address of ' + '`listen`.',
      )
      .meta({ examples: ['https://eligd.clinic.example'] }),
    single_sign_on: z
      .strictObject({
        issuer: webAddress
          .describe('The address of the OpenID Connect provider, as in its tokens.')
          .meta({ examples: ['https://login.group.example'] }),
        client_id: nonEmpty.describe('The client ID of this installation at the provider.'),
        claim: nonEmpty
          .default('email')
          .describe(
            'The claim of the token that contains the account of "eligd user add ' +
              '--sign-on": email (only if the provider has verified it), ' +
              'preferred_username, or sub.',
          ),
        proxy: proxyAddress
          .describe(`${PROXY_TOLD} Its login: ELIGD_OFFICE_PROXY_USERNAME and _PASSWORD.`)
          .meta({ examples: ['http://proxy.clinic.example:3128'] }),
        tls: connectionTls.describe('Certificates for the connection to the provider.'),
      })
      .nullable()
      .default(null)
      .describe(
        "Login with a group's account, in addition to passwords. Requires public_url; the " +
          'return address at the provider is public_url followed by /login/return.',
      ),
    users: nonEmpty
      .nullable()
      .default(null)
      .describe(
        'Path of the users file, which "eligd user" writes; null: office-users next to the ' +
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
  .describe('The office page, with a login. Null or absent: no page.');

export const report = z
  .strictObject({
    folder: nonEmpty
      .nullable()
      .default(null)
      .describe(
        'A folder for schedule.html and schedule.pdf, with patient data; null: none. Set ' +
          'it if there is no drop folder.',
      )
      .meta({ examples: ['/srv/eligd/report'] }),
    days: wholeFrom(1).max(31).default(5).describe('How many days with visits the file shows.'),
  })
  .prefault({})
  .describe('The schedule of the coming days as a file, for people without a login.');
