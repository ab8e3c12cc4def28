/**
 * Every interpretation of the specification, from the export to each connector's output. The output
 * is the same as with the default behaviors, except for the word of the status itself.
 */
import { beforeAll, expect, test } from 'vitest';
import { BEHAVIORS, type BehaviorName } from '../../src/sandbox/behaviors.ts';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { freePort } from '../support/free-port.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { claim, masked, NPI, SPECIALTIES, visit, WAYS } from '../support/ways.ts';

type World = Partial<Record<BehaviorName, string | number>>;

/** Each behavior is in one of these worlds; the behaviors of one world do not conflict. */
const WORLDS: World[] = [
  { status_case: 'lower' },
  {
    ...{ bulk_response: 'inquiry_ids', list_paging: 'limit_offset', list_page_size: 5 },
    ...{ dates: 'iso', timestamps: 'offset', amounts: 'number', tooth_numbers: 'strings' },
    ...{ call_details: 'array', transcript_name: 'call_transcript', echo: 'nulls' },
  },
  {
    ...{ bulk_response: 'wrapped_creations', list_paging: 'page', list_page_size: 5 },
    ...{ dates: 'mdy_slash', timestamps: 'naive_micros', amounts: 'currency' },
    ...{ call_details: 'object', transcript_name: 'transcript', echo: 'defaults' },
    ...{ tooth_numbers: 'integers', read_shape: 'array' },
  },
  {
    ...{ bulk_response: 'read_forms', list_paging: 'link', list_page_size: 5 },
    ...{ echo: 'trimmed_upper', list_order: 'reverse', unknown_id: '422' },
    ...{ date_skew_seconds: 120, subscription_body: 'empty' },
  },
  {
    ...{ bulk_response: 'mixed', list_paging: 'items_total', list_page_size: 5 },
    ...{ list_order: 'random', unknown_id: 'null', auth_error: '403', bulk_partial: 'some' },
  },
  {
    ...{ bulk_request_shape: 'both', list_paging: 'limit', list_filter: 'ignored' },
    ...{ list_delay_seconds: 1, unknown_id: 'empty_array', subscription_body: '204' },
  },
  {
    ...{ bulk_response: 'shuffled_ids', bulk_request_shape: 'object', bulk_partial: 'some_422' },
    ...{ success_null_first_seconds: 300, verification_inquiry_id: 'optional' },
  },
  { bulk_absent: '404', token_expires_in: 'seconds', list_truncate: 100 },
  { bulk_absent: '405', token_lifetime_seconds: 3600 },
  { bulk_absent: '501', verification_after_minutes: 0, medical_requires: 'strict' },
  { bulk_max: 2 },
  {
    ...{ bulk_max: 2, bulk_max_status: '422', rate_limit_per_minute: 500 },
    ...{ rate_limit_status: '503', retry_after: 'date' },
  },
  { rate_limit_per_minute: 500, retry_after: 'none', list_filter: 'refused' },
  { bulk_response: 'success_only' },
];

/** The same with webhook events, of which at least one for each inquiry arrives, or none. */
const WEBHOOK_WORLDS: World[] = [
  {
    ...{ webhook_repeat: 2, webhook_order: 'reversed', webhook_strangers: 2 },
    ...{ webhook_header: 'X-Signature', webhook_retry: 'hours', subscription_none: 'empty' },
  },
  { webhook_max_bytes: 1, subscription_none: 'null', subscription_minutes_min: 60 },
  { webhook_lost_percent: 100 },
  { webhook_secret: 'wrong' },
];

/** Behaviors that no answer depends on, and why. */
const ELSEWHERE: Partial<Record<BehaviorName, string>> = {
  payer_hours: 'when an answer comes: sandbox/behaviors.test.ts',
  payer_turnaround_hours: 'when an answer comes: sandbox/behaviors.test.ts',
};

/** A second call corrects the answer. Reopening it in between changes nothing. */
const SECOND_CALL: World[] = [{ revise_after_hours: 2 }, { reopen_after_hours: 2 }];
/** The service refuses the first call, and the second one is answered by another representative. */
const OTHER_CALLS: World = { account_requires: 'npi_and_insurance' };
/** Worlds in which another text is correct; the last tests compare the rest. */
const OTHER_TEXT: World[] = [{ call_details: 'absent' }, ...SECOND_CALL, OTHER_CALLS];

test('the worlds have every behavior of the sandbox', () => {
  for (const [name, spec] of Object.entries(BEHAVIORS)) {
    if (name in ELSEWHERE) continue;
    const worlds = [...WORLDS, ...WEBHOOK_WORLDS, ...OTHER_TEXT];
    const lived = worlds.flatMap((world) => world[name as BehaviorName] ?? []);
    const all = spec.kind === 'choice' ? spec.values.filter((each) => each !== spec.default) : null;
    if (all === null) expect(lived, name).not.toEqual([]);
    else
      expect(new Set(lived), name).toEqual(new Set(all.filter((each) => each !== 'by_specialty')));
  }
});

