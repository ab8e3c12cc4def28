/** How long eligd keeps what, by kind. */
import { z } from 'zod';
import { wholeFrom } from './config-values.ts';

const VISIT_DAYS_MIN = 60;
const PART_DAYS_MIN = 30;
/** Somebody has to have time to look at what was rejected. */
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
        'Days after the visit at which eligd deletes what it knows of it, patient data ' +
          'included; null: never.',
      ),
    answers_days: daysOf(
      365,
      `answers as they came (the records made of them stay with the visit)${WITH_VISIT}`,
      PART_DAYS_MIN,
    ),
    requests_days: daysOf(90, `requests as they were sent${WITH_VISIT}`, PART_DAYS_MIN),
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
      'who did what and who looked at whose record (the default is six years); null: forever',
      AUDIT_DAYS_MIN,
    ),
  })
  .prefault({})
  .describe(
    "How long eligd keeps what it knows. The practice management system's own records are not " +
      'touched. "eligd legal-hold" keeps everything about a patient.',
  );
