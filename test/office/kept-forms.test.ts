/** Typed text is not lost, whatever has ended or is missing meanwhile. */
import { expect, test } from 'vitest';
import { realClock } from '../../src/ops/env.ts';
import { type Browser, PASSWORD, startOffice } from '../support/office.ts';
import { fillOffice, visitDay } from '../support/office-visits.ts';

const LONG = { timeout: 120_000 };
const CONFIG = { policy: { attempts: 1, look_ahead_days: 14 }, service: { settle_seconds: 0 } };
const SAME_SITE = { 'sec-fetch-site': 'same-origin' };

async function pathOf(browser: Browser, name: string): Promise<string> {
  const { text } = await browser.get(`/day/${visitDay()}`);
  const row = text.split('<tr').find((each) => each.includes(name)) ?? '';
  return /href="(\/visit\/\d+)"/.exec(row)?.[1] ?? `no row of ${name}`;
}

const keptIn = (text: string) =>
  (/name="again" value="([^"]*)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&');

const fieldOf = (text: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';

test('a form comes back after the login if the user typed for too long', LONG, async () => {
  let ahead_ms = 0;
  const clock = { ...realClock, now: () => Date.now() + ahead_ms };
  const office = await startOffice({ config: CONFIG, fill: fillOffice, env: { clock } });
  const maria = await office.login('operator');
  const una = await pathOf(maria, 'Una Unanswered');
  const typed = { csrf: await maria.csrf(), representative: 'Pat "P" <b>', is_active: 'yes' };
  ahead_ms = 31 * 60_000;
  const late = await maria.post(`${una}/called`, { ...typed, back: 'visit' }, SAME_SITE);
  expect(late.status).toBe(401);
  expect(late.text).toContain('What you typed is kept');
  const again = keptIn(late.text);
  expect(again).not.toContain('csrf');
  // A wrong password does not lose it either.
  const wrong = { name: 'operator', password: 'not this one, sorry', again };
  const refused = await maria.post('/login', wrong, SAME_SITE);
  expect(keptIn(refused.text)).toBe(again);
  const back = await maria.post(
    '/login',
    { name: 'operator', password: PASSWORD, again },
    SAME_SITE,
  );
  expect(back.status).toBe(200);
  expect(back.text).toContain('value="Pat &quot;P&quot; &lt;b&gt;"');
  expect(back.text).toContain('<option value="yes" selected>');
  // Nothing happens until the user sends it again.
  expect((await maria.get(una)).text).not.toContain('Entered by the office');
  const csrf = /name="csrf" value="([^"]+)"/.exec(back.text)?.[1] ?? '';
  const basis = { insurance: fieldOf(back.text, 'insurance'), codes: fieldOf(back.text, 'codes') };
  await maria.post(`${una}/called`, { ...typed, ...basis, csrf }, SAME_SITE);
  expect((await maria.get(una)).text).toContain('Saved.');

  // The note of an entry is kept, too, and another site's form is not.
  const note = { csrf: 'x', entry: '1', note: 'Left a message', constructor: 'x' };
  const stale = await maria.post(`${una}/done`, note, SAME_SITE);
  expect(stale.status).toBe(403);
  expect(stale.text).toContain('<dd>Left a message</dd>');
  ahead_ms += 31 * 60_000;
  const foreign = await maria.post(`${una}/done`, note, { 'sec-fetch-site': 'cross-site' });
  expect([foreign.status, keptIn(foreign.text)]).toEqual([401, '']);
});

test('only a form of the page comes back, and only to a user who may send it', LONG, async () => {
  const office = await startOffice({ config: CONFIG, fill: fillOffice });
  for (const again of ['https://evil.example/?a=b', '//evil.example', '/visit/1/../../x', '/']) {
    const answer = await office
      .browser()
      .post('/login', { name: 'operator', password: PASSWORD, again }, SAME_SITE);
    expect({ again, status: answer.status }).toEqual({ again, status: 303 });
    expect(answer.headers.get('location')).toBe('/');
  }
  const viewer = await office
    .browser()
    .post(
      '/login',
      { name: 'viewer', password: PASSWORD, again: '/visit/1/called?representative=Pat' },
      SAME_SITE,
    );
  expect(viewer.text).not.toContain('Ann Active');
});

test('an incomplete answer is shown again as typed', LONG, async () => {
  const office = await startOffice({ config: CONFIG, fill: fillOffice });
  const maria = await office.login('operator');
  const una = await pathOf(maria, 'Una Unanswered');
  const { text } = await maria.get(`${una}/called`);
  const basis = { insurance: fieldOf(text, 'insurance'), codes: fieldOf(text, 'codes') };
  const form = {
    csrf: fieldOf(text, 'csrf'),
    ...basis,
    is_active: '',
    representative: 'Pat at Delta',
  };
  const page = await maria.post(`${una}/called`, form);
  expect(page.text).toContain('first choose whether the plan is active');
  expect(page.text).toContain('value="Pat at Delta"');
});
