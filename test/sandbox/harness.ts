import { afterEach } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';

/**
 * A Monday, 09:00 in Chicago: the machine's time of every sandbox here, until a test changes it.
 */
export const MONDAY_MS = Date.parse('2030-01-07T15:00:00Z');

export const BASIC = `Basic ${Buffer.from('sandbox:sandbox').toString('base64')}`;

/** The type of a reply: tests know the shapes that they look for. */
// biome-ignore lint/suspicious/noExplicitAny: the assertions check the shape
export type Loose = any;

export type Response = { status: number; headers: Headers; text: string; body: Loose };

export type Bench = {
  sandbox: Sandbox;
  /** The machine's clock, which a test can set. */
  machine: { now_ms: number };
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Response>;
  create(specialty: string, fields?: Record<string, unknown>): Promise<string>;
  read(specialty: string, id: string): Promise<Loose>;
  list(specialty: string, query?: string): Promise<Loose>;
  advance(by: Record<string, unknown>): Promise<void>;
  behave(behaviors: Record<string, unknown>): Promise<void>;
};

const open: Sandbox[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
});

export function request(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    type: 'BENEFITS',
    desired_completion_date: '01-10-2030',
    patient_name: 'Ann Example',
    dob: '03-04-1980',
    member_id: 'ACTIVE100',
    tax_id: '123456789',
    benefits_query: ['STANDARD'],
    ...fields,
  };
}

/** A sandbox on a free port with a database in memory, closed after the test. */
export async function bench(options: Partial<SandboxOptions> = {}): Promise<Bench> {
  const machine = { now_ms: MONDAY_MS };
  const sandbox = await startSandbox({
    port: 0,
    db: ':memory:',
    seed: 1,
    speed: 1,
    now: () => machine.now_ms,
    ...options,
  });
  open.push(sandbox);
  const call: Bench['call'] = async (method, path, body, headers = {}) => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(sandbox.url + path, {
      method,
      headers: {
        authorization: BASIC,
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
      redirect: 'manual',
    });
    const answer = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      body: parsed(answer),
    };
  };
  const successful = async (...args: Parameters<Bench['call']>): Promise<Loose> => {
    const response = await call(...args);
    if (response.status >= 300)
      throw new Error(`${args[0]} ${args[1]} answered ${response.status}: ${response.text}`);
    return response.body;
  };
  return {
    sandbox,
    machine,
    call,
    create: async (specialty, fields) =>
      (await successful('POST', `/api/v0/${specialty}/inquiries`, request(fields))).inquiry_id,
    read: (specialty, id) => successful('GET', `/api/v0/${specialty}/inquiries/${id}`),
    list: (specialty, query = '') => successful('GET', `/api/v0/${specialty}/inquiries${query}`),
    advance: (by) => successful('POST', '/_sandbox/advance', by),
    behave: (behaviors) => successful('POST', '/_sandbox/behaviors', behaviors),
  };
}

function parsed(text: string): Loose {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
