/**
 * Finds the current conditions, one alert name each, in the facts that `domain/health.ts` judges.
 */

import type { CallBudget, Spending } from '../call-budget.ts';
import { budgetWords } from '../explanation.ts';
import type { HealthFacts } from '../health.ts';
import { dollars } from '../price.ts';
import type { ServiceTrouble } from '../service-contact.ts';
import { DAY_MS, type Instant } from '../time.ts';
import type { Judged } from './book.ts';
import { ALERT_NAMES, type AlertCondition, type AlertName, RESTART_SHOWN_MS } from './catalog.ts';

type AlertFacts = {
  health: HealthFacts;
  /** Open attention items, by reason. */
  attention: readonly { reason: string; count: number; since: Instant }[];
  /** Attention items about appointments: how many are open, and the maximum of each recent day. */
  growth: { open: number; usual: readonly number[] };
  budget: CallBudget;
  /** Free space on the disk that holds the database; null: unknown. */
  free_bytes: number | null;
  /** The certificates that eligd uses, with the time each one expires. */
  certificates: readonly { of: string; expires_at: Instant }[];
  /** A restart at `at` after the previous daemon hung or crashed; null: none. */
  restarted: { at: Instant; why: string } | null;
};

const FREE_BYTES_MIN = 500_000_000;
const EXPIRES_WITHIN_MS = 30 * DAY_MS;
/** Share of a month's budget. A day's budget runs out on any busy day and begins again tomorrow. */
const SHARE_LEFT_MIN = 0.1;
const GROWTH_MIN = 20;
const GROWTH_DAYS_MIN = 7;

/** Incident reasons that are also alert names. */
const SAME_NAME = [
  'clock_wrong', 'connector_cannot_read', 'connector_cannot_listen', 'connector_cannot_write',
  'messages_unread',
  'export_missing', 'export_empty', 'export_small', 'port_taken', 'payer_unreachable',
  'database_damaged', 'backup_missing',
  'purge_missing', 'webhook_silent', 'subscription_elsewhere', 'subscription_failed',
] as const; // biome-ignore format: a list of words reads better in lines than in a column

/** Attention reasons whose items are combined into one alert that states their number. */
const COUNTED: Readonly<Record<string, { name: AlertName; words: (count: number) => string }>> = {
  file_rejected: { name: 'export_rejected', words: (count) => `${files(count)} rejected.` },
  answer_late: { name: 'answers_overdue', words: late },
  answer_missing: { name: 'answers_overdue', words: late },
  duplicate_call: { name: 'duplicate_call', words: (count) => `Duplicate calls: ${count}.` },
  payers_unreadable: { name: 'payers_unreadable', words: () => '' },
  fees_unreadable: { name: 'fees_unreadable', words: () => '' },
};

const HALTS: Readonly<Record<string, AlertName>> = {
  account: 'calls_stopped',
  foreign: 'account_shared',
  new_database: 'database_new',
};

export function alertConditions(facts: AlertFacts): Judged {
  const { health } = facts;
  const contact = contactConditions(health);
  return {
    unknown: contact.unknown,
    conditions: [
      ...daemonConditions(facts),
      ...contact.conditions,
      ...health.halts.flatMap(({ reason, since, detail }) =>
        condition(HALTS[reason] ?? 'calls_stopped', since, detail),
      ),
      ...health.incidents.flatMap(({ reason, connector, since, what }) => {
        const name = SAME_NAME.find((each) => each === reason);
        const detail = name === 'payer_unreachable' ? what : '';
        return name === undefined ? [] : [{ name, about: connector ?? '', since, detail }];
      }),
      ...countedConditions(facts),
      ...installationConditions(facts),
    ],
  };
}

/** While the database cannot be read, every other alert is unknown. */
export function unreadableDatabase(since: Instant, code: string): Judged {
  const name = isDamage(code) ? 'database_damaged' : 'database_unusable';
  return {
    unknown: new Set(ALERT_NAMES.filter((each) => each !== name)),
    conditions: condition(name, since, `The system reported ${code}.`),
  };
}

function isDamage(text: string): boolean {
  return /SQLITE_(CORRUPT|NOTADB)/.test(text);
}

function condition(name: AlertName, since: Instant, detail = ''): AlertCondition[] {
  return [{ name, about: '', since, detail }];
}

