import { isIP } from 'node:net';
import { z } from 'zod';
import { APPOINTMENT_STATUSES } from '../../src/domain/appointment.ts';
import { DEFAULT_SYSTEMS } from './systems.ts';

const text = z.string().min(1);
const texts = z.array(text).min(1);

/** Returns whether an address is on this machine, where no one else can read plain http. */
function isLoopback(address: string): boolean {
  const host = URL.parse(address)?.hostname ?? '';
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '[::1]' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  );
}

/** Returns whether data sent to an address can be read on the way. */
export function isExposed(address: string): boolean {
  return address.startsWith('http:') && !isLoopback(address);
}

const address = text
  .refine((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ''), {
    error: 'is not a web address.',
    params: { next: 'Use the full address, beginning with https://.' },
  })
  .transform((value) => value.replace(/\/+$/, ''));

const systems = z
  .strictObject({
    npi: texts
      .default(DEFAULT_SYSTEMS.npi)
      .describe('Of an NPI, in identifiers of Practitioner and Organization.'),
    tax_id: texts
      .default(DEFAULT_SYSTEMS.tax_id)
      .describe('Of a tax ID, in identifiers of Organization.'),
    payer_id: texts
      .default(DEFAULT_SYSTEMS.payer_id)
      .describe("Of a payer's electronic ID, in identifiers of Organization."),
    member_id: texts
      .default(DEFAULT_SYSTEMS.member_id)
      .describe('Of a member ID, in identifiers of Coverage.'),
    claim_number: texts
      .default(DEFAULT_SYSTEMS.claim_number)
      .describe("Of the payer's number of a claim, in identifiers of Claim."),
    group: texts
      .default(DEFAULT_SYSTEMS.group)
      .describe('Of the group, as the type of Coverage.class.'),
    procedure: texts
      .default(DEFAULT_SYSTEMS.procedure)
      .describe('Of procedure codes (CDT, CPT, HCPCS).'),
    diagnosis: texts.default(DEFAULT_SYSTEMS.diagnosis).describe('Of diagnosis codes (ICD-10-CM).'),
  })
  .prefault({})
  .describe(
    'By which systems identifiers and codes are recognized: a URI, or the code of an ' +
      'identifier type. A list replaces the default.',
  );

