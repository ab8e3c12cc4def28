/** A list shows a call that this installation did not make. */
import { expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { newSubmitMemory } from '../../../src/stages/submit/deps.ts';
import { resolveAttention } from '../../../src/store/bookkeeping/attention.ts';
import { inquirySubject } from '../../../src/store/bookkeeping/audit.ts';
import { releaseSubmission, withdraw } from '../../../src/store/bookkeeping/operator.ts';
import { type Installation, install, reconcile, send } from '../installation.ts';
import { CUT_OFF, cutLists } from './cut-lists.ts';
import {
  about,
  acceptAndHide,
  acceptUnlisted,
  advance,
  anOldCall,
  callsEnd,
  callTwice,
  firstBody,
  haltsOf,
  hideCalls,
  labelsOf,
  lookUp,
  loseCreates,
  TWINS,
  twin,
  withhold,
  withholdTimes,
} from './lost-calls.ts';

/** Another installation calls for the visit with this label and member ID. */
const callBeside = ({ service }: Installation, label: string) => {
  const about = { patient_name: 'Ada Example', member_id: label, external_id: label };
  return service.createBeside({ ...TWINS, ...about });
};

/** The list shows one call of two, and all of a label. */
async function cutOff(clinic: Installation): Promise<void> {
  await clinic.service.behave({ list_paging: 'none', list_truncate: 1 });
  for (const label of ['B-1', 'B-2']) await send(clinic, clinic.visit(label, about(label)));
  await clinic.collectAll();
  await reconcile(clinic);
}

const passMinutes = (clinic: Installation, minutes: number) => advance(clinic, minutes * MINUTE_MS);

const statesOf = async (clinic: Installation) =>
  (await clinic.inquiries()).map(({ state }) => state);

test.each(['in the same boot', 'in an unknown one'])(
  'one that is newer than the last comparison stops submission (%s)',
  async (boot) => {
    const clinic = await install();
    if (boot === 'in the same boot')
      clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
    await cutOff(clinic);
    await passMinutes(clinic, 60);
    await anOldCall(clinic, 'C-1');
    // D-1 has no call, and waits in the same step.
    await clinic.read(clinic.visit('C-1', twin('Ada')), clinic.visit('D-1', about('D-1')));
    await clinic.planNow();
    await clinic.submitNow();
    expect(await haltsOf(clinic)).toEqual(['foreign']);
    expect(await clinic.attention()).toEqual(['submission_stopped']);
    expect(await labelsOf(clinic)).toEqual(['B-1', 'B-2', 'C-1']);
  },
);

test('one that asks the same as a call of ours stops submission', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('A-1'));
  await reconcile(clinic);
  await passMinutes(clinic, 60);
  await clinic.service.createBeside(await firstBody(clinic));
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual(['foreign']);
});

test('on a shared account, the log says that submission resumes once', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('B-1', about('B-1')));
  await reconcile(clinic);
  await passMinutes(clinic, 60);
  await callBeside(clinic, 'C-1');
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual(['foreign']);
  clinic.submit.settings.is_shared_account = true;
  await clinic.submitNow();
  await clinic.submitNow();
  expect(await haltsOf(clinic)).toEqual([]);
  expect(clinic.events.filter((event) => event === 'submission_resumed')).toHaveLength(1);
});

test('one that a lookup came across stops submission, too', async () => {
  const clinic = await install();
  await clinic.service.behave({ list_filter: 'ignored' });
  await send(clinic, clinic.visit('B-1', about('B-1')));
  await reconcile(clinic);
  await passMinutes(clinic, 60);
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await anOldCall(clinic, 'Z-1');
  await passMinutes(clinic, 6);
  await clinic.submitNow();
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual(['foreign']);
});

test('one with another question under the label of a lost call stops submission', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('B-1', about('B-1')));
  await reconcile(clinic);
  await passMinutes(clinic, 60);
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await clinic.service.createBeside({
    ...TWINS,
    patient_name: 'Ada Example',
    member_id: 'Q9',
    external_id: 'A-1',
  });
  await passMinutes(clinic, 6);
  await clinic.submitNow();
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual(['foreign']);
});

