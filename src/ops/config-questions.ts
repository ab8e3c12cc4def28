import { z } from 'zod';
import { codes, nonEmpty } from './config-values.ts';

/*
 * The part `questions:` of the configuration: rules by specialty that say what the payer is asked.
 */

const questionRule = z
  .strictObject({
    name: z
      .string()
      .refine((value) => /^[A-Za-z0-9_-]+$/.test(value), {
        error: 'holds something else than letters, digits, dashes and underscores.',
        params: { next: 'Write a short name, such as orthodontics.' },
      })
      .describe('Name of the question set. Another name is another call.')
      .meta({ examples: ['orthodontics'] }),
    when_codes: z
      .array(codes)
      .min(1)
      .nullable()
      .default(null)
      .describe('Procedure codes or ranges for which the rule holds; null: every appointment.')
      .meta({ examples: [['D8000-D8999']] }),
    benefits_query: z
      .array(nonEmpty)
      .default([])
      .describe(
        "The service's question sets. Words that are not in its documentation pass through.",
      )
      .meta({ examples: [['STANDARD']] }),
    with_codes: z
      .boolean()
      .default(true)
      .describe("Whether the appointment's procedure codes are asked about."),
    call_script_id: nonEmpty
      .nullable()
      .default(null)
      .describe('A call script of yours at the service.'),
    benefits_form_name: nonEmpty
      .nullable()
      .default(null)
      .describe('A form of the service, for medical and mental health.'),
  })
  .refine((rule) => rule.benefits_query.length > 0 || rule.call_script_id !== null, {
    error: 'asks nothing.',
    params: { next: 'Write benefits_query, call_script_id or both.' },
    path: ['benefits_query'],
  });

const standing = (name: string, benefits_query: string[]) => [
  {
    name,
    when_codes: null,
    benefits_query,
    with_codes: true,
    call_script_id: null,
    benefits_form_name: null,
  },
];

const rules = (defaults: z.output<typeof questionRule>[]) =>
  z
    .array(questionRule)
    .min(1)
    .superRefine((list, context) => {
      list.forEach((rule, index) => {
        const is_last = index === list.length - 1;
        if (is_last && rule.when_codes !== null) {
          const next = 'Add a last rule without when_codes.';
          context.addIssue({
            code: 'custom',
            path: [index],
            message: 'leaves the appointments with other codes without questions.',
            params: { next },
          });
        } else if (!is_last && rule.when_codes === null) {
          const next = 'Write when_codes, or put this rule last.';
          context.addIssue({
            code: 'custom',
            path: [index],
            message: 'matches every appointment, so the rules after it never count.',
            params: { next },
          });
        }
        if (list.findIndex((other) => other.name === rule.name) < index) {
          const next = 'Give each rule its own name.';
          context.addIssue({
            code: 'custom',
            path: [index, 'name'],
            message: 'is used by an earlier rule.',
            params: { next },
          });
        }
      });
    })
    .default(defaults);

export const questions = z
  .strictObject({
    dental: rules(
      standing('standard', [
        'STANDARD',
        'DEDUCTIBLES_AND_MAXIMUMS',
        'TREATMENT_HISTORY',
        'CODE_LOOKUP_BENEFITS',
        'CODE_LOOKUP_FREQUENCIES',
      ]),
    ),
    medical: rules(
      standing('standard', [
        'DEDUCTIBLES_AND_MAXIMUMS',
        'CODE_LOOKUP_BENEFITS',
        'CODE_LOOKUP_PRIOR_AUTH',
        'CODE_LOOKUP_FREQUENCIES',
      ]),
    ),
    mental_health: rules(
      standing('standard', ['PLAN_INFO', 'MAXIMUMS', 'PSYCHOTHERAPY', 'CODE_LOOKUP_BENEFITS']),
    ),
  })
  .prefault({})
  .describe(
    'What the payer is asked, by specialty. The first rule that matches wins; the last one ' +
      'must match every appointment.',
  );
