/** Configuration keys: how long eligd keeps each kind of data. */
import { z } from 'zod';
import { wholeFrom } from './config-values.ts';

const VISIT_DAYS_MIN = 60;
const PART_DAYS_MIN = 30;
/** The office needs time to check rejected files. */
const FILE_DAYS_MIN = 7;
const AUDIT_DAYS_MIN = 365;

const daysOf = (days: number, what: string, least: number) =>
  wholeFrom(least).nullable().default(days).describe(`Days for which eligd keeps ${what}.`);

const WITH_VISIT = '; null: as long as the visit';

export const retention = z
  .strictObject({
    days: wholeFrom(VISIT_DAYS_MIN)
      .nullable()
      .default(400)
      .describe(
        'Days after the visit until eligd deletes its data about the visit, including ' +
          'patient data; null: never.',
      ),
    answers_days: daysOf(
      365,
      `the original answers (their records stay with the visit)${WITH_VISIT}`,
      PART_DAYS_MIN,
    ),
    requests_days: daysOf(90, `the requests that it sent${WITH_VISIT}`, PART_DAYS_MIN),
    recordings_days: daysOf(
      365,
      `addresses of recordings and transcripts${WITH_VISIT}`,
      PART_DAYS_MIN,
    ),
    processed_days: daysOf(
      90,
      'files in processed/ of a drop folder; null: forever',
      FILE_DAYS_MIN,
    ),
    rejected_days: daysOf(90, 'files in rejected/ of a drop folder; null: forever', FILE_DAYS_MIN),
    outbox_days: daysOf(90, 'results in outbox/ of a drop folder; null: forever', FILE_DAYS_MIN),
    audit_days: daysOf(
      2192,
      'the audit trail and the access log (the default is six years); null: forever',
      AUDIT_DAYS_MIN,
    ),
  })
  .prefault({})
  .describe(
    'How long eligd keeps its data. Records in the practice management system are not ' +
      'touched. "eligd legal-hold" keeps everything about a patient.',
  );
