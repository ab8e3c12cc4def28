/**
 * An office manager at the page, in a real browser: logs in, finds the first red line, reads why,
 * works through the list, and prints; on a phone and at a desk, with JavaScript and without. All
 * share one clinic, in which each has their own patients. Screenshots go to the folder in
 * ELIGD_SCREENSHOTS.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startChromium } from '../support/chromium.ts';
import { type OfficeClinic, PASSWORD, startOffice } from '../support/office.ts';
import { HOSTILE, visitDay } from '../support/office-visits.ts';
import { exportOf, visits } from '../support/visits.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SHOTS = process.env.ELIGD_SCREENSHOTS ?? '';

let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser?.close());

/** The user of the page and the device; `family`: the last name of this user's patients. */
type Seat = { family: string; width: number; height: number; has_script: boolean };

const SEATS: readonly Seat[] = [
  { family: 'Onefield', width: 1280, height: 860, has_script: true },
  { family: 'Twofield', width: 360, height: 740, has_script: true },
  { family: 'Threefield', width: 1280, height: 860, has_script: false },
  { family: 'Fourfield', width: 360, height: 740, has_script: false },
];

/** The patients whose entries a colleague handles meanwhile. */
const ELSEWHERE = 'Elsewhere';

/** The outcome of each visit, by first name. */
const FATES: Readonly<Record<string, object>> = {
  Ivan: { member_id: 'INACTIVE' },
  Una: { member_id: 'UNSUCC' },
  Uwe: { member_id: 'UNSUCC' },
  Mia: { member_id: '' },
  Eve: { member_id: 'ACTIVE', payor_id: '99999' },
};

async function openOffice(): Promise<OfficeClinic> {
  const day = visitDay();
  const names = Object.entries(FATES).flatMap(([first, fate]) =>
    [
      ...SEATS.map(({ family }) => family),
      ...(first === 'Ivan' || first === 'Una' ? [ELSEWHERE] : []),
    ].map((family) => ({ first, family, ...fate })),
  );
  const timeOf = (index: number) =>
    new Date((8 * 60 + 20 * index) * 60_000).toISOString().slice(11, 16);
  const rows = visits(names.length, (index) => {
    const { first = '', family = '', ...fate } = (names[index] ?? {}) as Record<string, string>;
    return {
      appointment_at: `${day}T${timeOf(index)}`,
      patient_name: first === 'Eve' ? `${first} ${HOSTILE} ${family}` : `${first} ${family}`,
      ...fate,
      member_id: fate.member_id === '' ? '' : `${fate.member_id}${index}`,
      ...(first === 'Eve' ? { carrier: `Plan of ${family}` } : {}),
    };
  });
  return await startOffice({
    config: {
      policy: {
        ...{ attempts: 1, look_ahead_days: 14, dollars_per_month: 2_000, calls_per_day: 60 },
        attention: { not_eligible: true, not_covered: true, limit_reached: true },
      },
      prices: { per_inquiry: 12.5 },
    },
    fill: async (clinic, service) => {
      clinic.drop('export.csv', exportOf(rows));
      await clinic.once();
      await service.advance({ days: 14 });
      await clinic.once();
    },
  });
}

