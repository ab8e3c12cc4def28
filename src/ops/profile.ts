import type { EventName } from '../domain/events.ts';
import type { ClinicProfile, Policy, ProviderOverride, QuestionRules } from '../domain/policy.ts';
import type { Specialty } from '../domain/specialty.ts';
import type { Config } from './config-schema.ts';
import { codeRange, dayHours, isLoopback } from './config-values.ts';
import { areCertificatesUnchecked } from './environment.ts';

/** Returns the clinic's profile for the planning rules of `domain/`. */
export function clinicProfile(config: Config): ClinicProfile {
  const { clinic } = config;
  return {
    ...clinic,
    closed: new Set(clinic.closed),
    locations: new Map(
      Object.entries(config.locations).map(([name, values]): [string, ProviderOverride] => [
        name.trim().toLowerCase(),
        values,
      ]),
    ),
    providers: new Map(Object.entries(config.providers)),
  };
}

/** Returns the planning rules of the configuration. */
export function policyOf(config: Config): Policy {
  const { payers: _, fees: __, attention: ___, payer_hours, ...rules } = config.policy;
  const { hours, zones, holidays, same_day_cutoff, turnaround_days } = payer_hours;
  return {
    ...rules,
    payer_hours: {
      // The schema accepts only valid hours.
      hours: dayHours(hours) ?? { opens: 0, closes: 24 * 60 },
      zones,
      holidays: new Set(holidays),
    },
    same_day_cutoff: same_day_cutoff === null ? null : minuteOf(same_day_cutoff),
    turnaround_days,
    questions: {
      dental: questionRules(config, 'dental'),
      medical: questionRules(config, 'medical'),
      mental_health: questionRules(config, 'mental_health'),
    },
  };
}

/** Converts `12:00` to minutes since midnight. */
function minuteOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return hour * 60 + minute;
}

function questionRules(config: Config, specialty: Specialty): QuestionRules {
  return config.questions[specialty].map((rule) => ({
    ...rule,
    // The schema accepts only codes and ranges.
    when_codes: rule.when_codes?.flatMap((text) => codeRange(text) ?? []) ?? null,
  }));
}

/**
 * A setting that may not do what you expect: the log at startup, `check`, and `config show` mention
 * it.
 */
type ConfigNote = { event: EventName; what: string; next: string };

export function configNotes(config: Config): ConfigNote[] {
  return [...certificateNotes(), ...webhookNotes(config)];
}

function certificateNotes(): ConfigNote[] {
  if (!areCertificatesUnchecked()) return [];
  return [
    {
      event: 'certificates_unchecked',
      what: 'Certificates are NOT checked (NODE_TLS_REJECT_UNAUTHORIZED=0).',
      next: 'Use this for tests only: anyone on the network can read and change patient data.',
    },
  ];
}

function webhookNotes({ webhook }: Config): ConfigNote[] {
  if (webhook === null || isLoopback(`http://${webhook.listen}`)) return [];
  return [
    {
      event: 'webhook_exposed',
      what:
        `webhook.listen is ${webhook.listen}, which other machines can reach ` +
        'without encryption.',
      next:
        'Use 127.0.0.1 and a reverse proxy on this machine (docs/webhooks.md), unless the ' +
        'proxy is another machine on the same network.',
    },
  ];
}
