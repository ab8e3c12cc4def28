import { type Call, invalid, ok, type Reply, type Route, readJson } from '../exchange.ts';
import { formatTimestamp } from '../formats.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { State } from '../state.ts';
import type { Subscription } from '../store.ts';

const DEFAULT_FREQUENCY_MIN = 5;

/** The account's only subscription (docs/service.md "Subscription (webhook registration)"). */
export function subscriptionRoutes(): Route[] {
  const path = '/api/v0/subscription/';
  return [
    { method: 'POST', path, endpoint: register },
    { method: 'GET', path, endpoint: show },
    { method: 'DELETE', path, endpoint: remove },
  ];
}

function register({ state, body }: Call): Reply {
  const json = readJson(body);
  if (!json.ok) return json.reply;
  const fields = isObject(json.value) ? json.value : {};
  const { callback_url } = fields;
  const frequency = fields.update_frequency_min ?? DEFAULT_FREQUENCY_MIN;
  const problems: JsonObject[] = [];
  if (typeof callback_url !== 'string' || !isWebAddress(callback_url)) {
    const missing = callback_url === undefined;
    const msg = missing
      ? 'Field required'
      : 'Input should be a URL that begins with http:// or https://';
    problems.push({
      loc: ['body', 'callback_url'],
      msg,
      type: missing ? 'missing' : 'url_parsing',
    });
  }
  if (typeof frequency !== 'number' || !Number.isInteger(frequency) || frequency < 1) {
    problems.push({
      loc: ['body', 'update_frequency_min'],
      msg: 'Input should be an integer, 1 or more',
      type: 'int_type',
    });
  }
  if (problems.length > 0 || typeof callback_url !== 'string' || typeof frequency !== 'number')
    return invalid(problems);
  const before = state.store.subscription();
  const { id, created_ms } = before ?? { id: state.newId(), created_ms: state.clock.callNow() };
  const update_frequency_min = Math.max(frequency, state.behaviors.subscription_minutes_min);
  const subscription = { id, callback_url, update_frequency_min, created_ms };
  state.store.saveSubscription(subscription);
  state.reports.subscribed(before === undefined);
  return changed(state, subscription);
}

function show({ state }: Call): Reply {
  const subscription = state.store.subscription();
  return subscription === undefined ? none(state) : ok(record(state, subscription));
}

function remove({ state }: Call): Reply {
  const subscription = state.store.subscription();
  if (subscription === undefined) return none(state);
  state.store.deleteSubscription();
  return changed(state, subscription);
}

function changed(state: State, subscription: Subscription): Reply {
  switch (state.behaviors.subscription_body) {
    case 'object':
      return ok(record(state, subscription));
    case 'empty':
      return ok({});
    case '204':
      return { status: 204 };
  }
}

function none(state: State): Reply {
  switch (state.behaviors.subscription_none) {
    case '404':
      return { status: 404, body: { detail: 'There is no subscription' } };
    case 'empty':
      return ok({});
    case 'null':
      return ok(null);
  }
}

function record(state: State, subscription: Subscription): JsonObject {
  const { id, callback_url, update_frequency_min, created_ms } = subscription;
  return {
    subscription_id: id,
    callback_url,
    update_frequency_min,
    creation_ts: formatTimestamp(created_ms, state.behaviors.timestamps),
  };
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
