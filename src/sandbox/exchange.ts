import type { Json, JsonObject } from './json.ts';
import type { State } from './state.ts';

/** A request as an endpoint sees it. */
export type Call = {
  state: State;
  params: { [name: string]: string };
  query: URLSearchParams;
  /** Path and query as they came. */
  url: string;
  headers: { [name: string]: string | string[] | undefined };
  body: string;
};

/** What an endpoint answers. A `body` that is undefined is an empty one. */
export type Reply = {
  status: number;
  body?: Json | undefined;
  headers?: { [name: string]: string };
};

/** Endpoints are synchronous: when one returns, what it did is committed. */
export type Endpoint = (call: Call) => Reply;

export type Route = { method: 'GET' | 'POST' | 'DELETE'; path: string; endpoint: Endpoint };

export function ok(body: Json): Reply {
  return { status: 200, body };
}

/** A validation error (docs/service.md "Validation error"). */
export function invalid(detail: JsonObject[]): Reply {
  return { status: 422, body: { detail } };
}

/** A validation error with one problem. */
export function invalidAt(loc: (string | number)[], msg: string, type: string): Reply {
  return invalid([{ loc, msg, type }]);
}

/** Reads a JSON body; where it is not JSON, the reply that says so. */
export function readJson(body: string): { ok: true; value: unknown } | { ok: false; reply: Reply } {
  if (body === '') return { ok: false, reply: invalidAt(['body'], 'Field required', 'missing') };
  try {
    return { ok: true, value: JSON.parse(body) };
  } catch {
    return { ok: false, reply: invalidAt(['body'], 'The body is not valid JSON', 'json_invalid') };
  }
}
