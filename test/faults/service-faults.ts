/** Faults of the calling service, of the connection to it, and of the account. */

import { addDays, localDate } from '../../src/domain/time.ts';
import { type Fault, failing, repair } from './fault.ts';
import {
  csv,
  HOUR_MS,
  type SimulatedClinic,
  type Visit,
  visitOn,
  webhookAt,
  ZONE,
} from './simulated-clinic.ts';

const API = '/api/';

export const SERVICE_FAULTS: readonly Fault[] = [
  {
    name: 'the calling service rejects our login',
    alert: 'credentials_rejected',
    no: ['calls', 'answers'],
    begin: async (clinic) => {
      await clinic.sandbox('POST', 'revoke_tokens');
      await failing(API, 401)(clinic);
    },
    end: repair,
  },
  {
    name: 'the account is closed (403)',
    alert: 'calls_stopped',
    no: ['calls'],
    begin: failing('/inquiries', 403),
    end: repair,
  },
  {
    name: 'the account is not paid (402)',
    alert: 'calls_stopped',
    no: ['calls'],
    begin: failing('/inquiries', 402),
    end: repair,
  },
  {
    name: 'the calling service is away',
    alert: 'service_away',
    no: ['calls', 'answers'],
    begin: (clinic) => clinic.wire.cut(),
    end: (clinic) => clinic.wire.repair(),
  },
  {
    name: 'the calling service answers 503 to everything',
    alert: 'service_away',
    no: ['calls', 'answers'],
    begin: failing(API, 503),
    end: repair,
  },
  {
    name: 'the calling service answers 500 to everything',
    alert: 'service_away',
    no: ['calls', 'answers'],
    begin: failing(API, 500),
    end: repair,
  },
  {
    name: 'the calling service answers 429 forever',
    alert: 'service_away',
    no: ['calls', 'answers'],
    begin: failing(API, 429),
    end: repair,
  },
  {
    name: 'a login page of the network answers instead of the service',
    alert: 'service_away',
    no: ['calls', 'answers'],
    begin: failing(API, 200, { action: 'html' }),
    end: repair,
  },
  {
    name: 'the proxy is away',
    alert: 'service_away',
    no: ['calls', 'answers'],
    settings: (clinic) => ({ service: { proxy: `http://127.0.0.1:${clinic.proxy.port}` } }),
    prepare: (clinic) => clinic.proxy.open(),
    begin: (clinic) => clinic.proxy.close(),
    end: (clinic) => clinic.proxy.open(),
  },
  {
    name: 'a duplicate call is found',
    alert: 'duplicate_call',
    // eligd compares the list each morning at 5:00.
    lasts_hours: 50,
    begin: loseReply,
    end: handleDuplicates,
  },
  {
    name: 'another program uses the account',
    alert: 'account_shared',
    no: ['calls'],
    lasts_hours: 30,
    begin: (clinic) => callFromElsewhere(clinic),
    end: async (clinic) => {
      await clinic.command('release', 'submission');
    },
  },
  {
    name: 'payers do not answer before the visit',
    alert: 'answers_overdue',
    // A call on Tuesday for Friday, 9:00; from Thursday, 9:00 on, its answer is late.
    lasts_hours: 71,
    compared_after_hours: 70,
    // Otherwise eligd does not make a call whose answer may be late.
    settings: () => ({ policy: { late_visits: 'buy' } }),
    begin: (clinic) => {
      const slow = extra(clinic, { member_id: 'NEVER1' }, 3);
      clinic.exports = (_day, visits) => csv([...visits, ...slow]);
      clinic.drop('slow.csv', csv(slow));
    },
    end: () => {},
  },
  {
    name: 'one payer cannot be reached',
    alert: 'payer_unreachable',
    settings: () => ({ policy: { attempts: 1 } }),
    lasts_hours: 48,
    watched_hours: 36,
    begin: async (clinic) => {
      const calls = Array.from({ length: 4 }, (_, index) => ({ member_id: `UNSUCC${index}` }));
      clinic.drop('away.csv', csv(calls.flatMap((each) => extra(clinic, { ...AWAY, ...each }, 6))));
      await clinic.live(clinic.clock.trueNow() + HOUR_MS);
      await clinic.sandbox('POST', 'advance', { days: 5 });
    },
    end: async (clinic) => {
      clinic.drop('back.csv', csv(extra(clinic, { ...AWAY, member_id: 'ACTIVE1' }, 6)));
      await clinic.live(clinic.clock.trueNow() + 22 * HOUR_MS);
      await clinic.sandbox('POST', 'advance', { days: 8 });
    },
  },
  {
    name: 'the budget of the month is near its end',
    alert: 'budget_low',
    settings: () => ({ policy: { calls_per_month: 92 } }),
    // The budget varies around the limit, so the alert ends after a day.
    watched_hours: 30,
    begin: () => {},
    end: async (clinic) => {
      clinic.configure({});
      await clinic.restart();
    },
  },
  {
    name: 'the subscription of webhook events is moved',
    alert: 'subscription_elsewhere',
    settings: (clinic) => webhookAt(clinic),
    // eligd checks once a day.
    lasts_hours: 40,
    watched_hours: 30,
    begin: (clinic) => subscribe(clinic, 'http://127.0.0.1:9/elsewhere'),
    end: (clinic) => subscribe(clinic, `http://127.0.0.1:${clinic.spare_port}/hook`),
  },
  {
    name: 'webhook events stop coming',
    alert: 'webhook_silent',
    settings: (clinic) => webhookAt(clinic),
    lasts_hours: 50,
    watched_hours: 48,
    begin: async (clinic) => {
      await clinic.sandbox('POST', 'behaviors', { webhook_lost_percent: 100 });
    },
    end: async (clinic) => {
      await clinic.sandbox('POST', 'behaviors', { webhook_lost_percent: 0 });
    },
  },
];

