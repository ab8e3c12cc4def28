import { z } from 'zod';
import { ANYTHING } from '../domain/questions.ts';
import { codes, nonEmpty } from './config-values.ts';

const days = z.number().min(0).nullable().default(null);

/* The section `questions:` of the configuration: rules by specialty that choose the questions. */

const questionRule = z
  .strictObject({
    name: z
      .string()
      .refine((value) => /^[A-Za-z0-9_-]+$/.test(value), {
        error: 'may contain only letters, digits, dashes, and underscores.',
        params: { next: 'Write a short name, such as orthodontics.' },
      })
      .describe(
        'Name of the question set. The need is named by the rule that applies to a ' +
          'patient about whom nothing is known; another name of that rule means another ' +
          'call.',
      )
      .meta({ examples: ['orthodontics'] }),
    when_codes: z
      .array(codes)
      .min(1)
      .nullable()
      .default(null)
      .describe('Procedure codes or ranges to which the rule applies; null: every appointment.')
      .meta({ examples: [['D8000-D8999']] }),
    when_payers: z
      .array(nonEmpty)
      .min(1)
      .nullable()
      .default(null)
      .describe(
        'Payers to which the rule applies, by name, payer ID, or carrier; null: every payer.',
      )
      .meta({ examples: [['Delta Dental of Illinois', '62308']] }),
    when_patient: z
      .enum(['new', 'returning'])
      .nullable()
      .default(null)
      .describe(
        'returning: eligd knows an earlier visit of the patient, or an answer. null: everyone.',
      ),
    when_benefits: z
      .enum(['known', 'unknown'])
      .nullable()
      .default(null)
      .describe(
        "known: the payer has named the plan's shares and limits, in this plan year and " +
          'within policy.benefits_days; known codes are not asked about again. null: ' +
          'either.',
      ),
    when_benefits_days: days.describe(
      "Applies if the payer named the plan's shares and limits within this many days; " +
        'null: always.',
    ),
    when_eligibility_days: days.describe(
      'Applies if the payer said within this many days whether the coverage is active; ' +
        'null: always.',
    ),
    benefits_query: z
      .array(nonEmpty)
      .default([])
      .describe(
        "The service's question sets. Words that are not in its documentation are sent " +
          'unchanged.',
      )
      .meta({ examples: [['STANDARD']] }),
    with_codes: z
      .boolean()
      .default(true)
      .describe("Whether to ask about the appointment's procedure codes."),
    call_script_id: nonEmpty
      .nullable()
      .default(null)
      .describe('Your own call script at the service.'),
    benefits_form_name: nonEmpty
      .nullable()
      .default(null)
      .describe("The service's form, for medical and mental health."),
  })
  .refine((rule) => rule.benefits_query.length > 0 || rule.call_script_id !== null, {
    error: 'asks nothing.',
    params: { next: 'Write benefits_query, call_script_id, or both.' },
    path: ['benefits_query'],
  });

type Rule = z.output<typeof questionRule>;

const rule = (over: Pick<Rule, 'name' | 'benefits_query'> & Partial<Rule>): Rule => ({
  ...ANYTHING,
  ...over,
});

/**
 * Returns three rules: the short set for a returning patient whose plan is known; a separate need
 * for another patient whose group's plan is known, because the known codes are left out; and
 * everything for the others.
 */
const standing = (brief: string[], everything: string[]) => [
  rule({
    name: 'returning',
    when_patient: 'returning',
    when_benefits: 'known',
    benefits_query: brief,
  }),
  rule({ name: 'known-plan', when_benefits: 'known', benefits_query: everything }),
  rule({ name: 'standard', benefits_query: everything }),
];

/** Returns whether a rule matches every appointment. */
const isForAll = (each: Rule) =>
  [
    ...[each.when_codes, each.when_payers, each.when_patient, each.when_benefits],
    ...[each.when_benefits_days, each.when_eligibility_days],
  ].every((condition) => condition === null);

const rules = (defaults: Rule[]) =>
  z
    .array(questionRule)
    .min(1)
    .superRefine((list, context) => {
      list.forEach((each, index) => {
        const is_last = index === list.length - 1;
        if (is_last && !isForAll(each)) {
          const next = 'Add a last rule without conditions (when_…).';
          context.addIssue({
            code: 'custom',
            path: [index],
            message: 'leaves the other appointments without questions.',
            params: { next },
          });
        } else if (!is_last && isForAll(each)) {
          const next = 'Write a condition such as when_codes, or put this rule last.';
          context.addIssue({
            code: 'custom',
            path: [index],
            message: 'matches every appointment, so the rules after it are never used.',
            params: { next },
          });
        }
        if (list.findIndex((other) => other.name === each.name) < index) {
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
      standing(
        ['STANDARD', 'CODE_LOOKUP_BENEFITS', 'CODE_LOOKUP_FREQUENCIES'],
        [
          ...['STANDARD', 'DEDUCTIBLES_AND_MAXIMUMS', 'TREATMENT_HISTORY'],
          ...['CODE_LOOKUP_BENEFITS', 'CODE_LOOKUP_FREQUENCIES'],
        ],
      ),
    ),
    // Only dental has a set named STANDARD; basic plan information is part of every set.
    medical: rules(
      standing(
        [
          ...['DEDUCTIBLES_AND_MAXIMUMS', 'CODE_LOOKUP_BENEFITS'],
          ...['CODE_LOOKUP_PRIOR_AUTH', 'CODE_LOOKUP_FREQUENCIES'],
        ],
        [
          ...['DEDUCTIBLES_AND_MAXIMUMS', 'CODE_LOOKUP_BENEFITS'],
          ...['CODE_LOOKUP_PRIOR_AUTH', 'CODE_LOOKUP_FREQUENCIES'],
        ],
      ),
    ),
    mental_health: rules(
      standing(
        ['PLAN_INFO', 'MAXIMUMS', 'CODE_LOOKUP_BENEFITS'],
        ['PLAN_INFO', 'MAXIMUMS', 'PSYCHOTHERAPY', 'CODE_LOOKUP_BENEFITS'],
      ),
    ),
  })
  .prefault({})
  .describe(
    'The questions for the payer, by specialty. The first rule that matches wins; the ' +
      'last one must match every appointment.',
  );
