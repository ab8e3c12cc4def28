import type { EventName } from '../domain/events.ts';
import type { ClinicProfile, Policy, ProviderOverride, QuestionRules } from '../domain/policy.ts';
import type { Specialty } from '../domain/specialty.ts';
import type { Config } from './config-schema.ts';
import { codeRange } from './config-values.ts';

/** The configuration as the planning rules of `domain/` see the clinic. */
export function clinicProfile(config: Config): ClinicProfile {
  const { clinic } = config;
  return {
    ...clinic,
    closed: new Set(clinic.closed),
    locations: new Map(
      Object.entries(config.locations).map(([name, values]): [string, ProviderOverride] => [name.trim().toLowerCase(), values]),
    ),
    providers: new Map(Object.entries(config.providers)),
  };
}

/** The planning rules of the configuration. */
export function policyOf(config: Config): Policy {
  const { payers: _, ...rules } = config.policy;
  return {
    ...rules,
    questions: {
      dental: questionRules(config, 'dental'),
      medical: questionRules(config, 'medical'),
      mental_health: questionRules(config, 'mental_health'),
    },
  };
}

function questionRules(config: Config, specialty: Specialty): QuestionRules {
  return config.questions[specialty].map((rule) => ({
    ...rule,
    // The schema has let nothing else through than codes and ranges.
    when_codes: rule.when_codes?.flatMap((text) => codeRange(text) ?? []) ?? null,
  }));
}

/** Something that is configured and does not work as somebody might expect: said by the log at start, `check` and `config show`. */
export type ConfigNote = { event: EventName; what: string; next: string };

export function configNotes(config: Config): ConfigNote[] {
  if (config.webhook === null) return [];
  return [
    {
      event: 'webhook_not_served',
      what: 'The part "webhook" is accepted, but this version of eligd has no receiver yet: answers come by polling only.',
      next: 'Nothing is lost by that; answers come a little later.',
    },
  ];
}