/** The machine's clock is ahead from now on; eligd knows it. */
function setAhead(clinic: Installation, ahead_ms: number): void {
  clinic.pass(ahead_ms - (clinic.submit.clockSkew() ?? 0));
  clinic.submit.clockSkew = () => ahead_ms;
}

test.each([
  ['by the same process', { restarts: false, ahead_ms: 0, ahead_at_release_ms: 0 }],
  ['by new processes', { restarts: true, ahead_ms: 0, ahead_at_release_ms: 0 }],
  ['with a wrong clock', { restarts: false, ahead_ms: HOUR_MS, ahead_at_release_ms: HOUR_MS }],
  ['with a corrected clock', { restarts: false, ahead_ms: 0, ahead_at_release_ms: DAY_MS }],
])(
  'after a release, older ones serve, and a newer one stops submission again (%s)',
  async (_, { restarts, ahead_ms, ahead_at_release_ms }) => {
    const clinic = await install();
    setAhead(clinic, ahead_ms);
    const began_at = clinic.now();
    clinic.env.boot = () => ({
      id: 'boot',
      awake_ms: clinic.now() - began_at - (clinic.submit.clockSkew() ?? 0),
    });
    await cutOff(clinic);
    await passMinutes(clinic, 20);
    const sendFor = async (label: string) => {
      if (restarts) clinic.submit.memory = newSubmitMemory();
      await send(clinic, clinic.visit(label, { ...twin('Ada'), ...about(label) }));
      return await haltsOf(clinic);
    };
    await callBeside(clinic, 'C-1');
    expect(await sendFor('C-1')).toEqual(['foreign']);
    await passMinutes(clinic, 12);
    await callBeside(clinic, 'C-2');
    await passMinutes(clinic, 1);
    setAhead(clinic, ahead_at_release_ms);
    await clinic.store.write((tx) => releaseSubmission(tx, clinic.now()));
    setAhead(clinic, ahead_ms);
    expect(await sendFor('C-2')).toEqual([]);
    await passMinutes(clinic, 12);
    await callBeside(clinic, 'C-3');
    expect(await sendFor('C-3')).toEqual(['foreign']);
  },
);

test.each([3, 60])('one that the list hid, %s minutes old, serves', async (minutes) => {
  const clinic = await install();
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
  await send(clinic, clinic.visit('B-1', about('B-1')), clinic.visit('B-2', about('B-2')));
  await clinic.collectAll();
  cutLists(clinic, [(await clinic.service.ledger()).at(0)?.id], CUT_OFF);
  await anOldCall(clinic, 'C-1');
  await passMinutes(clinic, minutes);
  await reconcile(clinic);
  await passMinutes(clinic, 60);
  await send(clinic, clinic.visit('C-1', twin('Ada')));
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'B-2', 'C-1']);
});

test.each<[string, (clinic: Installation) => void]>([
  ['without its time', withholdTimes],
  [
    'on a shared account',
    ({ submit }) => {
      submit.settings.is_shared_account = true;
    },
  ],
  [
    'while nobody knows the service’s time',
    ({ submit }) => {
      submit.clockSkew = () => null;
    },
  ],
])('one %s serves', async (_, change) => {
  const clinic = await install();
  change(clinic);
  await cutOff(clinic);
  await passMinutes(clinic, 60);
  await anOldCall(clinic, 'C-1');
  await send(clinic, clinic.visit('C-1', twin('Ada')));
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'B-2', 'C-1']);
  expect(await statesOf(clinic)).toEqual(['open', 'open', 'open']);
});

