/** A page that has been open for a while: its forms do nothing that the user has not seen. */
import { expect, test } from 'vitest';
import { currentHalts, type HaltReason, halt } from '../../src/store/calls/halts.ts';
import type { Clinic } from '../support/clinic.ts';
import { type Browser, startOffice } from '../support/office.ts';
import { fillOffice, visitDay } from '../support/office-visits.ts';
import { exportOf, type Visit, visits } from '../support/visits.ts';

const LONG = { timeout: 240_000 };
const CONFIG = {
  policy: { attempts: 1, look_ahead_days: 14 },
  service: { settle_seconds: 0 },
  schedule: { pull_seconds: 0.2 },
  prices: { per_inquiry: 12.5 },
};

function exportWith(row: Partial<Visit>): string {
  return exportOf(visits(1, () => ({ appointment_at: `${visitDay()}T09:00`, ...row })));
}

const fillWith = (row: Partial<Visit>) => async (clinic: Clinic) => {
  clinic.drop('export.csv', exportWith(row));
  await clinic.once();
};

async function pathOf(browser: Browser, name: string): Promise<string> {
  const { text } = await browser.get(`/day/${visitDay()}`);
  const row = text.split('<tr').find((each) => each.includes(name)) ?? '';
  return /href="(\/visit\/\d+)"/.exec(row)?.[1] ?? `no row of ${name}`;
}

/** The hidden fields of the form for an address. */
function fieldsOf(text: string, action: string): Record<string, string> {
  const form = text.split('<form').find((each) => each.includes(`action="${action}"`)) ?? '';
  const fields = form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g);
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]));
}

const noticeIn = (text: string) => /class="notice[^>]*>([\s\S]*?)<\/div>/.exec(text)?.[1] ?? '';

test('one payer’s answer is not saved as the new payer’s', LONG, async () => {
  const mia = { patient_name: 'Mia Missing', dob: '' };
  const office = await startOffice({ config: CONFIG, fill: fillWith(mia) });
  const maria = await office.login('operator');
  const path = await pathOf(maria, 'Mia Missing');
  const action = `${path}/called`;
  const typed = { is_active: 'yes', representative: 'Pat', is_covered_D1110: 'yes' };
  const form = { ...fieldsOf((await maria.get(action)).text, action), ...typed };
  const changed = { ...mia, carrier: 'MetLife', payor_id: '65978', member_id: 'ACTIVE77' };
  office.clinic.drop('later.csv', exportWith({ ...changed, procedure_codes: 'D0120' }));
  await expect
    .poll(async () => (await maria.get(action)).text, { timeout: 60_000, interval: 500 })
    .not.toContain('D1110');
  const sent = await maria.post(action, form);
  expect(sent.status).toBe(200);
  expect(noticeIn(sent.text)).toContain('Nothing was saved');
  expect(noticeIn(sent.text)).toContain('insurance');
  expect(noticeIn(sent.text)).toContain('D1110');
  expect(sent.text).toContain('value="Pat"');
  expect((await maria.get(path)).text).not.toContain('Entered by the office');
  // After another look, it is saved.
  const again = { ...typed, ...fieldsOf(sent.text, action) };
  expect((await maria.post(action, again)).status).toBe(303);
  expect(noticeIn((await maria.get(path)).text)).toContain('Saved.');
});

test('an answer needs yes or no for active, or nothing is saved', LONG, async () => {
  const fill = fillWith({ patient_name: 'Mia Missing', dob: '' });
  const office = await startOffice({ config: CONFIG, fill });
  const maria = await office.login('operator');
  const action = `${await pathOf(maria, 'Mia Missing')}/called`;
  const page = await maria.get(action);
  const form = { ...fieldsOf(page.text, action), coverage_limit: '1,50' };
  const sent = await maria.post(action, { ...form, is_active: 'constructor' });
  expect(noticeIn(sent.text)).toContain('first choose whether the plan is active');
  // Browsers refuse an amount with commas in the wrong place.
  const field = page.text.split('id="coverage_limit"')[1] ?? '';
  const [, pattern = ''] = /pattern="([^"]+)"/.exec(field) ?? [];
  const fits = (text: string) => new RegExp(`^(?:${pattern})$`, 'v').test(text);
  expect(['1,500', '$1500', '45.50', '1,50', '1,5000'].map(fits)).toEqual([
    ...[true, true, true, false, false],
  ]);
});

test('the page asks again before a call or withdrawal if the visit has changed', LONG, async () => {
  const office = await startOffice({ config: CONFIG, fill: fillOffice });
  const maria = await office.login('operator');
  const una = await pathOf(maria, 'Una Unanswered');
  const action = `${una}/ask`;
  const { shown: seen = '', ...others } = fieldsOf((await maria.get(una)).text, action);
  const fresh = { ...others, shown: seen, sure: 'yes' };
  const calls = async () =>
    (await office.service.ledger()).filter(({ request }) => request.member_id === 'UNSUCC3').length;
  const before = await calls();
  const [, after = ''] = seen.split(':');
  // From a page with another price, and from one before the newest call.
  for (const shown of [`1000:${after}`, `1250:${Number(after) - 1}`, '']) {
    const old = await maria.post(action, { ...fresh, shown });
    expect({ shown, status: old.status }).toEqual({ shown, status: 200 });
    expect(old.text).toContain('has changed since you saw it');
    expect(old.text).toContain('costs $12.50');
    expect(fieldsOf(old.text, action)).toMatchObject({ shown: seen });
  }
  expect((await maria.post(action, fresh)).status).toBe(303);
  await expect.poll(calls, { timeout: 60_000 }).toBe(before + 1);
  const ann = await pathOf(maria, 'Ann Active');
  const row = async () =>
    (await maria.get(`/day/${visitDay()}`)).text.split('<tr').find((e) => e.includes('Ann Active'));
  const csrf = await maria.csrf();
  const answered = await row();
  await maria.post(`${ann}/withdraw`, { csrf, sure: 'yes', back: 'visit' });
  expect(noticeIn((await maria.get(ann)).text)).toContain('Nothing was withdrawn');
  expect(await row()).toBe(answered);
  expect((await office.clinic.run('explain', '9001')).stdout).not.toContain('It is closed.');
});

test('a user resumes calls only after seeing why they stopped', LONG, async () => {
  const office = await startOffice({ config: CONFIG, fill: fillWith({}) });
  const stop = (reason: HaltReason, detail: string) =>
    office.daemon.store.write((tx) => {
      const entry = { what: `Nothing is sent. ${detail}`, next: 'Look.' };
      return halt(tx, { reason, detail, next_try_at: null }, entry, 1);
    });
  const reasons = async () => (await currentHalts(office.daemon.store.db)).map((e) => e.reason);
  const maria = await office.login('operator');
  const action = '/submission/release';
  await stop('new_database', 'The database is new.');
  const seen = { ...fieldsOf((await maria.get('/attention')).text, action), sure: 'yes' };
  await stop('foreign', 'Somebody else uses the account.');
  const question = await maria.post(action, seen);
  expect(question.status).toBe(200);
  expect(question.text).toContain('Somebody else uses the account.');
  expect(await reasons()).toEqual(['new_database', 'foreign']);
  expect((await maria.post(action, fieldsOf(question.text, action))).status).toBe(303);
  expect(await reasons()).toEqual([]);
});