/** The keys of a connector of type `fhir`. */
export const fhirConfigSchema = z
  .strictObject({
    base_url: address.describe(
      'The base address of the FHIR R4 server, e.g. https://ehr.example/fhir/R4.',
    ),
    auth: z
      .enum(['none', 'basic', 'bearer', 'client_secret', 'private_key_jwt'])
      .describe(
        'How eligd logs in. private_key_jwt is SMART Backend Services; none works only on ' +
          'this machine.',
      ),
    client_id: text.optional().describe('The client ID that the server assigned at registration.'),
    key_file: text
      .optional()
      .describe(
        'The private key made by `eligd fhir keygen`; otherwise the secret PRIVATE_KEY is used.',
      ),
    key_id: text
      .optional()
      .describe('The `kid` of the key, if the server uses another one than the thumbprint.'),
    token_url: address
      .optional()
      .describe(
        'The token endpoint, if the server does not name it or names one on a host other ' +
          "than base_url's.",
      ),
    proxy: z
      .union([z.literal('none'), address])
      .optional()
      .describe(
        'The HTTP proxy for the server and the token endpoint; none: never a proxy; if ' +
          'missing: the proxy of HTTPS_PROXY or HTTP_PROXY, unless NO_PROXY names the host. ' +
          'Its login is in the secrets PROXY_USERNAME and PROXY_PASSWORD.',
      ),
    tls: z
      .strictObject({
        authorities_file: text
          .optional()
          .describe("PEM of authorities to trust in addition to the system's."),
        certificate_file: text
          .optional()
          .describe(
            "PEM of eligd's own certificate, for a server that requires a client " + 'certificate.',
          ),
        key_file: text.optional().describe('PEM of its key; only eligd may read it.'),
      })
      .optional()
      .describe('Certificates for the connection.'),
    scopes: texts
      .optional()
      .describe(
        'The scopes to request; if missing: those for the resources that eligd reads and ' +
          'writes.',
      ),
    days_back: z
      .int()
      .min(0)
      .max(30)
      .default(1)
      .describe('The start of the window of appointments, in days before today.'),
    days_ahead: z
      .int()
      .min(0)
      .max(365)
      .default(30)
      .describe('The end of the window, in days after today.'),
    claims_days: z
      .int()
      .min(0)
      .max(365)
      .default(0)
      .describe(
        'eligd reads claims of this many days once a day and asks the payer about them. ' +
          '0: no claims.',
      ),
    poll_minutes: z
      .number()
      .min(0)
      .max(1440)
      .default(5)
      .describe('How often eligd asks the server for changes.'),
    page_size: z.int().min(1).max(1000).default(100).describe('Appointments per page of a search.'),
    parallel_requests: z
      .int()
      .min(1)
      .max(32)
      .default(4)
      .describe('Maximum requests at the same time.'),
    timeout_seconds: z
      .number()
      .positive()
      .max(600)
      .default(60)
      .describe('How long the server may take to answer a request.'),
    search_by: z
      .array(z.record(text, text))
      .default([])
      .describe(
        'For servers that search appointments only by place or person: one search each, e.g. ' +
          '- location: Location/12. Empty: one search by date.',
      ),
    date_search: z
      .enum(['instant', 'day'])
      .default('instant')
      .describe(
        'How a search names the window: with time and zone, or as days, if the server requires it.',
      ),
    statuses: z
      .record(text, z.enum([...APPOINTMENT_STATUSES, 'ignored']))
      .default({})
      .describe(
        'What an appointment status of the server means, in place of the default, e.g. ' +
          'waitlist: booked.',
      ),
    specialties: z
      .record(text, z.enum(['dental', 'medical', 'mental_health']))
      .default({})
      .describe(
        'Codes or texts of Appointment.specialty or serviceCategory that determine the ' +
          'specialty of a visit.',
      ),
    coverage_types: z
      .array(text)
      .default([])
      .describe(
        'Codes of Coverage.type that eligd asks about; others are ignored, but not ' +
          'coverages without a type. Empty: all.',
      ),
    billing: z
      .enum(['organization', 'configuration'])
      .default('organization')
      .describe(
        'The source of tax ID and billing NPI: the managing organization, or only the ' +
          'configuration.',
      ),
    systems,
    write_back: z
      .enum(['eligibility', 'document', 'none'])
      .default('eligibility')
      .describe(
        'The resources for an answer: CoverageEligibilityRequest and -Response with ' +
          'Provenance, a DocumentReference, or none.',
      ),
    document: z
      .boolean()
      .default(false)
      .describe('Whether to also write a readable DocumentReference.'),
    attention: z
      .enum(['task', 'communication', 'none'])
      .default('task')
      .describe('The resource type of attention list entries.'),
    identifier_base: text
      .refine((value) => /^[a-z][a-z\d+.-]*:\S+$/i.test(value), {
        error: 'is not a URI.',
        params: { next: 'Write one without spaces, such as urn:eligd:north.' },
      })
      .default('urn:eligd')
      .describe(
        "The prefix of eligd's own identifier systems. Two installations on one server " +
          'need different ones.',
      ),
  })
  .superRefine((config, context) => {
    const say = (path: string, message: string, next: string) =>
      context.addIssue({ code: 'custom', path: [path], message, params: { next } });
    if (/[?#]/.test(config.base_url))
      say(
        'base_url',
        'contains more than a base address.',
        'Remove everything from the ? or # on.',
      );
    if (!isLoopback(config.base_url)) {
      if (isExposed(config.base_url))
        say(
          'base_url',
          'is plain http to another machine, so others on the network could read patient ' +
            'data.',
          'Write https://.',
        );
      if (config.auth === 'none')
        say('auth', 'is "none", which works only on this machine.', 'Choose how eligd logs in.');
    }
    if ((config.tls?.certificate_file === undefined) !== (config.tls?.key_file === undefined))
      say(
        'tls',
        'has a certificate without its key, or a key without its certificate.',
        'Give both certificate_file and key_file, or neither.',
      );
    if (config.token_url !== undefined && isExposed(config.token_url))
      say(
        'token_url',
        'is plain http to another machine, so others on the network could read secrets.',
        'Write https://.',
      );
    if (
      (config.auth === 'client_secret' || config.auth === 'private_key_jwt') &&
      config.client_id === undefined
    )
      say(
        'client_id',
        `is missing, which ${config.auth} needs.`,
        'Write the client ID that the server assigned at registration.',
      );
  })
  .describe('Reads appointments from a FHIR R4 server and writes the answers back to it.');

export type FhirConfig = z.output<typeof fhirConfigSchema>;