test('a call of ours whose echo lacks the label stops nothing', async () => {
  const clinic = await install();
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
  await cutOff(clinic);
  await passMinutes(clinic, 60);
  const hidden = hideCalls(clinic);
  await hidden.show(0);
  await hidden.show(1);
  await loseCreates(clinic, 1);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await lookUp(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'B-2', 'A-1', 'A-1']);
  await hidden.show(2);
  await hidden.show(3);
  withhold(clinic, 'external_id');
  await send(clinic, clinic.visit('A-2', { ...twin('Ada'), ...about('W2') }));
  expect(await haltsOf(clinic)).toEqual([]);
});

test('the office hears of a call that nobody needs, also from a list without times', async () => {
  const clinic = await install();
  await cutOff(clinic);
  const hidden = hideCalls(clinic);
  await hidden.show(0);
  await hidden.show(1);
  await loseCreates(clinic, 1);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  await passMinutes(clinic, 6);
  await clinic.submitNow();
  await clinic.read(clinic.visit('A-1', { ...twin('Ada'), status: 'cancelled' }));
  await passMinutes(clinic, 6);
  await clinic.submitNow();
  await clinic.planNow();
  await hidden.show(2);
  withholdTimes(clinic);
  await send(clinic, clinic.visit('A-2', { ...twin('Ada'), ...about('W2') }));
  expect(await clinic.attention()).toContain('duplicate_call');
  // The office is told once, whatever the list shows of the patient later.
  await clinic.store.write((tx) => resolveAttention(tx, inquirySubject(3), clinic.now()));
  expect(await clinic.attention()).not.toContain('duplicate_call');
  await anOldCall(clinic, 'Z-1');
  await hidden.show(4);
  await clinic.service.behave({ list_truncate: 0 });
  await reconcile(clinic);
  expect(await clinic.attention()).not.toContain('duplicate_call');
});

test('while submission is stopped, eligd finds all calls that it could not find', async () => {
  const clinic = await install();
  await send(clinic, clinic.visit('B-1', about('B-1')));
  await clinic.collectAll();
  const { list } = clinic.client;
  const labels = ['D-1', 'D-2', 'D-3'];
  const calls = labels.map((label) => clinic.visit(label, about(label), 4));
  await acceptAndHide(clinic, () => send(clinic, ...calls));
  for (let count = 0; count < 4; count += 1) await lookUp(clinic);
  expect(await statesOf(clinic)).toEqual(['open', ...labels.map(() => 'undecidable')]);
  clinic.client.list = list;
  await anOldCall(clinic, 'Z-1');
  await passMinutes(clinic, 60);
  cutLists(clinic, [(await clinic.service.ledger()).at(-1)?.id], CUT_OFF);
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual(['foreign']);
  expect(await statesOf(clinic)).toEqual(['open', 'open', 'open', 'open']);
});

/** The request of A-1 waits half an hour for its turn, its reply is lost, and no list shows it. */
async function waitAndLose(): Promise<{
  clinic: Installation;
  show: (index: number) => Promise<void>;
}> {
  let paused_until = 0;
  const clinic: Installation = await install({
    gate: {
      enter: async () => {
        const wait_ms = paused_until - clinic.now();
        if (wait_ms > 0) await passMinutes(clinic, Math.ceil(wait_ms / MINUTE_MS));
        return { leave: async () => {} };
      },
      pause: async (until) => {
        paused_until = until;
      },
    },
  });
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
  await send(clinic, clinic.visit('B-1', about('B-1')));
  await clinic.collectAll();
  const { show } = hideCalls(clinic);
  await show(0);
  await loseCreates(clinic, 1);
  const { create } = clinic.client;
  clinic.client.create = async (...given) => {
    clinic.client.create = create;
    // The service has told another request to wait.
    paused_until = clinic.now() + 30 * MINUTE_MS;
    return await create(...given);
  };
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  return { clinic, show };
}

test('a call of ours that waited long for its turn stops nothing after the next one', async () => {
  const { clinic, show } = await waitAndLose();
  await lookUp(clinic);
  await show(1);
  await show(2);
  await send(clinic, clinic.visit('A-2', twin('Ben')));
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', 'A-1', 'A-2']);
});

