import type { Dice } from '../dice.ts';
import { compact, type JsonObject } from '../json.ts';
import type { AnswerContext } from './context.ts';
import { coversOrthodontics, isCalendarYear } from './plan.ts';

/**
 * Returns the maximums record (docs/service.md "Maximums record"). Individual plans have no family
 * fields.
 */
export function maximums(context: AnswerContext): JsonObject {
  return context.specialty === 'dental' ? dentalMaximums(context) : medicalMaximums(context);
}

function dentalMaximums(context: AnswerContext): JsonObject {
  const { policy, formats } = context;
  const limit = policy.pick('limit', [100_000, 150_000, 150_000, 200_000, 250_000]);
  const drawn_used = share(personUsed(context), 'limit', limit, 5000);
  const limit_used = context.course.is_used_up === true ? limit : drawn_used;
  const deductible = deductibleOf(
    context,
    policy.pick('deductible', [2500, 5000, 5000, 7500, 10_000]),
  );
  return compact({
    name: 'Dental',
    ...deductibleFields(context, deductible),
    coverage_limit: formats.amount(limit),
    coverage_limit_remaining: formats.amount(limit - limit_used),
    orthodontics_coverage_limit: coversOrthodontics(context)
      ? formats.amount(policy.pick('orthodontics limit', [100_000, 150_000, 200_000]))
      : undefined,
  });
}

/**
 * Amounts applied to a deductible also count as out of pocket, so the out-of-pocket amounts are
 * never smaller.
 */
function medicalMaximums(context: AnswerContext): JsonObject {
  const { policy, formats } = context;
  const deductible = deductibleOf(
    context,
    policy.pick('deductible', [0, 50_000, 100_000, 150_000, 300_000]),
  );
  const maximum = policy.pick('out of pocket', [300_000, 450_000, 600_000, 800_000]);
  const family_maximum = maximum * familyFactor(context);
  const family_used =
    deductible.family_used +
    share(familyUsed(context), 'out of pocket', family_maximum - deductible.family, 1000);
  const beyond_deductible = share(
    personUsed(context),
    'out of pocket',
    family_used - deductible.individual_used,
    1000,
  );
  const individual_used = Math.min(maximum, deductible.individual_used + beyond_deductible);
  const is_family = isFamilyPlan(context);
  return compact({
    name: context.specialty === 'medical' ? 'Medical' : 'Behavioral health',
    ...deductibleFields(context, deductible),
    individual_out_of_pocket_maximum: formats.amount(maximum),
    individual_out_of_pocket_maximum_used: formats.amount(individual_used),
    family_out_of_pocket_maximum: is_family ? formats.amount(family_maximum) : undefined,
    family_out_of_pocket_maximum_used: is_family ? formats.amount(family_used) : undefined,
  });
}

/** In cents. */
type Deductible = {
  individual: number;
  individual_used: number;
  family: number;
  family_used: number;
};

/**
 * Draws what the family has used: the same number for everyone under the member ID, and never less
 * than what one member has used.
 */
function deductibleOf(context: AnswerContext, individual: number): Deductible {
  const family = individual * familyFactor(context);
  const family_used = share(familyUsed(context), 'deductible', family, 500);
  const individual_used = Math.min(
    individual,
    share(personUsed(context), 'deductible', family_used, 500),
  );
  return { individual, individual_used, family, family_used };
}

function deductibleFields(context: AnswerContext, deductible: Deductible): JsonObject {
  const { formats } = context;
  const is_family = isFamilyPlan(context);
  return compact({
    individual_deductible: formats.amount(deductible.individual),
    individual_deductible_used: formats.amount(deductible.individual_used),
    individual_deductible_resets_each_calendar_year: isCalendarYear(context),
    family_deductible: is_family ? formats.amount(deductible.family) : undefined,
    family_deductible_used: is_family ? formats.amount(deductible.family_used) : undefined,
  });
}

function isFamilyPlan(context: AnswerContext): boolean {
  return context.policy.chance('family plan', 0.6);
}

function familyFactor(context: AnswerContext): number {
  return context.policy.pick('family factor', [2, 3]);
}

/** Draws the used amount, which is the value that a corrected answer corrects. */
function personUsed(context: AnswerContext): Dice {
  return context.person.of('used', context.edition);
}

function familyUsed(context: AnswerContext): Dice {
  return context.policy.of('used', context.edition);
}

/** Draws a part of the whole in steps: nothing in three of ten cases, everything in one. */
function share(dice: Dice, label: string, whole: number, step: number): number {
  const fraction = (dice.fraction(label) - 0.3) / 0.6;
  if (fraction <= 0) return 0;
  return fraction >= 1 ? whole : Math.floor((whole * fraction) / step) * step;
}