/** A world takes a minute on a busy computer. */
const TIMEOUT_MS = 240_000;

/** One call for each visit and each claim of each connector. */
const CALLS = 2 * SPECIALTIES.length * Object.keys(WAYS).length;

/** The daemon runs until `work` is done. */
async function whileRunning(clinic: Clinic, work: () => Promise<void>): Promise<void> {
  const daemon = await clinic.daemon({}, { idle_ms: 50 });
  const ending = new AbortController();
  const run = daemon.run(ending.signal);
  try {
    await work();
  } finally {
    ending.abort();
    await run;
    await daemon.close();
  }
}

/** All output of one world, by connector, with the output of `show` and the list. */
async function lived(behaviors: World, has_webhook = false): Promise<Record<string, string[]>> {
  const machine = setMachineClock();
  const service = await startService();
  await service.behave(behaviors as Parameters<typeof service.behave>[0]);
  const ways = await Promise.all(
    Object.entries(WAYS).map(async ([name, make]) => ({ name, ...(await make()) })),
  );
  const providers = {
    [NPI.medical]: { specialty: 'medical', place_of_service: '11' },
    [NPI.mental_health]: { specialty: 'mental_health' },
  };
  const listen = `127.0.0.1:${await freePort()}`;
  const header = behaviors.webhook_header;
  const clinic = makeClinic({
    base_url: service.url,
    config: {
      connectors: ways.map(({ connector }) => connector),
      providers,
      // One request at a time, because the sandbox chooses representatives in the order of the
      // calls.
      service: { external_id: '{connector}:{appointment}', submission: { concurrency: 1 } },
      ...(has_webhook && {
        schedule: { pull_seconds: 0.2 },
        webhook: {
          ...{ listen, public_url: `http://${listen}/webhooks/inquiries` },
          ...(header !== undefined && { signature_header: header }),
        },
      }),
    },
    secrets: {
      ...{ ELIGD_SERVICE_USERNAME: 'clinic', ELIGD_SERVICE_PASSWORD: 'sandbox' },
      ...(has_webhook && { ELIGD_WEBHOOK_SECRET: 'sandbox' }),
    },
  });
  for (const { offer } of ways) await offer(clinic, SPECIALTIES.map(visit), SPECIALTIES.map(claim));
  const sent = async () => (await service.ledger()).length;
  const isWritten = async () => {
    const counts = await Promise.all(
      ways.map(async ({ written }) => {
        const { visits, claims } = await written(clinic);
        return visits.length + claims.length;
      }),
    );
    return counts.reduce((sum, count) => sum + count) >= CALLS;
  };
  if (has_webhook) {
    await whileRunning(clinic, async () => {
      await expect.poll(sent, { timeout: 60_000 }).toBe(CALLS);
      if (behaviors.webhook_lost_percent !== 100 && behaviors.webhook_secret === undefined) {
        // The last call has ended by now, so each event has an answer.
        await service.advance({ days: 4 });
        await expect.poll(isWritten, { timeout: 60_000 }).toBe(true);
      }
    });
  } else {
    for (let round = 0; round < 3 || (round < 40 && (await sent()) < CALLS); round += 1) {
      await clinic.once();
      machine.pass({ minutes: 16 });
    }
  }
  if ((await service.ledger()).some(({ status }) => status !== 'SUCCESS'))
    await service.advance({ days: 3 });
  await clinic.once();
  machine.pass({ days: 1 });
  await clinic.once();
  const out: Record<string, string[]> = {};
  for (const { name, written } of ways) {
    const { visits, claims } = await written(clinic);
    expect([name, visits.length, claims.length]).toEqual([name, 3, 3]);
    out[name] = masked([...visits, ...claims]);
  }
  // The connector that is read first gets the first numbers, and the order is random.
  const numbered = (text: string) =>
    text.replaceAll(/(appointment|claim|inquiry):\d+ */g, '$1:N ').replaceAll(/^inquiry +/gm, '');
  const listed = async <One>(...args: string[]) => {
    const { stdout } = await clinic.run('list', '--json', ...args);
    const { appointments, entries } = JSON.parse(stdout) as Record<string, One[] | undefined>;
    return appointments ?? entries ?? [];
  };
  const appointments = await listed<{ subject: string }>();
  const attention = await listed<object>('--attention');
  out.list = masked([...appointments, ...attention].map((one) => numbered(JSON.stringify(one))));
  out.show = [];
  for (const { subject } of appointments) {
    const { code, stdout } = await clinic.run('show', subject, '--patients');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/D1110|99213|90834/)]);
    // A stop while eligd writes a record counts as a failure, and eligd writes the record again.
    out.show.push(...masked([numbered(stdout).replaceAll(/( delivered +)\d+ /g, '$1N ')]));
  }
  out.show.sort();
  expect(out.show).toHaveLength(2 * SPECIALTIES.length * ways.length);
  return out;
}

