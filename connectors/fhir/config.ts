import { isIP } from 'node:net';
import { z } from 'zod';
import { APPOINTMENT_STATUSES } from '../../src/domain/appointment.ts';
import { DEFAULT_SYSTEMS } from './systems.ts';

const text = z.string().min(1);
const texts = z.array(text).min(1);

/** Whether an address stays on this machine, where plain http can be read by nobody else. */
function isLoopback(address: string): boolean {
  const host = URL.parse(address)?.hostname ?? '';
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '[::1]' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  );
}

/** Whether what is sent to an address can be read on the way. */
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
      .describe('Of a tax id, in identifiers of Organization.'),
    payer_id: texts
      .default(DEFAULT_SYSTEMS.payer_id)
      .describe("Of a payer's electronic id, in identifiers of Organization."),
    member_id: texts
      .default(DEFAULT_SYSTEMS.member_id)
      .describe('Of a member id, in identifiers of Coverage.'),
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
      'identifier type. A list takes the place of the default one.',
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
        'How eligd logs in. private_key_jwt is SMART Backend Services; none works on this ' +
          'machine only.',
      ),
    client_id: text.optional().describe('The client id that the server gave at registration.'),
    key_file: text
      .optional()
      .describe(
        'The private key made by `eligd fhir keygen`; otherwise the secret PRIVATE_KEY is used.',
      ),
    key_id: text
      .optional()
      .describe(
        'The `kid` of the key, when the server knows it by another one than its thumbprint.',
      ),
    token_url: address
      .optional()
      .describe(
        'The token endpoint, when the server does not tell it, or names one on another host than ' +
          'base_url.',
      ),
    proxy: z
      .union([z.literal('none'), address])
      .optional()
      .describe(
        'The HTTP proxy by which the server and the token endpoint are reached; none: never by ' +
          'one; left out: by that of HTTPS_PROXY or HTTP_PROXY, unless NO_PROXY names the host. ' +
          'Its login is in the secrets PROXY_USERNAME and PROXY_PASSWORD.',
      ),
    tls: z
      .strictObject({
        authorities_file: text
          .optional()
          .describe('PEM of authorities that are trusted besides those of the system.'),
        certificate_file: text
          .optional()
          .describe('PEM of our own certificate, for a server that wants to know who connects.'),
        key_file: text.optional().describe('PEM of its key; only eligd may read it.'),
      })
      .optional()
      .describe('Certificates for the connection.'),
    scopes: texts
      .optional()
      .describe(
        'The scopes to ask for, in place of those that follow from what is read and written.',
      ),
    days_back: z
      .int()
      .min(0)
      .max(30)
      .default(1)
      .describe('How many days before today the window of appointments begins.'),
    days_ahead: z.int().min(0).max(365).default(30).describe('How many days after today it ends.'),
    claims_days: z
      .int()
      .min(0)
      .max(365)
      .default(0)
      .describe(
        'Claims of the last so many days are read once a day, and the payer is asked what ' +
          'became of them. 0: no claims.',
      ),
    poll_minutes: z
      .number()
      .min(0)
      .max(1440)
      .default(5)
      .describe('How often the server is asked for changes.'),
    page_size: z
      .int()
      .min(1)
      .max(1000)
      .default(100)
      .describe('How many appointments are asked for at once.'),
    parallel_requests: z
      .int()
      .min(1)
      .max(32)
      .default(4)
      .describe('How many requests are under way at most.'),
    timeout_seconds: z
      .number()
      .positive()
      .max(600)
      .default(60)
      .describe('How long the server may take for one answer.'),
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
        'How the window is written: with time and zone, or as days for servers that take no more.',
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
        'Codes or texts of Appointment.specialty or serviceCategory that say which specialty ' +
          'a visit is for.',
      ),
    coverage_types: z
      .array(text)
      .default([])
      .describe(
        'Codes of Coverage.type that are asked about; others are left out, one without type ' +
          'never. Empty: all.',
      ),
    billing: z
      .enum(['organization', 'configuration'])
      .default('organization')
      .describe(
        'Where tax id and billing NPI come from: the managing organization, or the ' +
          'configuration alone.',
      ),
    systems,
    write_back: z
      .enum(['eligibility', 'document', 'none'])
      .default('eligibility')
      .describe(
        'What an answer becomes: CoverageEligibilityRequest and -Response with Provenance, a ' +
          'DocumentReference, or nothing.',
      ),
    document: z
      .boolean()
      .default(false)
      .describe('Whether a DocumentReference for people is written next to the response.'),
    attention: z
      .enum(['task', 'communication', 'none'])
      .default('task')
      .describe('As what the lines of the attention list are written.'),
    identifier_base: text
      .refine((value) => /^[a-z][a-z\d+.-]*:\S+$/i.test(value), {
        error: 'is not a URI.',
        params: { next: 'Write one without blanks, e.g. urn:eligd:north.' },
      })
      .default('urn:eligd')
      .describe(
        'How the systems of identifiers begin that eligd gives to what it writes. Two ' +
          'installations on one server need two.',
      ),
  })
  .superRefine((config, context) => {
    const say = (path: string, message: string, next: string) =>
      context.addIssue({ code: 'custom', path: [path], message, params: { next } });
    if (/[?#]/.test(config.base_url))
      say('base_url', 'is more than a base address.', 'Leave out what begins with ? or #.');
    if (!isLoopback(config.base_url)) {
      if (isExposed(config.base_url))
        say(
          'base_url',
          'is plain http to another machine, where patient data can be read on the way.',
          'Write https://.',
        );
      if (config.auth === 'none')
        say('auth', 'is "none", which works on this machine only.', 'Choose how eligd logs in.');
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
        'is plain http to another machine, where secrets can be read on the way.',
        'Write https://.',
      );
    if (
      (config.auth === 'client_secret' || config.auth === 'private_key_jwt') &&
      config.client_id === undefined
    )
      say(
        'client_id',
        `is missing, which ${config.auth} needs.`,
        'Write the client id that the server gave at registration.',
      );
  })
  .describe('Reads appointments from a FHIR R4 server and writes the answers back to it.');

export type FhirConfig = z.output<typeof fhirConfigSchema>;
