import { z } from 'zod';
import { checkBehaviors } from '../behaviors.ts';
import { DAY_MS, HOUR_MS } from '../calendar.ts';
import {
  type Call,
  invalid,
  invalidAt,
  ok,
  type Reply,
  type Route,
  readJson,
} from '../exchange.ts';
import { faultsSchema } from '../faults.ts';
import type { Json, JsonObject } from '../json.ts';
import { lifeOf, stepAt } from '../lifecycle.ts';
import type { Inquiry } from '../request.ts';
import type { State } from '../state.ts';

/**
 * The sandbox's own routes, in addition to the service: for tests and for inspection. They need no
 * credentials.
 */
export function adminRoutes(): Route[] {
  const base = '/_sandbox';
  return [
    { method: 'GET', path: `${base}/ledger`, endpoint: ledger },
    { method: 'GET', path: `${base}/requests`, endpoint: requests },
    { method: 'GET', path: `${base}/webhooks`, endpoint: webhooks },
    { method: 'GET', path: `${base}/clock`, endpoint: ({ state }) => ok(clockOf(state)) },
    { method: 'POST', path: `${base}/clock`, endpoint: setSpeed },
    { method: 'POST', path: `${base}/advance`, endpoint: advance },
    { method: 'GET', path: `${base}/faults`, endpoint: ({ state }) => ok(faultsOf(state)) },
    { method: 'POST', path: `${base}/faults`, endpoint: addFaults },
    { method: 'DELETE', path: `${base}/faults`, endpoint: clearFaults },
    {
      method: 'GET',
      path: `${base}/behaviors`,
      endpoint: ({ state }) => ok({ ...state.behaviors }),
    },
    { method: 'POST', path: `${base}/behaviors`, endpoint: setBehaviors },
    {
      method: 'POST',
      path: `${base}/revoke_tokens`,
      endpoint: ({ state }) => ok({ revoked: state.store.revokeTokens() }),
    },
    { method: 'POST', path: `${base}/reset`, endpoint: reset },
  ];
}

/**
 * Returns all accepted inquiries. `?external_id=` selects one label; `?inquiries=no` omits the
 * inquiries and returns only the counts.
 */
function ledger({ state, query }: Call): Reply {
  const label = query.get('external_id');
  const shown = query.get('inquiries') === 'no' ? [] : [...state.store.ledger()];
  return ok({
    now: instant(state.clock.callNow()),
    count: state.store.countInquiries(),
    requests: state.traffic.counts(),
    inquiries: shown
      .filter(({ external_id }) => label === null || external_id === label)
      .map((one) => ledgerEntry(state, one)),
  });
}

function ledgerEntry(state: State, inquiry: Inquiry): JsonObject {
  const life = lifeOf(state.seed, inquiry, state.behaviors);
  return {
    id: inquiry.id,
    specialty: inquiry.specialty,
    external_id: inquiry.external_id,
    accepted_at: instant(inquiry.created_ms),
    attempt: inquiry.attempt,
    status: stepAt(life, state.clock.callNow()).status,
    steps: life.steps.map((step) => ({
      at: instant(step.at_ms),
      status: step.status,
      answer: step.answer,
    })),
    request: { ...inquiry.request },
  };
}

function requests({ state }: Call): Reply {
  return ok(
    state.traffic.recent().map(({ at_ms, ...entry }) => ({ at: instant(at_ms), at_ms, ...entry })),
  );
}

/** Returns the last attempts to deliver a message. */
function webhooks({ state }: Call): Reply {
  return ok(
    state.reports
      .deliveries()
      .map(({ at_ms, ...entry }) => ({ at: instant(at_ms), at_ms, ...entry })),
  );
}

const speedSchema = z.strictObject({ speed: z.number().positive().max(100_000) });

