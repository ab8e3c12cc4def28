/** The configuration of a world's clinic, and its secrets. */

import { join } from 'node:path';
import { VERDICT_REASONS } from '../../src/domain/attention.ts';
import type { Plan } from './plan.ts';
import { WEBHOOK_SECRET } from './reports.ts';

export const HOOK_URL = 'https://clinic.example/webhooks/inquiries';

export const SECRETS = {
  ELIGD_SERVICE_USERNAME: 'u',
  ELIGD_SERVICE_PASSWORD: 'p',
  ELIGD_SERVICE_PROJECT_ID: 'i',
  ELIGD_SERVICE_API_KEY: 'k',
  ELIGD_WEBHOOK_SECRET: WEBHOOK_SECRET,
};

/** The content of eligd.yaml, as JSON. */
export function configText(plan: Plan): string {
  const { config } = plan;
  return JSON.stringify({
    clinic: {
      name: 'Zclinic',
      time_zone: plan.time_zone,
      specialty: plan.specialty,
      tax_id: '123456789',
      billing_npi: '1234567893',
    },
    service: {
      base_url: 'http://127.0.0.1:8700',
      auth: config.auth,
      settle_seconds: config.settle_ms / 1000,
      timeout_seconds: config.timeout_ms / 1000,
      submission: {
        mode: config.mode,
        batch_size: config.batch_size,
        max_per_minute: config.max_per_minute,
        concurrency: config.concurrency,
        bulk_shape: config.bulk_shape,
      },
    },
    connectors: [{ id: 'pms', type: join(import.meta.dirname, 'connector.ts') }],
    state: { path: './eligd.db' },
    policy: {
      // The verdicts of random plans do not concern the stages, and excuse nothing on the list.
      attention: Object.fromEntries(VERDICT_REASONS.map((reason) => [reason, false])),
      look_ahead_days: config.look_ahead_days,
      min_lead_hours: config.min_lead_hours,
      late_visits: config.late_visits,
      payer_hours: config.payer_hours,
      attempts: config.attempts,
      attempt_pause_hours: config.attempt_pause_hours,
      reverify_after_days: config.reverify_after_days,
      give_up_after_days: config.give_up_after_days,
      calls_per_day: config.calls_per_day,
      new_codes: plan.pms.new_codes ?? 'note',
      claims: {
        ask_after_days: plan.pms.ask_after_days,
        ask_again_days: plan.pms.ask_again_days,
        max_calls: plan.pms.claim_calls_max,
      },
    },
    webhook: plan.webhook.is_used
      ? {
          listen: '127.0.0.1:8686',
          public_url: HOOK_URL,
          signature_header: plan.webhook.header,
          update_frequency_minutes: plan.webhook.update_frequency_minutes,
        }
      : null,
    polling: {
      interval_minutes: config.poll_hours * 60,
      urgent_interval_minutes: config.poll_hours * 20,
    },
    schedule: { pull_seconds: config.pull_seconds },
    // A thread of its own writes it, and its time is not the world's.
    backup: { cron: null },
  });
}