/** axe-core finds nothing, and nothing is wider than the window. */
async function expectAccessible(page: Page, name: string): Promise<void> {
  // As text, through the debugger, which the page's policy does not restrict.
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

/** One person at one screen. */
class Sitting {
  readonly page: Page;
  readonly seat: Seat;
  readonly requests: string[] = [];
  readonly errors: string[] = [];
  /** Questions that the browser asked; the test answers each with yes. */
  readonly questions: string[] = [];
  clicks = 0;

  constructor(page: Page, seat: Seat) {
    this.page = page;
    this.seat = seat;
    page.on('request', (request) => this.requests.push(request.url()));
    page.on('pageerror', (error) => this.errors.push(error.message));
    page.on('dialog', (dialog) => {
      this.questions.push(dialog.message());
      void dialog.accept();
    });
  }

  /** The current page: accessible to everyone, and saved as a picture. */
  async look(name: string): Promise<void> {
    const { width, has_script } = this.seat;
    // axe-core needs JavaScript; the pages are the same ones.
    if (!has_script) return;
    await expectAccessible(this.page, `${name} at ${width}`);
    await shoot(this.page, `${name}-${width}`);
  }

  async click(role: 'link' | 'button', name: string | RegExp, within = this.page.locator('body')) {
    this.clicks += 1;
    await within.getByRole(role, { name }).first().click();
  }

  /** The page's notice after an action. */
  async told(text: string | RegExp): Promise<void> {
    await this.page.getByRole('status').filter({ hasText: text }).waitFor();
  }

  /** The list's entry about a patient of this user. */
  entry(first: string) {
    return this.page.locator('section.entry', { hasText: `${first} ${this.seat.family}` });
  }

  /** Answers yes before money is spent or an action cannot be undone. */
  async agree(question: string, button: RegExp): Promise<void> {
    if (this.seat.has_script) expect(this.questions.at(-1)).toContain(question);
    else {
      await this.page.getByText(question).waitFor();
      await this.click('button', button);
    }
  }

  async logIn(): Promise<void> {
    await this.page.getByLabel('Name').fill('operator');
    await this.page.getByLabel('Password').fill(PASSWORD);
    await this.page.getByRole('button', { name: 'Log in' }).click();
  }
}

async function sit(seat: Seat, url: string): Promise<{ at: Sitting; context: BrowserContext }> {
  const context = await browser.newContext({
    viewport: { width: seat.width, height: seat.height },
    javaScriptEnabled: seat.has_script,
    // A page's policy does not restrict a debugger, and axe-core is loaded only through it.
    bypassCSP: true,
  });
  const page = await context.newPage();
  await page.goto(`${url}/`);
  return { at: new Sitting(page, seat), context };
}

/** Login, the first red line, why, and its action, with a count of the clicks. */
async function findTheFirstRedLine(at: Sitting): Promise<void> {
  const { page, seat } = at;
  await at.look('login');
  await at.logIn();
  at.clicks = 0;
  const red = page.locator('tr.s-red').first();
  await red.waitFor();
  const box = await red.boundingBox();
  expect((box?.y ?? 9_999) + 40).toBeLessThan(seat.height);
  await at.look('schedule');
  const own = page.locator('tr.s-red', { hasText: `Ivan ${seat.family}` });
  expect(await own.innerText()).toContain('The plan is NOT ACTIVE');
  at.clicks += 1;
  await own.getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: `Ivan ${seat.family}` }).waitFor();
  await page.getByRole('heading', { name: 'What the insurance company said' }).waitFor();
  await page.getByText('Reference number').waitFor();
  await at.look('visit');
  await page.getByLabel('Note (optional)').fill('Has new insurance');
  await at.click('button', 'Done');
  await at.told('Done: The plan is NOT ACTIVE');
  expect(at.clicks).toBeLessThanOrEqual(3);
}

/** The rest of the list: each kind of entry with its action. */
async function workThroughTheList(at: Sitting): Promise<void> {
  const { page, seat } = at;
  await at.click('link', 'Needs you');
  await at.look('attention');
  expect(await at.entry('Ivan').count()).toBe(0);

  await at.click('button', /Order another call/, at.entry('Una'));
  await at.agree('costs $12.50', /Order another call/);
  await at.told('It costs $12.50.');

  await at.click('button', 'Withdraw', at.entry('Mia'));
  await at.agree('eligd closes this visit and makes no call', /Withdraw/);
  await at.told('It is closed.');

  await page.getByLabel(`Plan of ${seat.family} is`).fill('CIGNA');
  const map = page.locator('form', { has: page.getByLabel(`Plan of ${seat.family} is`) });
  await at.click('button', 'Map this payer', map);
  await at.told(`Plan of ${seat.family} is now mapped to CIGNA.`);

  await at.click('link', 'Call sheet', at.entry('Uwe'));
  await at.look('call-sheet');
  expect(await page.getByRole('button', { name: 'Print' }).count()).toBe(seat.has_script ? 1 : 0);
  await at.click('link', 'Enter the answers');
  await at.look('called');
}

/** The form, whose login ends while it is filled in. */
async function answerByHand(at: Sitting, context: BrowserContext): Promise<void> {
  const { page } = at;
  await page.getByLabel('Active on the day of the visit').selectOption('yes');
  await page.getByLabel('Spoke with').fill('Pat');
  await page.getByLabel('What else was said').fill('Ask for "Pat" & call back');
  await context.clearCookies();
  await at.click('button', 'Save the answer');
  await page.getByText('What you typed is kept').waitFor();
  await at.logIn();
  await page.getByText('What you typed is below').waitFor();
  expect(await page.getByLabel('Spoke with').inputValue()).toBe('Pat');
  expect(await page.getByLabel('What else was said').inputValue()).toBe(
    'Ask for "Pat" & call back',
  );
  await at.click('button', 'Save the answer');
  await at.told('Saved.');
}

