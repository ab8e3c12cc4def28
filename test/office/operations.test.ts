/** An operator's actions on a visit's page, and what the calling service sees. */
import { expect, test } from 'vitest';
import { setMachineClock } from '../support/machine-clock.ts';
import { type Browser, type OfficeClinic, startOffice } from '../support/office.ts';
import { fillOffice, visitDay } from '../support/office-visits.ts';
import { exportOf, visits } from '../support/visits.ts';

const LONG = { timeout: 240_000 };

async function pathOf(browser: Browser, name: string): Promise<string> {
  const { text } = await browser.get(`/day/${visitDay()}`);
  const row = text.split('<tr').find((each) => each.includes(name)) ?? '';
  return /href="(\/visit\/\d+)"/.exec(row)?.[1] ?? `no row of ${name}`;
}

async function callsFor({ service }: OfficeClinic, member_id: string): Promise<number> {
  const ledger = await service.ledger();
  return ledger.filter(({ request }) => request.member_id === member_id).length;
}

/** The notice on the page after a form. */
async function noticeAfter(browser: Browser, address: string): Promise<string> {
  const csrf = await browser.csrf();
  // Only actions that cost money ask first.
  const question = address.endsWith('/ask') ? await browser.post(address, { csrf }) : null;
  const [, shown = ''] = /name="shown" value="([^"]*)"/.exec(question?.text ?? '') ?? [];
  const form = { csrf, back: 'visit', sure: 'yes', shown };
  const { status, headers } = await browser.post(address, form);
  expect({ address, status }).toEqual({ address, status: 303 });
  const { text } = await browser.get(headers.get('location') ?? '/');
  return /class="notice[^>]*>([\s\S]*?)<\/div>/.exec(text)?.[1] ?? '';
}

test('another call is offered with its price, ordered once, and its cost shown', LONG, async () => {
  const office = await startOffice({
    config: {
      policy: { attempts: 1, look_ahead_days: 14, attention: { not_eligible: true } },
      service: { settle_seconds: 0 },
      prices: { per_inquiry: 12.5 },
    },
    fill: fillOffice,
  });
  const maria = await office.login('operator');
  const ivan = await pathOf(maria, 'Ivan Inactive');
  const before = (await maria.get(ivan)).text;
  expect(before).toContain('Order another call ($12.50)');
  expect(before).toContain('1 call was ordered for this visit, for $12.50.');
  // Next to the entry, too; a viewer is offered nothing.
  const entry = (await maria.get('/attention')).text
    .split('<section')
    .find((each) => each.includes('Ivan Inactive'));
  expect(entry).toContain(`action="${ivan}/ask"`);
  expect(entry).toContain('Order another call ($12.50)');
  const viewer = await office.login('viewer');
  expect((await viewer.get(ivan)).text).not.toContain('Order another call');
  const csrf = await viewer.csrf();
  expect((await viewer.post(`${ivan}/ask`, { csrf })).status).toBe(403);
  // What costs money is asked first.
  const question = await maria.post(`${ivan}/ask`, { csrf: await maria.csrf() });
  expect(question.text).toContain('costs $12.50. Order it?');
  expect(await callsFor(office, 'INACTIVE2')).toBe(1);

  expect(await noticeAfter(maria, `${ivan}/ask`)).toContain('It costs $12.50.');
  await expect.poll(() => callsFor(office, 'INACTIVE2'), { timeout: 60_000 }).toBe(2);
  // One at a time: neither the button nor the form orders a third one.
  const asked = (await maria.get(ivan)).text;
  expect(asked).not.toContain(`action="${ivan}/ask"`);
  // What the payer said before is still there, as that.
  expect(asked).toContain('this is the previous one');
  expect(asked).toContain('Reference number');
  expect(await noticeAfter(maria, `${ivan}/ask`)).toMatch(/already/);
  expect((await maria.get(ivan)).text).toContain('2 calls were ordered for this visit, for $25.');
  expect(await callsFor(office, 'INACTIVE2')).toBe(2);
  const story = await office.clinic.run('explain', '9002');
  expect(story.stdout).toContain('operator chose “Order another call” on the page.');
});