/** Changes the speed; the time continues from its current value. */
function setSpeed({ state, body }: Call): Reply {
  const json = readJson(body);
  if (!json.ok) return json.reply;
  const parsed = speedSchema.safeParse(json.value);
  if (!parsed.success)
    return invalidAt(['body'], 'Give the speed: {"speed": number over 0}', 'speed');
  state.clock.setSpeed(parsed.data.speed);
  return ok(clockOf(state));
}

const advanceSchema = z.union([
  z.strictObject({ to: z.iso.datetime({ offset: true }) }),
  z
    .strictObject({
      seconds: z.number().default(0),
      hours: z.number().default(0),
      days: z.number().default(0),
    })
    .refine(
      ({ seconds, hours, days }) =>
        seconds + hours + days > 0 && Math.min(seconds, hours, days) >= 0,
    ),
]);

/** Advances the calls. The `Date` header, token lifetimes, and the rate limit do not change. */
function advance({ state, body }: Call): Reply {
  const json = readJson(body);
  if (!json.ok) return json.reply;
  const parsed = advanceSchema.safeParse(json.value);
  if (!parsed.success) {
    return invalidAt(
      ['body'],
      'Give the time: {"seconds"|"hours"|"days": number over 0} or {"to": "2030-01-31T12:00:00Z"}',
      'advance',
    );
  }
  const by_ms =
    'to' in parsed.data
      ? Date.parse(parsed.data.to) - state.clock.callNow()
      : parsed.data.seconds * 1000 + parsed.data.hours * HOUR_MS + parsed.data.days * DAY_MS;
  if (by_ms < 0) return invalidAt(['body', 'to'], 'The clock cannot go back', 'advance');
  state.clock.advanced_ms += Math.round(by_ms);
  state.store.saveSetting('advanced_ms', String(state.clock.advanced_ms));
  return ok(clockOf(state));
}

function clockOf({ clock }: State): JsonObject {
  return {
    now: instant(clock.callNow()),
    service_now: instant(clock.serviceNow()),
    anchor_ms: clock.anchor_ms,
    speed: clock.speed,
    advanced_ms: clock.advanced_ms,
  };
}

function addFaults({ state, body }: Call): Reply {
  const json = readJson(body);
  if (!json.ok) return json.reply;
  const parsed = faultsSchema.safeParse(json.value);
  if (!parsed.success) {
    return invalid(
      parsed.error.issues.map(({ path, message, code }) => ({
        loc: ['body', ...path.map(String)],
        msg: message,
        type: code,
      })),
    );
  }
  state.faults.add(parsed.data);
  return ok(faultsOf(state));
}

function clearFaults({ state }: Call): Reply {
  state.faults.clear();
  return ok(faultsOf(state));
}

function faultsOf(state: State): Json {
  return state.faults.pending().map((fault) => JSON.parse(JSON.stringify(fault)) as JsonObject);
}

function setBehaviors({ state, body }: Call): Reply {
  const json = readJson(body);
  if (!json.ok) return json.reply;
  const object = z.record(z.string(), z.unknown()).safeParse(json.value);
  if (!object.success)
    return invalidAt(
      ['body'],
      'Send an object of behaviors, such as {"echo": "nulls"}',
      'behaviors',
    );
  try {
    state.behaviors = { ...state.behaviors, ...checkBehaviors(object.data) };
  } catch (error) {
    return invalidAt(['body'], error instanceof Error ? error.message : String(error), 'behaviors');
  }
  return ok({ ...state.behaviors });
}

/** Resets everything to the first start, except the anchor of the clock. */
function reset({ state }: Call): Reply {
  state.store.clear();
  state.store.saveSetting('advanced_ms', '0');
  state.clock.advanced_ms = 0;
  state.faults.clear();
  state.traffic.clear();
  state.reports.forget();
  state.behaviors = { ...state.initial_behaviors };
  return ok({ success: true });
}

function instant(instant_ms: number): string | null {
  return Number.isFinite(instant_ms) ? new Date(instant_ms).toISOString() : null;
}
