/** What an operator does on the page of a visit, and what the calling service sees of it. */
import { expect, test } from 'vitest';
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

/** What the page says after a form. */
async function noticeAfter(browser: Browser, address: string): Promise<string> {
  const csrf = await browser.csrf();
  const { status, headers } = await browser.post(address, { csrf, back: 'visit' });
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
  expect(before).toContain('1 call was ordered for it, for $12.50.');
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
  expect(await callsFor(office, 'INACTIVE2')).toBe(1);

  expect(await noticeAfter(maria, `${ivan}/ask`)).toContain('It costs $12.50.');
  await expect.poll(() => callsFor(office, 'INACTIVE2'), { timeout: 60_000 }).toBe(2);
  // One at a time: neither the button nor the form orders a third one.
  const asked = (await maria.get(ivan)).text;
  expect(asked).not.toContain(`action="${ivan}/ask"`);
  // What the payer said before is still there, as that.
  expect(asked).toContain('this is what it said before');
  expect(asked).toContain('Reference number');
  expect(await noticeAfter(maria, `${ivan}/ask`)).toMatch(/already/);
  expect((await maria.get(ivan)).text).toContain('2 calls were ordered for it, for $25.00.');
  expect(await callsFor(office, 'INACTIVE2')).toBe(2);
  const story = await office.clinic.run('explain', '9002');
  expect(story.stdout).toContain('operator chose “Order another call” on the page.');
});

test('a call is held, released and withdrawn on the page of its visit', LONG, async () => {
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
  // The day's one call went to the first visit; the others wait for tomorrow.
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
  expect(await noticeAfter(maria, `${cid}/withdraw`)).toContain('withdrawn');
  const { text } = await maria.get(`/day/${day}`);
  const row = text.split('<tr').find((each) => each.includes('Cid Third')) ?? '';
  expect(row).toContain('Not asked');
  expect((await maria.get(cid)).text).not.toContain(`action="${cid}/withdraw"`);
  expect(await made()).toEqual(['ACTIVE1']);
});