test('the page of a visit can hold, release, and withdraw its call', LONG, async () => {
  const day = visitDay();
  const office = await startOffice({
    config: {
      policy: { calls_per_day: 1, look_ahead_days: 14 },
      service: { settle_seconds: 0 },
    },
    fill: async (clinic) => {
      const rows = visits(3, (index) => ({
        appointment_at: `${day}T${String(9 + index).padStart(2, '0')}:00`,
        patient_name: ['Ann First', 'Ben Second', 'Cid Third'][index] ?? '',
        member_id: `ACTIVE${index + 1}`,
      }));
      clinic.drop('export.csv', exportOf(rows));
      await clinic.once();
    },
  });
  // The day's only call went to the first visit; the others wait for tomorrow.
  const made = async () => (await office.service.ledger()).map(({ request }) => request.member_id);
  expect(await made()).toEqual(['ACTIVE1']);
  const maria = await office.login('operator');
  const ben = await pathOf(maria, 'Ben Second');
  expect((await maria.get(ben)).text).toContain(`action="${ben}/hold"`);
  expect(await noticeAfter(maria, `${ben}/hold`)).toContain('on hold');
  const held = (await maria.get(ben)).text;
  expect(held).toContain(`action="${ben}/release"`);
  expect(held).not.toContain(`action="${ben}/hold"`);
  expect((await office.clinic.run('explain', '9002')).stdout).toMatch(/on hold/);

  expect(await noticeAfter(maria, `${ben}/release`)).toContain('is sent when it is due');
  expect((await maria.get(ben)).text).toContain(`action="${ben}/hold"`);

  const cid = await pathOf(maria, 'Cid Third');
  // It asks first, also without JavaScript; then the call is withdrawn and the visit closed.
  const question = await maria.post(`${cid}/withdraw`, { csrf: await maria.csrf() });
  expect(question.status).toBe(200);
  expect(question.text).toContain('eligd closes this visit and makes no call for it.');
  expect((await maria.get(cid)).text).toContain(`action="${cid}/withdraw"`);
  expect(await noticeAfter(maria, `${cid}/withdraw`)).toContain('withdrawn');
  const { text } = await maria.get(`/day/${day}`);
  const row = text.split('<tr').find((each) => each.includes('Cid Third')) ?? '';
  expect(row).toContain('Not asked');
  expect((await maria.get(cid)).text).not.toContain(`action="${cid}/withdraw"`);
  expect(await made()).toEqual(['ACTIVE1']);
});

test('done takes one entry off the list, and leaves the visit’s others', LONG, async () => {
  // At the start of a year, a limit per calendar year has nothing used.
  setMachineClock(Date.parse('2030-11-25T15:00:00Z'));
  const office = await startOffice({
    config: {
      policy: {
        ...{ attempts: 1, look_ahead_days: 14 },
        attention: { limit_reached: true, out_of_network: true },
      },
      service: { settle_seconds: 0 },
    },
    fill: fillOffice,
  });
  const maria = await office.login('operator');
  const open = async () =>
    (await maria.get('/attention')).text
      .split('<section')
      .filter((each) => /<h2[^>]*>.* Hostile /.test(each) && each.includes('name="entry"'))
      .map((each) => ({
        path: /action="(\/\w+\/\d+\/done)"/.exec(each)?.[1] ?? '',
        entry: /name="entry" value="(\d+)"/.exec(each)?.[1] ?? '',
        shown: /name="shown" value="([^"]+)"/.exec(each)?.[1] ?? '',
      }));
  const [first, second, ...others] = await open();
  expect(others).toEqual([]);
  if (first === undefined || second === undefined) throw new Error('There are no two entries.');
  expect(first.path).toBe(second.path);
  const form = { csrf: await maria.csrf(), note: 'Spoke with him' };
  // The page is out of date: nothing happens before the user has read the change.
  const stale = { ...form, entry: first.entry, shown: second.shown };
  const question = await maria.post(first.path, stale);
  expect(question.text).toContain('The entry has changed since you saw it.');
  expect(question.text).toContain('name="note" value="Spoke with him"');
  expect(await open()).toEqual([first, second]);
  const [, shown = ''] = /name="shown" value="([^"]+)"/.exec(question.text) ?? [];
  await maria.post(first.path, { ...stale, shown });
  expect(await open()).toEqual([second]);
  const late = await maria.post(first.path, { ...stale, shown });
  expect(late.status).toBe(303);
  expect((await maria.get('/attention')).text).toContain('It is no longer on the list.');
  // A form that names no entry does nothing.
  expect((await maria.post(first.path, form)).status).toBe(404);
  expect(await open()).toEqual([second]);
});

