import { afterEach } from 'vitest';
import { type Behaviors, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';

/** An inquiry that the service accepted: a paid call. */
export type LedgerEntry = {
  id: string;
  specialty: string;
  external_id: string | null;
  accepted_at: string;
  attempt: number;
  status: string;
  request: {
    member_id: string;
    dob: string;
    tax_id: string;
    patient_name: string;
    insurance_payor_id?: string;
    claim_number?: string;
  };
};

export type Traffic = { total: number; peak_per_minute: number; by_route: Record<string, number> };

export type FaultOrder = {
  method?: string;
  path?: string;
  skip?: number;
  times?: number;
  when: 'before' | 'after';
  action: 'status' | 'delay' | 'reset' | 'truncate' | 'html';
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
  delay_ms?: number;
};

/** The sandbox over HTTP, with helpers for tests. */
export type Service = {
  url: string;
  anchor_ms: number;
  advance: (by: { seconds?: number; hours?: number; days?: number }) => Promise<void>;
  behave: (behaviors: Partial<Record<keyof Behaviors, string | number>>) => Promise<void>;
  fault: (...faults: FaultOrder[]) => Promise<void>;
  pendingFaults: () => Promise<FaultOrder[]>;
  clearFaults: () => Promise<void>;
  /** Moves calls to an earlier time, until this moment. */
  advanceTo: (to: string) => Promise<void>;
  ledger: () => Promise<LedgerEntry[]>;
  ledgerWithSteps: () => Promise<(LedgerEntry & { steps: { at: string; status: string }[] })[]>;
  traffic: () => Promise<Traffic>;
  /** Creates an inquiry as another program on the same account would. */
  createBeside: (fields: Record<string, unknown>) => Promise<string>;
  revokeTokens: () => Promise<void>;
  /** The service loses every inquiry, and works as before. */
  forget: () => Promise<void>;
  close: () => Promise<void>;
};

const started: { close: () => Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.close()));
});

/** A sandbox on a free port with a database in memory, closed after the test. */
export async function startService(options: Partial<SandboxOptions> = {}): Promise<Service> {
  const sandbox = await startSandbox({ port: 0, db: ':memory:', seed: 1, speed: 1, ...options });
  started.push(sandbox);
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(sandbox.url + path, {
      method,
      headers: {
        authorization: `Basic ${Buffer.from('sandbox:sandbox').toString('base64')}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  };
  return {
    url: sandbox.url,
    anchor_ms: sandbox.anchor_ms,
    advance: async (by) => void (await call('POST', '/_sandbox/advance', by)),
    behave: async (behaviors) => void (await call('POST', '/_sandbox/behaviors', behaviors)),
    fault: async (...faults) => void (await call('POST', '/_sandbox/faults', faults)),
    pendingFaults: async () => (await call('GET', '/_sandbox/faults')) as FaultOrder[],
    clearFaults: async () => void (await call('DELETE', '/_sandbox/faults')),
    advanceTo: async (to) => void (await call('POST', '/_sandbox/advance', { to })),
    ledgerWithSteps: async () =>
      (
        (await call('GET', '/_sandbox/ledger')) as {
          inquiries: Awaited<ReturnType<Service['ledgerWithSteps']>>;
        }
      ).inquiries,
    ledger: async () =>
      ((await call('GET', '/_sandbox/ledger')) as { inquiries: LedgerEntry[] }).inquiries,
    traffic: async () =>
      ((await call('GET', '/_sandbox/ledger?inquiries=no')) as { requests: Traffic }).requests,
    createBeside: async (fields) =>
      ((await call('POST', '/api/v0/dental/inquiries', fields)) as { inquiry_id: string })
        .inquiry_id,
    revokeTokens: async () => void (await call('POST', '/_sandbox/revoke_tokens')),
    forget: async () => {
      const behaviors = await call('GET', '/_sandbox/behaviors');
      await call('POST', '/_sandbox/reset');
      await call('POST', '/_sandbox/behaviors', behaviors);
    },
    close: () => sandbox.close(),
  };
}
