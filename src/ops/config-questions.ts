import { z } from 'zod';
import { ANYTHING } from '../domain/questions.ts';
import { codes, nonEmpty } from './config-values.ts';

const days = z.number().min(0).nullable().default(null);

/*
 * The part `questions:` of the configuration: rules by specialty that say what the payer is asked.
 */

const questionRule = z
  .strictObject({
    name: z
      .string()
      .refine((value) => /^[A-Za-z0-9_-]+$/.test(value), {
        error: 'may contain only letters, digits, dashes, and underscores.',
        params: { next: 'Write a short name, such as orthodontics.' },
      })
      .describe(
        'Name of the question set. The rule that applies to a patient of whom nothing is known ' +
          'names the need; another name of that rule is another call.',
      )
      .meta({ examples: ['orthodontics'] }),
    when_codes: z
      .array(codes)
      .min(1)
      .nullable()
      .default(null)
      .describe('Procedure codes or ranges for which the rule holds; null: every appointment.')
      .meta({ examples: [['D8000-D8999']] }),
    when_payers: z
      .array(nonEmpty)
      .min(1)
      .nullable()
      .default(null)
      .describe('Payers for which the rule holds, by name, payer ID or carrier; null: every payer.')
      .meta({ examples: [['Delta Dental of Illinois', '62308']] }),
    when_patient: z
      .enum(['new', 'returning'])
      .nullable()
      .default(null)
      .describe(
        'returning: eligd knows an earlier visit of the patient, or an answer. null: everybody.',
      ),
    when_benefits: z
      .enum(['known', 'unknown'])
      .nullable()
      .default(null)
      .describe(
        "known: the payer has named the plan's shares and limits, in this plan year and within " +
          'policy.benefits_days; codes that are known are not asked about again. null: either.',
      ),
    when_benefits_days: days.describe(
      "Holds when the payer named the plan's shares and limits within so many days; null: always.",
    ),
    when_eligibility_days: days.describe(
      'Holds when the payer said within so many days whether the coverage is active; null: always.',
    ),
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

type Rule = z.output<typeof questionRule>;

const rule = (over: Pick<Rule, 'name' | 'benefits_query'> & Partial<Rule>): Rule => ({
  ...ANYTHING,
  ...over,
});

/**
 * The short set for a returning patient whose plan is known, then everything; of a new patient
 * whose group's plan is known, the codes that are known are left out.
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

/** Whether a rule holds for every appointment. */
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
            message: 'matches every appointment, so the rules after it never count.',
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
    // Outside dental no set has the name STANDARD; basic plan information comes with every set.
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
    'What the payer is asked, by specialty. The first rule that matches wins; the last one ' +
      'must match every appointment.',
  );