test('the list can hold and withdraw a planned call next to its entry', LONG, async () => {
  const day = visitDay();
  const office = await startOffice({
    config: {
      policy: { calls_per_day: 1, look_ahead_days: 14 },
      service: { settle_seconds: 0 },
    },
    fill: async (clinic) => {
      const rows = visits(2, (index) => ({
        appointment_at: `${day}T${String(9 + index).padStart(2, '0')}:00`,
        patient_name: ['Ann First', 'Mia Missing'][index] ?? '',
        member_id: index === 0 ? 'ACTIVE1' : '',
      }));
      clinic.drop('export.csv', exportOf(rows));
      await clinic.once();
    },
  });
  const maria = await office.login('operator');
  const mia = await pathOf(maria, 'Mia Missing');
  const listed = async () =>
    (await maria.get('/attention')).text
      .split('<section')
      .find((each) => each.includes('Mia Missing')) ?? '';
  expect(await listed()).toContain(`action="${mia}/retry"`);
  expect(await listed()).toContain(`action="${mia}/withdraw"`);
  const form = { csrf: await maria.csrf(), sure: 'yes', back: 'attention' };
  expect((await maria.post(`${mia}/withdraw`, form)).headers.get('location')).toBe('/attention');
  expect(await listed()).toBe('');
});

test('a payer that is known only by its ID is mapped on the page', LONG, async () => {
  const day = visitDay();
  const office = await startOffice({
    config: { service: { settle_seconds: 0 } },
    fill: async (clinic) => {
      const row = { appointment_at: `${day}T09:00`, carrier: '', payor_id: '77Z77' };
      clinic.drop('export.csv', exportOf(visits(1, () => row)));
      await clinic.once();
    },
  });
  const maria = await office.login('operator');
  const list = (await maria.get('/attention')).text;
  expect(list).toContain('Payer ID 77Z77 is</label>');
  const form = { csrf: await maria.csrf(), name: '', pms_id: '77Z77', id: 'CIGNA' };
  // Typed text stays when it is wrong.
  const wrong = await maria.post('/payers/map', { ...form, id: 'CIGMA "X"' });
  expect(wrong.status).toBe(200);
  expect(wrong.text).toContain('value="CIGMA &quot;X&quot;"');
  expect(wrong.text).toContain('class="notice bad"');
  await maria.post('/payers/map', form);
  expect((await maria.get('/attention')).text).toContain('payer ID 77Z77 is now mapped to CIGNA.');
  await expect
    .poll(async () => (await maria.get('/attention')).text, { timeout: 60_000 })
    .toContain('Nothing needs you.');
});

test(
  'a call that the service refused is sent again at its price, after a question',
  LONG,
  async () => {
    const day = visitDay();
    const office = await startOffice({
      config: {
        policy: { look_ahead_days: 14 },
        service: { settle_seconds: 0 },
        prices: { per_inquiry: 12.5 },
      },
      fill: async (clinic) => {
        const row = { appointment_at: `${day}T09:00`, patient_name: 'Rae Refused' };
        clinic.drop('export.csv', exportOf(visits(1, () => ({ ...row, member_id: 'REJECT1' }))));
        await clinic.once();
      },
    });
    const maria = await office.login('operator');
    const list = (await maria.get('/attention')).text;
    const entry = list.split('<section').find((each) => each.includes('Rae Refused')) ?? '';
    expect(entry).toContain('Try again now ($12.50)');
    const [, path = ''] = /action="(\/\w+\/\d+\/retry)"/.exec(entry) ?? [];
    const question = await maria.post(path, { csrf: await maria.csrf(), back: 'attention' });
    expect(question.text).toContain(
      'eligd can send it again unchanged, which costs $12.50. Send it?',
    );
    const rae = await pathOf(maria, 'Rae Refused');
    expect((await maria.get(rae)).text).toContain('Try again now ($12.50)');
    const [, shown = ''] = /name="shown" value="([^"]*)"/.exec(question.text) ?? [];
    const sent = await maria.post(path, { csrf: await maria.csrf(), sure: 'yes', shown });
    expect(sent.status).toBe(303);
  },
);