test('a call of ours that waited long for its turn stops nothing in the whole list', async () => {
  const { clinic, show } = await waitAndLose();
  await lookUp(clinic);
  await show(2);
  await show(1);
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1', 'A-1']);
});

test('a call of ours that waited long for its turn serves before the next one', async () => {
  const { clinic, show } = await waitAndLose();
  clinic.submit.settings.is_observing = true;
  await lookUp(clinic);
  clinic.submit.settings.is_observing = false;
  await show(1);
  await clinic.submitNow();
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1']);
  expect(await statesOf(clinic)).toEqual(['open', 'open']);
});

test('a call of ours that is listed without the number of the claim stops nothing', async () => {
  const clinic = await install();
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
  await clinic.submitNow();
  await send(clinic, clinic.visit('A-0', twin('Ada')));
  await clinic.collectAll();
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  const ask = async (claim_number: string) => {
    await clinic.readClaims({ ...claim(1), date_of_service, claim_number });
    await clinic.planNow();
    await clinic.submitNow();
  };
  await ask('');
  const first = (await clinic.service.ledger())[1]?.id;
  callsEnd(clinic, ({ id }) => (id === first ? 'UNSUCCESSFUL' : 'IN_PROGRESS'));
  await clinic.collectAll();
  const hidden = hideCalls(clinic);
  await hidden.show(0);
  await hidden.show(1);
  await reconcile(clinic);
  await passMinutes(clinic, 90);
  withhold(clinic, 'claim_number');
  await loseCreates(clinic, 1);
  await ask('CN-1');
  clinic.submit.settings.is_observing = true;
  await lookUp(clinic);
  clinic.submit.settings.is_observing = false;
  await hidden.show(2);
  await clinic.planNow();
  await clinic.submitNow();
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await labelsOf(clinic)).toEqual(['A-0', 'C-1', 'C-1']);
});

test('a release while the clock was ahead hides no one’s calls of later days', async () => {
  const clinic = await install();
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
  await send(clinic, clinic.visit('B-1', about('B-1')));
  await passMinutes(clinic, 60);
  await callBeside(clinic, 'X-1');
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual(['foreign']);
  await clinic.store.write((tx) => releaseSubmission(tx, clinic.now() + DAY_MS));
  await passMinutes(clinic, 60);
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual([]);
  await passMinutes(clinic, 12 * 60);
  await callBeside(clinic, 'X-2');
  await passMinutes(clinic, 12 * 60);
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual(['foreign']);
});

test('a call that lookups did not find excuses none without label and time', async () => {
  const clinic = await install();
  const { show } = await callTwice(clinic);
  await show(1);
  await reconcile(clinic);
  await clinic.collectAll();
  await advance(clinic, 3 * DAY_MS);
  withhold(clinic, 'external_id');
  withholdTimes(clinic);
  await reconcile(clinic);
  await clinic.service.createBeside(await firstBody(clinic));
  await show(2);
  await advance(clinic, HOUR_MS);
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual(['foreign']);
});

test('a lost call that was withdrawn excuses none without label and time', async () => {
  const clinic = await install();
  clinic.env.boot = () => ({ id: 'boot', awake_ms: clinic.now() });
  await send(clinic, clinic.visit('B-1', about('W9')));
  await acceptUnlisted(clinic, () => send(clinic, clinic.visit('A-1')));
  const lost = { kind: 'inquiry', id: 2 } as const;
  await clinic.store.write((tx) => withdraw(tx, lost, clinic.now()));
  expect(await statesOf(clinic)).toEqual(['open', 'withdrawn']);
  await advance(clinic, 3 * DAY_MS);
  withhold(clinic, 'external_id');
  withholdTimes(clinic);
  await reconcile(clinic);
  await clinic.service.createBeside(await firstBody(clinic, 'A-1'));
  await advance(clinic, HOUR_MS);
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual(['foreign']);
});
