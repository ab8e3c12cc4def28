/**
 * An office manager at the page, in a real browser: logs in, finds the first red line, reads why,
 * works through the list, and prints; on a phone and on a desk, with JavaScript and without.
 * Screenshots go to the folder that ELIGD_SCREENSHOTS names.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OfficeClinic, PASSWORD, startOffice } from '../support/office.ts';
import { fillOffice, visitDay } from '../support/office-visits.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) =>
  existsSync(path),
);
const SHOTS = process.env.ELIGD_SCREENSHOTS ?? '';

let browser: Browser;
beforeAll(async () => {
  if (CHROMIUM === undefined)
    throw new Error('There is no Chromium. Run: apt-get install chromium');
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
});
afterAll(() => browser?.close());

const ATTENTION = { not_eligible: true, not_covered: true, limit_reached: true };

function openOffice(): Promise<OfficeClinic> {
  return startOffice({
    config: { policy: { attempts: 1, look_ahead_days: 14, attention: ATTENTION } },
    fill: fillOffice,
  });
}

/** axe-core finds nothing, and nothing is wider than the window. */
async function expectAccessible(page: Page, name: string): Promise<void> {
  // As text, through the debugger, which the page's own policy does not bind.
  await page.evaluate(AXE);
  const found = await page.evaluate(
    'axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => ' +
      'id + ": " + nodes.map(({ html }) => html).join(" ")))',
  );
  expect({ name, found }).toEqual({ name, found: [] });
  const overflow = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect({ name, overflow }).toEqual({ name, overflow: 0 });
}

async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS === '') return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
}

describe.each([
  { width: 1280, height: 860, javaScriptEnabled: true },
  { width: 360, height: 740, javaScriptEnabled: true },
  { width: 360, height: 740, javaScriptEnabled: false },
])('at $width pixels, JavaScript $javaScriptEnabled', ({ width, height, javaScriptEnabled }) => {
  test('the office manager gets through the morning', async () => {
    const office = await openOffice();
    // Policies of pages do not bind a debugger; axe-core is loaded only through it.
    const context = await browser.newContext({
      viewport: { width, height },
      javaScriptEnabled,
      bypassCSP: true,
    });
    const page = await context.newPage();
    const requests: string[] = [];
    const errors: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('pageerror', (error) => errors.push(error.message));
    const shot = (name: string) => shoot(page, `${name}-${width}`);
    // axe-core needs JavaScript; the pages are the same ones.
    const check = (name: string) =>
      javaScriptEnabled ? expectAccessible(page, name) : Promise.resolve();

    await page.goto(`${office.url}/`);
    await check('login');
    await shot('login');
    await page.getByLabel('Name').fill('operator');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();

    // The first red line is on the first screen.
    await page.goto(`${office.url}/day/${visitDay()}`);
    const red = page.locator('tr.s-red').first();
    await red.waitFor();
    const box = await red.boundingBox();
    expect(box?.y ?? 9_999).toBeLessThan(height);
    await check('schedule');
    await shot('schedule');

    // Why, and the sheet behind it.
    await red.getByRole('link').click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await check('visit');
    await shot('visit');

    // The list: done with a note.
    await page.getByRole('link', { name: 'Needs you' }).click();
    await check('attention');
    await shot('attention');
    const entry = page.locator('section.entry', { hasText: 'NOT ACTIVE' });
    await entry.getByLabel('Note (optional)').fill('Has new insurance');
    await entry.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('status').filter({ hasText: 'Done' }).waitFor();
    expect(await page.locator('section.entry', { hasText: 'NOT ACTIVE' }).count()).toBe(0);

    // "I called myself".
    const call = page.locator('section.entry', { hasText: 'Una Unanswered' });
    await call.getByRole('link', { name: 'Call sheet' }).click();
    await check('call sheet');
    await shot('call-sheet');
    await page.getByRole('link', { name: 'Enter the answers' }).click();
    await check('form');
    await shot('called');
    await page.getByLabel('Active on the day of the visit').selectOption('yes');
    await page.getByLabel('Spoke with').fill('Pat');
    await page.getByRole('button', { name: 'Save the answer' }).click();
    await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor();

    await page.goto(`${office.url}/week`);
    await check('week');
    await shot('week');

    // A page of paper a day.
    await page.goto(`${office.url}/day/${visitDay()}`);
    const pdf = await page.pdf({ format: 'Letter' });
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1);

    expect(errors).toEqual([]);
    expect(requests.filter((url) => !url.startsWith(office.url))).toEqual([]);
    await context.close();
  });
});

test('from the login, the nearest red line is done in three clicks', async () => {
  const office = await openOffice();
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${office.url}/`);
  await page.getByLabel('Name').fill('operator');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('link', { name: 'Needs you' }).click();
  await page.getByRole('button', { name: 'Done' }).first().click();
  await page.getByRole('status').filter({ hasText: 'Done' }).waitFor();
  await context.close();
});

test('a name that looks like code stays a name, also in the file', async () => {
  const office = await openOffice();
  const context = await browser.newContext();
  const page = await context.newPage();
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(`${office.url}/`);
  await page.getByLabel('Name').fill('operator');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  const file = join(office.clinic.folder, 'dropbox/outbox/schedule.html');
  await expect.poll(() => existsSync(file), { timeout: 60_000 }).toBe(true);
  for (const url of [
    `${office.url}/day/${visitDay()}`,
    `${office.url}/attention`,
    `file://${file}`,
  ]) {
    await page.goto(url);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.getByText('<img src=x', { exact: false }).count()).toBeGreaterThan(0);
  }
  expect(dialogs).toEqual([]);
  await context.close();
});
