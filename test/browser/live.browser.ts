/** The script of the page shows changes from elsewhere and loses nothing. */
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { realClock } from '../../src/ops/env.ts';
import { startChromium } from '../support/chromium.ts';
import { type Browser, type OfficeClinic, PASSWORD, startOffice } from '../support/office.ts';
import { fillOffice, visitDay } from '../support/office-visits.ts';

const LONG = { timeout: 240_000 };
const CONFIG = {
  policy: { attempts: 1, look_ahead_days: 14 },
  service: { settle_seconds: 0 },
  prices: { per_inquiry: 12.5 },
};
/** Longer than the script and the server wait between two checks. */
const TWO_LOOKS_MS = 9_000;

let chromium: Chromium;
beforeAll(async () => {
  chromium = await startChromium();
});
afterAll(() => chromium?.close());

async function openPage({ url }: OfficeClinic): Promise<Page> {
  const page = await (await chromium.newContext()).newPage();
  page.on('dialog', (dialog) => void dialog.accept());
  await page.goto(`${url}/`);
  await logIn(page);
  await page.goto(`${url}/day/${visitDay()}`);
  return page;
}

async function logIn(page: Page): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill('operator');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.getByRole('button', { name: 'Log out' }).waitFor();
}

/** A colleague's action on another visit. */
async function changeElsewhere(colleague: Browser): Promise<void> {
  const { text } = await colleague.get(`/day/${visitDay()}`);
  const row = text.split('<tr').find((each) => each.includes('Una Unanswered')) ?? '';
  const [, path = ''] = /href="(\/visit\/\d+)"/.exec(row) ?? [];
  const { status } = await colleague.post(`${path}/retry`, { csrf: await colleague.csrf() });
  expect(status).toBe(303);
}

test('a form that came back after the login stays unchanged, whatever changes', LONG, async () => {
  const office = await startOffice({ config: CONFIG, fill: fillOffice });
  const page = await openPage(office);
  const colleague = await office.login('operator');
  await page.getByRole('link', { name: 'Una Unanswered' }).click();
  await page.getByRole('link', { name: 'I called myself' }).first().click();
  await page.getByLabel('Spoke with').fill('Pat');
  await page.getByLabel('Active on the day of the visit').selectOption('yes');
  // The login ends, and the user logs in again in another tab.
  await page.context().clearCookies();
  const tab = await page.context().newPage();
  await tab.goto(`${office.url}/`);
  await logIn(tab);
  await tab.close();
  await page.getByRole('button', { name: 'Save the answer' }).click();
  await page.getByText('What you typed is below').waitFor();
  await changeElsewhere(colleague);
  await page.waitForTimeout(TWO_LOOKS_MS);
  expect(await page.getByLabel('Spoke with').inputValue()).toBe('Pat');
  // Two clicks send the same form twice.
  await page.getByRole('button', { name: 'Save the answer' }).dblclick();
  await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
  expect(await page.getByText('Entered by the office (operator); eligd made no').count()).toBe(1);
});

test('a refresh keeps the notice of the last form, and no other', LONG, async () => {
  const office = await startOffice({ config: CONFIG, fill: fillOffice });
  const page = await openPage(office);
  const colleague = await office.login('operator');
  await page.getByRole('link', { name: 'Ivan Inactive' }).click();
  await page
    .getByRole('button', { name: /Order another call/ })
    .first()
    .click();
  const told = page.locator('main > .notice', { hasText: 'It costs $12.50' });
  await told.waitFor();
  const asked = page.getByText('eligd is asking again');
  await asked.waitFor();
  const mark = () => page.locator('main').getAttribute('data-live');
  const before = await mark();
  await changeElsewhere(colleague);
  await expect.poll(mark, { timeout: 30_000 }).not.toBe(before);
  expect(await asked.count()).toBe(1);
  expect(await told.count()).toBe(1);
  await changeElsewhere(colleague);
  await page.waitForTimeout(TWO_LOOKS_MS);
  expect(await asked.count()).toBe(1);
});

test('a page whose login has ended says so, and keeps the typed text', LONG, async () => {
  let ahead_ms = 0;
  const clock = { ...realClock, now: () => Date.now() + ahead_ms };
  const office = await startOffice({ config: CONFIG, fill: fillOffice, env: { clock } });
  const typing = await openPage(office);
  const idle = await typing.context().newPage();
  await idle.goto(`${office.url}/day/${visitDay()}`);
  await typing.getByRole('link', { name: 'Una Unanswered' }).click();
  await typing.getByRole('link', { name: 'I called myself' }).first().click();
  await typing.getByLabel('Spoke with').fill('Pat');
  ahead_ms = 31 * 60_000;
  // No screen keeps showing the schedule without a login.
  await idle.getByRole('button', { name: 'Log in', exact: true }).waitFor({ timeout: 90_000 });
  await typing.getByRole('alert').filter({ hasText: 'Your login has ended' }).waitFor();
  expect(await typing.getByLabel('Spoke with').inputValue()).toBe('Pat');
  await typing.waitForTimeout(TWO_LOOKS_MS);
  expect(await typing.getByRole('alert').count()).toBe(1);
  const [tab] = await Promise.all([
    typing.context().waitForEvent('page'),
    typing.getByRole('link', { name: 'Log in in another tab' }).click(),
  ]);
  await logIn(tab);
});

test('a change during a refresh is shown by the next refresh', LONG, async () => {
  const office = await startOffice({ config: CONFIG, fill: fillOffice });
  const page = await openPage(office);
  const colleague = await office.login('operator');
  await page.getByRole('link', { name: 'Una Unanswered' }).click();
  const told = page.getByText('chose “Try again now”');
  let refreshes = 0;
  const late = Promise.withResolvers<void>();
  await page.route('**/visit/*', async (route) => {
    if (route.request().headers()['x-refresh'] === undefined) return await route.continue();
    refreshes += 1;
    const response = await route.fetch();
    if (refreshes === 1) await late.promise;
    await route.fulfill({ response });
  });
  await changeElsewhere(colleague);
  await expect.poll(() => refreshes, { timeout: 30_000 }).toBe(1);
  await changeElsewhere(colleague);
  await page.waitForTimeout(TWO_LOOKS_MS);
  late.resolve();
  const steps = async () => (await colleague.get(new URL(page.url()).pathname)).text;
  const expected = (await steps()).split('chose “Try again now”').length - 1;
  expect(expected).toBe(2);
  await expect.poll(() => told.count(), { timeout: 30_000 }).toBe(expected);
  await page.waitForTimeout(TWO_LOOKS_MS);
  expect(await told.count()).toBe(expected);
});
