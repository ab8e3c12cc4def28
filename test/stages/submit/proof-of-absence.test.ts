/**
 * What proves that the service does not have a call whose reply was lost (docs/design.md
 * "Absence is proven"). The service has the call here, and its lists leave it out, so eligd calls
 * again only if it takes a list as proof.
 */
import { expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { DAY_MS, HOUR_MS } from '../../../src/domain/time.ts';
import type { ListedInquiry } from '../../../src/service/api.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, reconcile, send } from '../installation.ts';
import {
  anOldCall,
  labelsOf,
  lookUp,
  loseAndHide,
  loseCreates,
  TWINS,
  twin,
  withhold,
  withholdTimes,
} from './lost-calls.ts';

/** How a list looks; by default, complete, and without the lost call. */
type Look = {
  is_complete?: boolean;
  is_end_proven?: boolean;
  filter?: 'ignored' | 'refused';
  /** Also leaves out the calls with these labels. */
  leaves_out?: readonly string[];
  /** Shows this many calls. */
  total_count?: number;
};

type Lists = { of_label: Look; of_other_label?: Look; whole: Look };

function showLists({ client }: Installation, lost: string, lists: Lists): void {
  const { list } = client;
  client.list = async (specialty, filter, options) => {
    const result = await list(specialty, filter, options);
    if (!result.ok) return result;
    const { whole, of_label, of_other_label = {} } = lists;
    const { leaves_out = [], ...look } =
      filter.external_id === undefined
        ? whole
        : filter.external_id === lost
          ? of_label
          : of_other_label;
    const isShown = ({ request }: ListedInquiry) =>
      ![lost, ...leaves_out].includes(String(request.external_id));
    const inquiries = result.value.inquiries.filter(isShown);
    return { ok: true, value: { ...result.value, inquiries, ...look } };
  };
}

type Other = 'none' | 'accepted without ID' | 'accepted' | 'read';

/** The reply to the next create says that the service accepted it, and gives no ID. */
function withholdId({ client }: Installation): void {
  const { create } = client;
  client.create = async (...given) => {
    client.create = create;
    await create(...given);
    const failure = { cause: 'truncated', status: 200, retry_after_ms: null } as const;
    return { ok: false, failure: { class: 'ambiguous', accepted: true, ...failure } };
  };
}

/** The reply to a call is lost, and no list shows it. `other`: what eligd knows of another one. */
async function lookForLost(lists: Lists, other: Other = 'read'): Promise<unknown[]> {
  const clinic = await install();
  await clinic.submitNow();
  if (other === 'accepted without ID') withholdId(clinic);
  if (other !== 'none') await send(clinic, clinic.visit('A-0', twin('Ada')));
  if (other === 'read') await clinic.collectAll();
  await loseCreates(clinic, 1);
  showLists(clinic, 'A-1', lists);
  const coverages = [aCoverage({ member_id: 'W2' })];
  await send(clinic, clinic.visit('A-1', { ...twin('Ben'), coverages }));
  await lookUp(clinic);
  return (await labelsOf(clinic)).filter((label) => label !== 'A-0');
}

const CUT_OFF = { is_complete: false };
const NO_A_0 = { leaves_out: ['A-0'] };
const NO_A_0_A_1 = { leaves_out: ['A-0', 'A-1'] };
const NO_LABELS = { filter: 'ignored' } as const;
const REFUSED: Look = { filter: 'refused' };

test.each<[string, Lists, Other?]>([
  ['the list of its label, if such a list shows another call', { of_label: {}, whole: CUT_OFF }],
  ['the whole list, if it shows the call that eligd has read', { of_label: NO_LABELS, whole: {} }],
  ['the whole list, if it shows an accepted call', { of_label: {}, whole: {} }, 'accepted'],
  [
    'the whole list, if it ends at a usual cap and its end is proven',
    { of_label: NO_LABELS, whole: { is_end_proven: true, total_count: 100 } },
  ],
  ['an empty list before any call', { of_label: {}, whole: {} }, 'none'],
])('it proves the absence: %s', async (_, lists, other) => {
  expect(await lookForLost(lists, other)).toEqual(['A-1', 'A-1']);
});

test.each<[string, Lists, Other?]>([
  ['neither list is complete', { of_label: CUT_OFF, whole: CUT_OFF }],
  ['the service ignores the label', { of_label: NO_LABELS, whole: CUT_OFF }],
  ['the service refuses the label', { of_label: REFUSED, whole: CUT_OFF }],
  [
    'the service refuses the other label',
    { of_label: {}, of_other_label: REFUSED, whole: CUT_OFF },
  ],
  [
    'the list of another label leaves out its call',
    { of_label: {}, of_other_label: NO_A_0, whole: CUT_OFF },
  ],
  [
    'the service ignores the other label',
    { of_label: {}, of_other_label: NO_LABELS, whole: CUT_OFF },
  ],
  ['the whole list leaves out a read call', { of_label: NO_LABELS, whole: NO_A_0 }],
  [
    'the whole list is empty, and the service has accepted a call',
    { of_label: {}, whole: NO_A_0 },
    'accepted',
  ],
  [
    'the whole list is empty, and the service has accepted a call without an ID',
    { of_label: {}, whole: NO_A_0, of_other_label: NO_A_0 },
    'accepted without ID',
  ],
  [
    'the whole list ends at a usual cap',
    { of_label: NO_LABELS, whole: { is_end_proven: false, total_count: 100 } },
  ],
])('nothing is proven if %s (G1)', async (_, lists, other) => {
  expect(await lookForLost(lists, other)).toEqual(['A-1']);
});

const endsAfter = (total_count: number): Lists => ({
  of_label: NO_LABELS,
  whole: { is_end_proven: false, total_count },
});

test.each([4, 17, 105])(
  'absence is proven by a list of %i: no service cuts it there',
  async (n) => {
    expect(await lookForLost(endsAfter(n))).toEqual(['A-1', 'A-1']);
  },
);

test.each([15, 16, 150])(
  'nothing is proven by a list of %i: it may be cut there (G1)',
  async (n) => {
    expect(await lookForLost(endsAfter(n))).toEqual(['A-1']);
  },
);

test('nothing is proven if the list of the label leaves out another call of it', async () => {
  const clinic = await install();
  await clinic.submitNow();
  await send(clinic, clinic.visit('A-0', twin('Ada')));
  await clinic.collectAll();
  await loseCreates(clinic, 1);
  const coverages = [aCoverage({ member_id: 'W2' }), aCoverage({ member_id: 'W3' })];
  await send(clinic, clinic.visit('A-1', { ...twin('Ben'), coverages }));
  // The list of this one's label shows it.
  const others = [aCoverage({ member_id: 'W4' })];
  await send(clinic, clinic.visit('A-2', { ...twin('Cleo'), coverages: others }));
  await clinic.collectAll();
  showLists(clinic, 'A-1', { of_label: {}, whole: CUT_OFF });
  await lookUp(clinic);
  expect((await labelsOf(clinic)).toSorted()).toEqual(['A-0', 'A-1', 'A-1', 'A-2']);
});

test('nothing is proven if the whole list shows only calls of others', async () => {
  const clinic = await install();
  await anOldCall(clinic, 'B-1');
  await clinic.submitNow();
  await loseCreates(clinic, 1);
  showLists(clinic, 'A-1', { of_label: {}, whole: {} });
  await send(clinic, clinic.visit('A-1', { coverages: [aCoverage({ member_id: 'W2' })] }));
  await lookUp(clinic);
  expect(await labelsOf(clinic)).toEqual(['B-1', 'A-1']);
});

/** eligd has read the answer to one call, so the list must show that one. */
async function afterAnotherCall(): Promise<Installation> {
  const clinic = await install();
  await clinic.submitNow();
  await send(clinic, clinic.visit('A-0', twin('Ada')));
  await clinic.collectAll();
  return clinic;
}

/** The lists show the requests changed like this; nothing has these labels anymore. */
function showRequests(
  { client }: Installation,
  change: (request: ListedInquiry['request']) => ListedInquiry['request'],
): void {
  const { list } = client;
  client.list = async (specialty, filter, options) => {
    const result = await list(specialty, {}, options);
    if (!result.ok) return result;
    const shown = result.value.inquiries.map((each) => ({
      ...each,
      request: change(each.request),
    }));
    const { external_id: label } = filter;
    const inquiries = shown.filter(
      ({ request }) => label === undefined || request.external_id === label,
    );
    return { ok: true, value: { ...result.value, inquiries } };
  };
}

test.each<[string, (request: ListedInquiry['request']) => ListedInquiry['request']]>([
  ['leaves out its label', ({ external_id: _, ...request }) => request],
  ['leaves out its label and the name', ({ external_id: _, patient_name: __, ...rest }) => rest],
])('nothing is proven if the list shows a call that %s (G1)', async (_, change) => {
  const clinic = await afterAnotherCall();
  showRequests(clinic, change);
  await loseCreates(clinic, 1);
  const coverages = [aCoverage({ member_id: 'W2' })];
  await send(clinic, clinic.visit('A-1', { ...twin('Ben'), coverages }));
  for (let hour = 0; hour < 12; hour += 1) await lookUp(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-0', 'A-1']);
  expect(await clinic.attention()).toEqual(['unconfirmed']);
});

test.each(['claim_number', 'claims_date_of_service'])(
  'nothing is proven if the list shows a call without %s (G1)',
  async (field) => {
    const clinic = await afterAnotherCall();
    withhold(clinic, field);
    await loseCreates(clinic, 1);
    const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
    await clinic.readClaims({ ...claim(1), date_of_service, claim_number: 'CN-1' });
    await clinic.planNow();
    await clinic.submitNow();
    for (let hour = 0; hour < 12; hour += 1) await lookUp(clinic);
    expect(await labelsOf(clinic)).toEqual(['A-0', 'C-1']);
    expect(await clinic.attention()).toEqual(['unconfirmed']);
  },
);

test('a call that is listed without the claim’s number delays ours (G1)', async () => {
  const clinic = await afterAnotherCall();
  const withheld = withhold(clinic, 'claim_number');
  const hidden = await loseAndHide(clinic, 1);
  await hidden.show(0);
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  await clinic.readClaims({ ...claim(1), date_of_service, claim_number: 'CN-1' });
  await clinic.planNow();
  await clinic.submitNow();
  clinic.submit.settings.is_observing = true;
  await lookUp(clinic);
  clinic.submit.settings.is_observing = false;
  await hidden.show(1);
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-0', 'C-1']);
  expect(await clinic.attention()).toEqual(['doubtful_call']);
  // Once the list shows the number, the call serves.
  withheld.on = false;
  await reconcile(clinic);
  await lookUp(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-0', 'C-1']);
  expect(await clinic.attention()).toEqual([]);
});

test.each(['dob', 'member_id', 'tax_id'])(
  'a call that is listed with an empty %s delays ours (G1)',
  async (field) => {
    const clinic = await install();
    const hidden = await loseAndHide(clinic, 1);
    showRequests(clinic, (request) => ({ ...request, [field]: '' }));
    await send(clinic, clinic.visit('A-1'));
    clinic.submit.settings.is_observing = true;
    await lookUp(clinic);
    clinic.submit.settings.is_observing = false;
    await hidden.show(0);
    await clinic.planNow();
    await clinic.submitNow();
    expect(await labelsOf(clinic)).toEqual(['A-1']);
    expect(await clinic.attention()).toEqual(['doubtful_call']);
  },
);

test('a call without a label and a member ID for another patient is no sign', async () => {
  const clinic = await afterAnotherCall();
  clinic.submit.settings.is_shared_account = true;
  await loseCreates(clinic, 1, 'before');
  const coverages = [aCoverage({ member_id: 'W2' })];
  await send(clinic, clinic.visit('A-1', { ...twin('Ben'), coverages }));
  showRequests(clinic, (request) => {
    const { external_id, ...rest } = request;
    return external_id === 'X-1' ? { ...rest, member_id: '' } : request;
  });
  const other = { patient_name: 'Cy Other', dob: '05-06-1970', external_id: 'X-1' };
  await clinic.service.createBeside({ ...TWINS, ...other });
  // The service ignores the label, so the whole list must prove the absence.
  const { list } = clinic.client;
  clinic.client.list = async (specialty, filter, options) => {
    const result = await list(specialty, {}, options);
    return result.ok && filter.external_id !== undefined
      ? { ok: true, value: { ...result.value, filter: 'ignored' } }
      : result;
  };
  for (let hour = 0; hour < 12; hour += 1) await lookUp(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-0', 'X-1', 'A-1']);
});

test.each([true, false])(
  'a call that was listed before the request is no sign of it (with times: %s)',
  async (has_times) => {
    const clinic = await install();
    if (!has_times) withholdTimes(clinic);
    clinic.submit.settings.is_shared_account = true;
    // Ada's, before the practice gave her appointment to Ben.
    await anOldCall(clinic, 'A-1');
    await clinic.submitNow();
    await reconcile(clinic);
    const coverages = [aCoverage({ member_id: 'W9' })];
    await send(clinic, clinic.visit('A-0', { ...twin('Cy'), coverages }));
    await clinic.collectAll();
    await loseCreates(clinic, 1, 'before');
    await send(clinic, clinic.visit('A-1', twin('Ben')));
    for (let hour = 0; hour < 3; hour += 1) await lookUp(clinic);
    expect(await labelsOf(clinic)).toEqual(['A-1', 'A-0', 'A-1']);
  },
);

test('a call without a label for the other twin is no sign of the lost one', async () => {
  const clinic = await afterAnotherCall();
  showRequests(clinic, ({ external_id: _, ...request }) => request);
  clinic.submit.settings.is_shared_account = true;
  await loseCreates(clinic, 1, 'before');
  const coverages = [aCoverage({ member_id: 'W2' })];
  await send(clinic, clinic.visit('A-1', { ...twin('Ben'), coverages }));
  const other = { patient_name: 'Ada Example', member_id: 'W2', external_id: 'X-1' };
  await clinic.service.createBeside({ ...TWINS, ...other });
  await lookUp(clinic);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-0', 'X-1', 'A-1']);
});

test('a call of another insurance under the same label is no sign of the lost one', async () => {
  const clinic = await afterAnotherCall();
  const other = { patient_name: 'Ben Example', member_id: 'W3' };
  clinic.submit.settings.is_shared_account = true;
  await loseCreates(clinic, 1, 'before');
  const coverages = [aCoverage({ member_id: 'W2' })];
  await send(clinic, clinic.visit('A-1', { ...twin('Ben'), coverages }));
  await clinic.service.createBeside({ ...TWINS, ...other, external_id: 'A-1' });
  await lookUp(clinic);
  await clinic.submitNow();
  expect((await labelsOf(clinic)).filter((label) => label === 'A-1')).toHaveLength(2);
});

test('nothing is proven if the list shows a call without its label and its time (G1)', async () => {
  const clinic = await afterAnotherCall();
  withholdTimes(clinic);
  showRequests(clinic, ({ external_id: _, ...request }) => request);
  await loseCreates(clinic, 1);
  const coverages = [aCoverage({ member_id: 'W2' })];
  await send(clinic, clinic.visit('A-1', { ...twin('Ben'), coverages }));
  for (let hour = 0; hour < 3; hour += 1) await lookUp(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-0', 'A-1']);
});

test('a twin’s known call, listed without label and name, is no sign of the lost one', async () => {
  const clinic = await afterAnotherCall();
  showRequests(clinic, ({ external_id: _, patient_name: __, ...request }) => request);
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('A-1', twin('Ben')));
  for (let hour = 0; hour < 3; hour += 1) await lookUp(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-0', 'A-1']);
});

test('a label that was shown long ago proves no absence (G1)', async () => {
  const clinic = await afterAnotherCall();
  const lists = { of_label: {}, whole: CUT_OFF };
  const coverages = (member_id: string) => ({ coverages: [aCoverage({ member_id })] });
  // This call is absent, so eligd learns that the service shows calls by their labels.
  await loseCreates(clinic, 1, 'before');
  await send(clinic, clinic.visit('A-1', { ...twin('Ben'), ...coverages('W2') }));
  await lookUp(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-0', 'A-1']);
  clinic.pass(2 * HOUR_MS);
  await clinic.service.advance({ hours: 2 });
  await loseCreates(clinic, 1);
  await send(clinic, clinic.visit('A-2', { ...twin('Cleo'), ...coverages('W3') }));
  showLists(clinic, 'A-2', { ...lists, of_other_label: NO_A_0_A_1 });
  await lookUp(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-0', 'A-1', 'A-2']);
});
