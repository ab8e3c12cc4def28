import { createHash } from 'node:crypto';
import { z } from 'zod';
import { APPOINTMENT_STATUSES } from '../../src/domain/appointment.ts';
import { CANONICAL_COLUMNS } from './columns.ts';

const headerNames = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);

/**
 * The keys of a connector of type `csv`. All except `folder` have a default that suits the exports
 * we know.
 */
export const csvConfigSchema = z
  .strictObject({
    folder: z
      .string()
      .min(1)
      .describe(
        'The drop folder. eligd creates inbox/, processing/, processed/, rejected/, and ' +
          'outbox/ in it.',
      ),
    stable_seconds: z
      .number()
      .min(0)
      .max(3600)
      .default(2)
      .describe('A file is read after its size and time have not changed for this long.'),
    columns: z
      .partialRecord(z.enum(CANONICAL_COLUMNS), headerNames)
      .default({})
      .describe(
        "Header names of columns, such as member_id: 'Policy No'. A name here overrides " +
          'the known aliases.',
      ),
    encoding: z
      .enum(['auto', 'utf-8', 'utf-16le', 'utf-16be', 'windows-1252'])
      .default('auto')
      .describe(
        'auto: by the byte order mark, otherwise UTF-8 if the whole file is valid, ' +
          'otherwise Windows-1252.',
      ),
    separator: z
      .enum(['auto', ',', ';', '\t', '|'])
      .default('auto')
      .describe('auto: the separator with which the header has the most known column names.'),
    date_order: z
      .enum(['mdy', 'dmy', 'ymd'])
      .default('mdy')
      .describe(
        'How to read 03/04/2026. ISO dates (2026-03-04) and month names are always ' +
          'understood.',
      ),
    statuses: z
      .record(z.string().min(1), z.enum(APPOINTMENT_STATUSES))
      .default({})
      .describe(
        "The PMS's own words for the state of an appointment, such as 'Left message': " + 'booked.',
      ),
    claim_statuses: z
      .record(z.string().min(1), z.enum(['open', 'settled']))
      .default({})
      .describe(
        "The PMS's own words for the state of a claim, such as 'Sent to clearinghouse': " + 'open.',
      ),
    name_order: z
      .enum(['auto', 'last_first', 'first_last'])
      .default('auto')
      .describe(
        'How to read a name in one cell. auto: "Last, First" with a comma, "First Last" ' +
          'without one.',
      ),
    export: z
      .enum(['auto', 'full', 'changes'])
      .default('auto')
      .describe(
        'full: every file holds all appointments of the days it covers, so one that is ' +
          'missing has vanished. changes: never. auto: full if a file has most of the known ' +
          'appointments.',
      ),
    claims_export: z
      .enum(['changes', 'full'])
      .default('changes')
      .describe(
        'full: every claims file holds all open claims, so one that is missing is settled. ' +
          'changes: never.',
      ),
    max_rows: z
      .int()
      .min(1)
      .max(10_000_000)
      .default(500_000)
      .describe('A file with more lines is rejected.'),
    max_megabytes: z
      .number()
      .positive()
      .max(100_000)
      .default(512)
      .describe('A file that is larger is rejected.'),
  })
  .describe(
    'Reads exports of appointments and claims from a drop folder and writes the answers ' +
      'next to them.',
  );

export type CsvConfig = z.infer<typeof csvConfigSchema>;

/** Settings that change how a file is read; the folder and its timing do not. */
const READING_KEYS = [
  'columns',
  'encoding',
  'separator',
  'date_order',
  'statuses',
  'claim_statuses',
  'name_order',
  'export',
  'claims_export',
  'max_rows',
  'max_megabytes',
] as const;

/**
 * Returns the suffix of a source key after the content hash: empty for the default settings,
 * otherwise a short hash of those that change the reading. So a file that was read with wrong
 * settings is read again when it is dropped again after a correction.
 */
export function readingFingerprint(config: CsvConfig): string {
  const defaults = csvConfigSchema.parse({ folder: config.folder });
  const changed = READING_KEYS.filter(
    (key) => JSON.stringify(config[key]) !== JSON.stringify(defaults[key]),
  );
  if (changed.length === 0) return '';
  const text = JSON.stringify(changed.map((key) => [key, config[key]]));
  return `+${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}
