import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { APPOINTMENT_STATUSES } from '../../src/domain/appointment.ts';
import { parseAddress } from './mllp/address.ts';
import { CHARACTER_SETS } from './out/charset.ts';
import { FIELD_NAMES } from './v2/fields.ts';
import { parsePath } from './v2/paths.ts';

const address = z
  .string()
  .refine((text) => parseAddress(text) !== null, 'is not of the form host:port')
  .describe('host:port; an IPv6 address in brackets.');

const fieldPath = z
  .string()
  .refine(
    (text) => parsePath(text) !== null,
    'is not a path such as PID-3.1, IN1-49, or PID-3[MR].1',
  );

const file = z.string().min(1);

/** HL7 lets each site choose these texts in MSH. */
const headerText = z.string().max(180);

const WRITE_BACKS = ['pin_i07', 'oru_r01', 'adt_a08', 'none'] as const;

/** The keys of a connector of type `hl7`; docs/hl7.md has the same table. */
export const hl7ConfigSchema = z
  .strictObject({
    listen: address
      .optional()
      .describe(
        'The address for senders (MLLP): 127.0.0.1:6661, or 0.0.0.0:6661 for the whole ' +
          'network.',
      ),
    listen_tls: z
      .strictObject({
        certificate_file: file.describe('PEM, with its chain.'),
        key_file: file.describe('PEM, readable only by the user that eligd runs as.'),
        clients_file: file
          .optional()
          .describe('PEM of the authorities whose clients may connect (mutual TLS).'),
      })
      .optional()
      .describe('If missing: MLLP without encryption, for a network where no one else can listen.'),
    allow: z
      .array(
        z
          .string()
          .refine(
            (text) => addRange(new BlockList(), text),
            'is not an address or range such as 10.1.2.0/24',
          ),
      )
      .default([])
      .describe('Addresses and ranges that may connect; empty: all.'),
    max_connections: z
      .int()
      .min(1)
      .max(10_000)
      .default(64)
      .describe('Connections at the same time.'),
    max_message_megabytes: z
      .number()
      .positive()
      .max(512)
      .default(8)
      .describe('A larger message is refused.'),
    idle_minutes: z
      .number()
      .min(0)
      .max(10_080)
      .default(720)
      .describe('A connection is closed after this long without data; 0: never.'),
    folder: file
      .optional()
      .describe(
        'A drop folder: .hl7 files in inbox/ are read. Without send_to, answers are written ' +
          'to outbox/.',
      ),
    stable_seconds: z
      .number()
      .min(0)
      .max(3600)
      .default(2)
      .describe('A file is read after it has not changed for this long.'),
    send_to: address.optional().describe('The address to which answers are sent (MLLP).'),
    send_tls: z
      .strictObject({
        authorities_file: file
          .optional()
          .describe(
            "PEM of the authorities for the receiver's certificate; if missing: those of " +
              'the system.',
          ),
        certificate_file: file
          .optional()
          .describe('PEM, if the receiver requires a client certificate (mutual TLS).'),
        key_file: file.optional().describe('PEM of the key for it.'),
        server_name: z
          .string()
          .min(1)
          .optional()
          .describe("The name in the receiver's certificate, if it is not the host in send_to."),
      })
      .optional()
      .describe('If missing: no encryption.'),
    send_proxy: z
      .string()
      .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), {
        error: 'is not the address of a proxy.',
        params: { next: 'Write one such as http://proxy.clinic.example:3128.' },
      })
      .optional()
      .describe(
        'An HTTP proxy for the connection to the receiver (CONNECT); if missing: direct. ' +
          'Its login is in the secrets PROXY_USERNAME and PROXY_PASSWORD.',
      ),
    reply_seconds: z
      .number()
      .min(1)
      .max(600)
      .default(30)
      .describe('How long the receiver may take to answer a message.'),
    write_back: z
      .enum(WRITE_BACKS)
      .default('pin_i07')
      .describe(
        'What is written back: PIN^I07, ORU^R01, ADT^A08 (it changes registrations: with a ' +
          'warning), or nothing.',
      ),
    header: z
      .strictObject({
        sending_application: headerText.default('ELIGD'),
        sending_facility: headerText.default(''),
        receiving_application: headerText.default(''),
        receiving_facility: headerText.default(''),
        character_set: z.enum(CHARACTER_SETS).default('UNICODE UTF-8'),
        processing_id: z.enum(['P', 'T', 'D']).default('P'),
        version: z
          .enum(['2.3', '2.3.1', '2.4', '2.5', '2.5.1', '2.6', '2.7', '2.8'])
          .default('2.5.1'),
        accept_acknowledgment: z.enum(['', 'AL', 'NE', 'ER', 'SU']).default(''),
        application_acknowledgment: z.enum(['', 'AL', 'NE', 'ER', 'SU']).default(''),
      })
      .prefault({})
      .describe('MSH of sent messages: MSH-3 to 6, 11, 12, 15, 16, and 18.'),
    fields: z
      .partialRecord(
        z.enum(FIELD_NAMES as [string, ...string[]]),
        z.union([fieldPath, z.array(fieldPath).min(1)]),
      )
      .default({})
      .describe(
        'Positions of values, if they differ from the table in docs/hl7.md: member_id: IN1-49.',
      ),
    statuses: z
      .record(z.string().min(1), z.enum(APPOINTMENT_STATUSES))
      .default({})
      .describe("The sender's own words in SCH-25: Left message: booked."),
    trust_sender_clocks: z
      .boolean()
      .default(true)
      .describe(
        'Whether to ignore a message about a visit that is older by MSH-7 than the same ' +
          "sender's latest; set it to false for senders whose clocks are wrong.",
      ),
    without_insurance: z
      .enum(['unknown', 'self_pay'])
      .default('unknown')
      .describe('The meaning of an ADT message without IN1.'),
  })
  .superRefine((config, context) => {
    const problem = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (config.listen === undefined && config.folder === undefined)
      problem('listen', 'or folder is required as the source of messages');
    if (config.write_back !== 'none' && config.send_to === undefined && config.folder === undefined)
      problem('send_to', 'is required for writing back, or "folder:", or "write_back: none"');
    if (
      config.send_tls !== undefined &&
      (config.send_tls.certificate_file === undefined) !== (config.send_tls.key_file === undefined)
    )
      problem('send_tls', 'needs both certificate_file and key_file, or neither');
    const accepts = config.header.accept_acknowledgment;
    if (
      config.send_to !== undefined &&
      ['NE', 'ER', 'SU'].includes(accepts) &&
      config.header.application_acknowledgment !== 'AL'
    )
      problem(
        'header',
        'requests an acknowledgment that does not always come, so that no answer would ' +
          'ever count as written',
      );
  })
  .describe(
    'Receives appointments and insurance as HL7 v2 messages, over MLLP or in files, and ' +
      'sends the answers back.',
  );

export type Hl7Config = z.infer<typeof hl7ConfigSchema>;

/** Adds `10.1.2.3` or `10.1.2.0/24` to a list; returns false for any other form. */
export function addRange(list: BlockList, text: string): boolean {
  const [net = '', bits] = text.split('/');
  const family = isIP(net);
  if (family === 0) return false;
  const type = family === 6 ? 'ipv6' : 'ipv4';
  if (bits === undefined) {
    list.addAddress(net, type);
    return true;
  }
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > (family === 6 ? 128 : 32)) return false;
  list.addSubnet(net, Number(bits), type);
  return true;
}