async function lookAndPrint(at: Sitting, url: string): Promise<void> {
  const { page } = at;
  await page.goto(`${url}/week`);
  await page.getByRole('img', { name: /Visits of the coming seven days/ }).waitFor();
  await page.getByRole('img', { name: /to answer: Delta Dental of Illinois/ }).waitFor();
  await page.getByRole('img', { name: /This month: \$.* of \$2,000/ }).waitFor();
  await at.look('week');
  // One day on each sheet of paper.
  await page.goto(`${url}/day/${visitDay()}`);
  const pdf = await page.pdf({ format: 'Letter' });
  expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
}

/** A change elsewhere appears without a reload; typed text stays until it is sent. */
async function watchChanges(at: Sitting, office: OfficeClinic): Promise<void> {
  const { page } = at;
  const listed = (first: string) =>
    page.locator('section.entry', { hasText: `${first} ${ELSEWHERE}` });
  const colleague = await office.login('operator');
  const doneElsewhere = async (first: string) => {
    const form = listed(first)
      .locator('form', { has: page.locator('[name="entry"]') })
      .first();
    const entry = await form.locator('[name="entry"]').inputValue();
    const path = (await form.getAttribute('action')) ?? '';
    const shown = await form.locator('[name="shown"]').inputValue();
    await colleague.post(path, { csrf: await colleague.csrf(), entry, shown });
  };
  await page.goto(`${office.url}/attention`);
  await page.evaluate('window.is_same_page = true');
  await doneElsewhere('Ivan');
  await listed('Ivan').waitFor({ state: 'detached', timeout: 30_000 });

  const note = at.entry('Uwe').getByLabel('Note (optional)');
  await note.fill('Left a message');
  const stop = new AbortController();
  const stream = await fetch(`${office.url}/events`, {
    headers: { cookie: colleague.cookie },
    signal: stop.signal,
  });
  await doneElsewhere('Una');
  // The server notifies every open page at the same time.
  for await (const chunk of stream.body ?? [])
    if (Buffer.from(chunk).toString().includes('event: changed')) break;
  stop.abort();
  await page.getByRole('heading', { level: 1 }).click();
  expect(await note.inputValue()).toBe('Left a message');
  expect(await listed('Una').count()).toBe(1);
  await note.fill('');
  await note.blur();
  await listed('Una').waitFor({ state: 'detached', timeout: 30_000 });
  expect(await page.evaluate('window.is_same_page')).toBe(true);
}

/** Markup in a name stays text, on the pages and in the file. */
async function expectNoMarkup(at: Sitting, office: OfficeClinic): Promise<void> {
  const file = join(office.clinic.folder, 'dropbox/outbox/schedule.html');
  await expect.poll(() => existsSync(file), { timeout: 60_000 }).toBe(true);
  for (const url of [`${office.url}/day/${visitDay()}`, `file://${file}`]) {
    await at.page.goto(url);
    expect(await at.page.locator('img').count()).toBe(0);
    expect(await at.page.getByText('<img src=x', { exact: false }).count()).toBeGreaterThan(0);
  }
}

const LONG = { timeout: 420_000 };

test(
  'the office manager can do the morning’s work on the page, on every screen',
  LONG,
  async () => {
    const office = await openOffice();
    for (const seat of SEATS) {
      const { at, context } = await sit(seat, office.url);
      if (seat === SEATS[0]) {
        await at.logIn();
        await watchChanges(at, office);
        await context.clearCookies();
        await at.page.goto(`${office.url}/`);
      }
      await findTheFirstRedLine(at);
      await workThroughTheList(at);
      await answerByHand(at, context);
      await lookAndPrint(at, office.url);
      expect(at.requests.filter((url) => !url.startsWith(office.url))).toEqual([]);
      if (seat === SEATS[0]) await expectNoMarkup(at, office);
      expect({ seat, errors: at.errors }).toEqual({ seat, errors: [] });
      const asked = seat.has_script ? 2 : 0;
      expect({ seat, questions: at.questions.length }).toEqual({ seat, questions: asked });
      await context.close();
    }
  },
);