/**
 * The reply to the morning's calls is lost, and the service lists them only after eligd has proven
 * them absent by the rules of the specification.
 */
async function loseReply(clinic: SimulatedClinic): Promise<void> {
  await clinic.sandbox('POST', 'behaviors', { list_delay_seconds: 7_200 });
  const fault = { method: 'POST', path: '/(batch_)?inquiries', action: 'reset', when: 'after' };
  await clinic.sandbox('POST', 'faults', fault);
}

async function callFromElsewhere(clinic: SimulatedClinic): Promise<void> {
  const { inquiries } = (await clinic.sandbox('GET', 'ledger')) as { inquiries: LedgerEntry[] };
  const last = inquiries.at(-1);
  if (last === undefined) return;
  const external_id = last.external_id?.replace(/\d{4}$/, '9999');
  await call(clinic, { ...last.request, member_id: 'ACTIVE77', dob: '01-02-1970', external_id });
}

type LedgerEntry = { external_id: string | null; request: Record<string, unknown> };

const call = (clinic: SimulatedClinic, body: Record<string, unknown>) =>
  post(clinic, 'dental/inquiries', body);

async function post(
  clinic: SimulatedClinic,
  path: string,
  body: Record<string, unknown>,
): Promise<void> {
  const authorization = `Basic ${Buffer.from('sandbox:sandbox').toString('base64')}`;
  const response = await fetch(`http://127.0.0.1:${clinic.sandboxPort()}/api/v0/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`The service refused: ${await response.text()}`);
}

/** The action of a person who has read the list. */
async function handleDuplicates(clinic: SimulatedClinic): Promise<void> {
  const { stdout } = await clinic.command('list', '--attention', '--json');
  const { entries } = JSON.parse(stdout) as { entries: { reason: string; inquiry: number }[] };
  for (const { inquiry } of entries.filter(({ reason }) => reason === 'duplicate_call'))
    await clinic.command('done', `inquiry:${inquiry}`);
}

/** No other visit of this clinic is with this payer. */
const AWAY = { carrier: 'Guardian Life', payor_id: '64246' };

let extras = 0;

/** A visit, this many days ahead, that no export has named yet. */
function extra(clinic: SimulatedClinic, change: Partial<Visit>, days_ahead: number): Visit[] {
  extras += 1;
  const day = addDays(localDate(clinic.clock.now(), ZONE), days_ahead);
  return [visitOn(day, 50 + extras, change)];
}

async function subscribe(clinic: SimulatedClinic, url: string): Promise<void> {
  const body = { callback_url: url, update_frequency_min: 5 };
  await post(clinic, 'subscription/', body);
}