let usual: Awaited<ReturnType<typeof lived>> = {};

beforeAll(async () => {
  usual = await lived({});
}, TIMEOUT_MS);

/** The words of a status, in lower case. */
const word = (texts: string[] = []) =>
  texts.map((text) => text.replaceAll(/\b(success|unsuccessful)\b/g, (one) => one.toUpperCase()));

async function expectTheUsual(found: Promise<Record<string, string[]>>) {
  const texts = await found;
  for (const name of Object.keys(usual)) expect(word(texts[name]), name).toEqual(word(usual[name]));
}

test.each(WORLDS.map((world) => [JSON.stringify(world), world] as const))(
  '%s changes no output',
  async (_, world) => {
    await expectTheUsual(lived(world));
  },
  TIMEOUT_MS,
);

test.each(WEBHOOK_WORLDS.map((world) => [JSON.stringify(world), world] as const))(
  'with webhook events, %s changes no output',
  async (_, world) => {
    await expectTheUsual(lived(world, true));
  },
  TIMEOUT_MS,
);

/** Without amounts and numbers of segments and lines, which change when others are left out. */
const words = (texts: string[] = []) =>
  new Set(
    texts.flatMap((text) => text.split(/:?[^\w.:/-]+/)).filter((one) => !/^:?[\d.]*$/.test(one)),
  );

/** What `show` says about the calls themselves. */
const CALL_LINES =
  /^ +(?:reference number|representative|recordings|transcripts|call ended): +(.+)$/;
/** The names of call fields in the record and in HL7. */
const CALL_WORDS = new RegExp(
  '^(?:call|callref|rep|called|end|(?:call_)?ended(?:_at)?|recordings?(?:_url)?|' +
    '(?:has_)?transcripts?(?:_url)?|reference(?:_number)?|representative)$',
  'i',
);

test(
  'without call details, each output leaves out the call and nothing else',
  async () => {
    const found = await lived({ call_details: 'absent' });
    const lines = (usual.show ?? []).flatMap((text) => text.split('\n'));
    const calls = words(lines.flatMap((line) => CALL_LINES.exec(line)?.[1] ?? []));
    expect(calls.size).toBeGreaterThan(SPECIALTIES.length);
    for (const name of Object.keys(usual)) {
      const [before, after] = [words(usual[name]), words(found[name])];
      const left_out = [...before].filter((one) => !after.has(one) && !calls.has(one));
      expect(
        left_out.filter((one) => !CALL_WORDS.test(one)),
        name,
      ).toEqual([]);
      expect(
        [...after].filter((one) => !before.has(one)),
        name,
      ).toEqual([]);
    }
  },
  TIMEOUT_MS,
);

/** The representative, the reference number, and the addresses of the call. */
function callWords(texts: Record<string, string[]>): Set<string> {
  const lines = (texts.show ?? []).flatMap((text) => text.split('\n'));
  return words(lines.flatMap((line) => CALL_LINES.exec(line)?.[1] ?? []));
}

/** The words of each output that only one of two worlds has, except those of the calls. */
function newWords(before: Record<string, string[]>, after: Record<string, string[]>) {
  const calls = new Set([...callWords(before), ...callWords(after)]);
  const onlyIn = (one: Set<string>, other: Set<string>) =>
    [...one].filter((each) => !other.has(each) && !calls.has(each) && !/^call-\w+$/.test(each));
  return Object.keys(before).map((name) => {
    const [old, now] = [words(before[name]), words(after[name])];
    return { name, left_out: onlyIn(old, now), added: onlyIn(now, old).sort() };
  });
}

test(
  'calls repeated for a strict account differ only in the representative',
  async () => {
    for (const { name, left_out, added } of newWords(usual, await lived(OTHER_CALLS)))
      expect([name, left_out, added]).toEqual([name, [], []]);
  },
  TIMEOUT_MS,
);

test(
  'a second call corrects the amounts in each output and says so',
  async () => {
    const [revised = {}, reopened = {}] = [
      await lived(SECOND_CALL[0] ?? {}),
      await lived(SECOND_CALL[1] ?? {}),
    ];
    expect(reopened).toEqual(revised);
    for (const { name, left_out, added } of newWords(usual, revised)) {
      expect([name, left_out]).toEqual([name, []]);
      const said = added.filter((each) => !['second', 'call.', 'after', 'a'].includes(each));
      expect([name, said]).toEqual([name, name === 'list' ? [] : ['Corrected']]);
    }
  },
  TIMEOUT_MS,
);
