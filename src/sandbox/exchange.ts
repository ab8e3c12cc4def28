import type { Json, JsonObject } from './json.ts';
import type { State } from './state.ts';

/** A request as an endpoint sees it. */
export type Call = {
  state: State;
  params: { [name: string]: string };
  query: URLSearchParams;
  /** Path and query as received. */
  url: string;
  headers: { [name: string]: string | string[] | undefined };
  body: string;
};

/** An endpoint's answer. An undefined `body` is an empty one. */
export type Reply = {
  status: number;
  body?: Json | undefined;
  headers?: { [name: string]: string };
};

/** Endpoints are synchronous: everything they do is committed when they return. */
type Endpoint = (call: Call) => Reply;

export type Route = { method: 'GET' | 'POST' | 'DELETE'; path: string; endpoint: Endpoint };

export function ok(body: Json): Reply {
  return { status: 200, body };
}

/** Returns a validation error (docs/service.md "Validation error"). */
export function invalid(detail: JsonObject[]): Reply {
  return { status: 422, body: { detail } };
}

/** Returns a validation error with one problem. */
export function invalidAt(loc: (string | number)[], msg: string, type: string): Reply {
  return invalid([{ loc, msg, type }]);
}

/** Reads a JSON body. If it is not JSON, returns the reply that says so. */
export function readJson(body: string): { ok: true; value: unknown } | { ok: false; reply: Reply } {
  if (body === '') return { ok: false, reply: invalidAt(['body'], 'Field required', 'missing') };
  try {
    return { ok: true, value: JSON.parse(body) };
  } catch {
    return { ok: false, reply: invalidAt(['body'], 'The body is not valid JSON', 'json_invalid') };
  }
}