function daemonConditions({ health, restarted }: AlertFacts): AlertCondition[] {
  const { now, heartbeat } = health;
  const found: AlertCondition[] = [];
  if (restarted !== null && now - restarted.at < RESTART_SHOWN_MS)
    found.push(...condition('daemon_restarted', restarted.at, restarted.why));
  const hanging = heartbeat?.hanging ?? [];
  const unwritten = hanging.find((stage) => stage.startsWith('database'));
  if (unwritten !== undefined)
    found.push(...condition(isDamage(unwritten) ? 'database_damaged' : 'database_unusable', now));
  else if (hanging.length > 0)
    found.push(...condition('daemon_hangs', now, `No progress: ${hanging.join(', ')}.`));
  return found;
}

const CONTACT_ALERTS: Readonly<Record<ServiceTrouble['kind'], AlertName>> = {
  away: 'service_away',
  login_rejected: 'credentials_rejected',
  turned_away: 'calls_stopped',
};

/** After a start, both are unknown until the service has answered once. */
function contactConditions({ heartbeat }: HealthFacts): {
  conditions: AlertCondition[];
  unknown: ReadonlySet<AlertName>;
} {
  const { calls, answers } = heartbeat?.contact ?? { calls: null, answers: null };
  const trouble = calls?.trouble ?? answers?.trouble ?? null;
  if (trouble !== null) {
    const { kind, since, why } = trouble;
    return { conditions: condition(CONTACT_ALERTS[kind], since, why), unknown: new Set() };
  }
  const is_heard = (calls?.ok_at ?? answers?.ok_at ?? null) !== null;
  const unknown = is_heard ? [] : (['service_away', 'credentials_rejected'] as const);
  return { conditions: [], unknown: new Set(unknown) };
}

function countedConditions({ attention }: AlertFacts): AlertCondition[] {
  const by_name = new Map<AlertName, { count: number; since: Instant; reason: string }>();
  for (const { reason, count, since } of attention) {
    const name = COUNTED[reason]?.name;
    if (name === undefined) continue;
    const before = by_name.get(name) ?? { count: 0, since, reason };
    const earliest = Math.min(before.since, since);
    by_name.set(name, { count: before.count + count, since: earliest, reason });
  }
  return [...by_name].flatMap(([name, { count, since, reason }]) =>
    condition(name, since, COUNTED[reason]?.words(count) ?? ''),
  );
}

function installationConditions(facts: AlertFacts): AlertCondition[] {
  const { health, growth, budget, free_bytes, certificates } = facts;
  const { now } = health;
  const found: AlertCondition[] = [];
  if (free_bytes !== null && free_bytes < FREE_BYTES_MIN)
    found.push(...condition('disk_low', now, `${Math.floor(free_bytes / 1_000_000)} MB are free.`));
  const expiring = certificates.filter(({ expires_at }) => expires_at - now < EXPIRES_WITHIN_MS);
  if (expiring.length > 0)
    found.push(...condition('certificate_expiring', now, expiring.map(certificateWords).join(' ')));
  const low = budgetLow(budget);
  if (low !== null) found.push(...condition('budget_low', now, low));
  const { open, usual } = growth;
  if (usual.length >= GROWTH_DAYS_MIN && open >= Math.max(GROWTH_MIN, 2 * Math.max(...usual)))
    found.push(
      ...condition(
        'attention_growing',
        now,
        `${open} entries; at most ${Math.max(...usual)} before.`,
      ),
    );
  return found;
}

function budgetLow({ month, used_up }: CallBudget): string | null {
  if (used_up?.period === 'month') return budgetWords(used_up);
  const { calls, calls_left, cents, estimated_cents, cents_left }: Spending = month;
  const is_low = (left: number | null, spent: number) =>
    left !== null && left <= (spent + left) * SHARE_LEFT_MIN;
  if (is_low(calls_left, calls)) return `Calls left this month: ${calls_left}.`;
  if (is_low(cents_left, cents + estimated_cents))
    return `Left this month: ${dollars(cents_left ?? 0)}.`;
  return null;
}

function certificateWords({ of, expires_at }: { of: string; expires_at: Instant }): string {
  return `The certificate of ${of} expires on ${new Date(expires_at).toISOString().slice(0, 10)}.`;
}

function files(count: number): string {
  return count === 1 ? '1 file was' : `${count} files were`;
}

function late(count: number): string {
  return `Visits without their answer: ${count}.`;
}
